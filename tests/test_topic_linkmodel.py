"""The link model learns what targets are and what they lead to, and explains what it says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.exceptions import UsageError
from archivebot.models import Link
from archivebot.topic.linkmodel import SOURCE, LinkModel, TrainingPage, train, worth
from archivebot.topic.linkterms import link_terms

SITE = "http://a.example"
TERMS = ("anchor:reef", "url:dive", "heading:reef", "title:shop", "anchor:price")
bags = st.lists(st.sampled_from(TERMS), unique=True)
chances = st.floats(0, 1)


def site(name: str = SITE) -> list[TrainingPage]:
    """A home page leads to a list of reefs and to shops; the list leads to the reefs."""
    reefs = [TrainingPage(f"{name}/reefs/{number}", "Reef", relevant=True) for number in range(6)]
    shops = [TrainingPage(f"{name}/shops/{number}", "Shop", relevant=False) for number in range(6)]
    atlas = TrainingPage(
        f"{name}/atlas", "Atlas", relevant=False, links=tuple(Link(page.url, "Coral") for page in reefs)
    )
    news = TrainingPage(f"{name}/news", "News", relevant=False)
    home = TrainingPage(
        f"{name}/",
        "Home",
        relevant=False,
        links=(
            Link(atlas.url, "Atlas"),
            Link(news.url, "News"),
            Link("http://far.example/", "Elsewhere"),
            *(Link(page.url, "Offer") for page in shops),
        ),
    )
    about = TrainingPage(f"{name}/about", "About", relevant=False, links=home.links)
    return [home, about, atlas, news, *reefs, *shops]


def value(model: LinkModel, link: Link) -> float:
    (terms,) = link_terms(f"{SITE}/x", "", [link])
    return model.log_odds(terms)


def test_links_to_the_topic_are_worth_more_than_others() -> None:
    model = train(site() + site("http://b.example"))
    assert model
    reef, shop = Link(f"{SITE}/new/1", "Coral"), Link(f"{SITE}/new/1", "Offer")
    assert value(model, reef) > value(model, shop)


def test_a_link_to_a_list_of_the_topic_is_worth_more_than_one_that_leads_nowhere() -> None:
    model = train(site() + site("http://b.example"))
    assert model
    assert value(model, Link(f"{SITE}/a", "Atlas")) > value(model, Link(f"{SITE}/a", "News"))


def test_targets_without_a_label_and_links_of_a_page_to_itself_say_nothing() -> None:
    model = train(site())
    assert model
    assert "anchor:elsewher" not in model.weights
    reef, shop = f"{SITE}/reef", f"{SITE}/shop"
    own = [
        TrainingPage(reef, "", relevant=True, links=(Link(reef, "Self"),)),
        TrainingPage(shop, "", relevant=False),
    ]
    assert train(own) is None


def test_what_stands_on_one_page_alone_is_not_learnt() -> None:
    model = train(site())
    assert model
    assert "anchor:atlas" in model.weights
    assert "anchor:coral" not in model.weights


def test_links_that_are_all_worth_the_same_give_no_model() -> None:
    assert train([]) is None
    pages = [TrainingPage(page.url, page.title, False, page.links) for page in site()]
    assert train(pages) is None


def test_training_is_scikit_learns_logistic_regression() -> None:
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    pages = [TrainingPage(f"{SITE}/{name}", "", name.startswith("r")) for name in ("r1", "r2", "s1", "s2")]
    lists = [
        TrainingPage(
            f"{SITE}/{number}",
            "",
            relevant=False,
            links=tuple(
                Link(page.url, anchor)
                for page, anchor in zip(pages, ("Coral", "Reef", "Shop", "Reef"), strict=True)
            ),
        )
        for number in range(3)
    ]
    model = train([*pages, *lists])
    assert model
    rows = [terms for page in lists for terms in link_terms(page.url, page.title, page.links)]
    # A page of the topic that leads nowhere is worth a half: half a success and half a failure.
    labels = [True, True, False, False] * 3
    weights = [0.5 if label else 0.0 for label in labels] + [0.5 if label else 1.0 for label in labels]
    x = DictVectorizer().fit([dict.fromkeys(row, 1.0) for row in rows])
    table = x.transform([dict.fromkeys(row, 1.0) for row in rows * 2])
    answers = [True] * len(rows) + [False] * len(rows)
    oracle = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(table, answers, sample_weight=weights)
    expected = dict(zip(x.feature_names_, oracle.coef_[0], strict=True))
    assert model.bias == pytest.approx(oracle.intercept_[0], abs=2e-2)
    assert {term: model.weights[term] for term in expected} == pytest.approx(expected, abs=2e-2)


@given(bags, chances)
def test_the_parts_add_up(terms: list[str], relevance: float) -> None:
    model = LinkModel.of_terms({"reef": 3.0, "dive": 2.0, "shop": -1.0})
    assert sum(model.parts(terms, relevance).values()) == pytest.approx(model.log_odds(terms, relevance))


def test_words_alone_make_a_model_in_which_the_anchor_tells_most() -> None:
    model = LinkModel.of_terms({"reef": 2.0, "shop": -1.0})
    anchor, before = model.log_odds(["anchor:reef"]), model.log_odds(["before:reef"])
    assert anchor > before > model.log_odds(["anchor:house"]) > model.log_odds(["anchor:shop"])
    assert model.log_odds([], relevance=1.0) > model.log_odds([], relevance=0.0)


def test_a_model_comes_back_from_json() -> None:
    model = train(site())
    assert model
    again = LinkModel.from_dict(json.loads(json.dumps(model.as_dict())))
    assert again.links == model.links
    reef = Link(f"{SITE}/a", "Atlas")
    assert value(again, reef) == pytest.approx(value(model, reef), abs=1e-2)
    assert SOURCE not in again.weights or again.weights[SOURCE]


def test_a_model_of_another_schema_is_refused() -> None:
    with pytest.raises(UsageError, match="train it again"):
        LinkModel.from_dict({"schema": 0, "bias": 0.0, "weights": {}, "links": 0})


@given(chances, chances, st.floats(0, 50), st.floats(0, 50))
def test_worth_rises_with_relevance_and_with_links_to_the_topic(
    first: float, second: float, few: float, many: float
) -> None:
    low, high = sorted((first, second))
    few, many = sorted((few, many))
    assert 0.0 <= worth(low, few) <= worth(high, many) <= 1.0
