"""The learner moves the weights of what it followed towards what it found, in bounded memory."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.topic.learner import EQUAL, EXPLORE, FIRST, MOST_LINKS, NEWS, Learner
from archivebot.topic.linkmodel import LinkModel

GOOD, BAD = ("anchor:atlas", "role:main"), ("anchor:offer", "role:main")


def taught(learner: Learner, pages: int = 20) -> Learner:
    for number in range(pages):
        for name, terms, relevance in (("good", GOOD, 1.0), ("bad", BAD, 0.0)):
            url = f"http://a.example/{name}/{number}"
            expect(learner, url, terms)
            learner.fetched(url, relevance)
    return learner


def expect(learner: Learner, url: str, terms: tuple[str, ...], added: float = 0.0) -> float:
    return learner.expect(url, terms, 0.0, learner.model.log_odds(terms), added).rank


def test_words_that_led_to_the_topic_gain_and_others_lose() -> None:
    before = LinkModel()
    after = taught(Learner(before)).model
    assert after.log_odds(GOOD) > before.log_odds(GOOD)
    assert after.log_odds(GOOD) > after.log_odds(BAD)


def test_what_was_learnt_from_many_links_moves_less() -> None:
    def moved(links: int) -> float:
        model = LinkModel(links=links)
        return taught(Learner(model), 1).model.log_odds(GOOD) - model.log_odds(GOOD)

    assert moved(99 * EQUAL) == pytest.approx(moved(9 * EQUAL) / 10, rel=0.1)


def test_a_missing_page_is_worth_nothing_but_teaches_less_than_one_off_topic() -> None:
    def learnt(relevance: float | None, missing: bool) -> float:
        learner = Learner(LinkModel())
        expect(learner, "http://a.example/", GOOD)
        learner.fetched("http://a.example/", relevance, missing=missing)
        return learner.model.log_odds(GOOD)

    assert learnt(0.0, False) < learnt(None, True) < LinkModel().log_odds(GOOD)


def test_pages_that_cannot_be_judged_or_were_not_expected_teach_nothing() -> None:
    learner = Learner(LinkModel())
    expect(learner, "http://a.example/", GOOD)
    learner.fetched("http://a.example/", None)
    learner.fetched("http://b.example/", 1.0)
    assert not any(learner.model.weights.values())


def test_the_model_that_learning_starts_from_stays_as_it_was() -> None:
    model = LinkModel(0.0, {"anchor:atlas": 1.0})
    taught(Learner(model))
    assert model.weights == {"anchor:atlas": 1.0}


def test_several_links_to_a_url_count_by_their_mean_and_are_news() -> None:
    learner = Learner(LinkModel(0.0, {"anchor:atlas": 2.0}))
    expect(learner, "http://a.example/", GOOD, added=-1.0)
    assert learner.fetched("http://b.example/", 0.0) is None
    assert learner.news() == {}
    expect(learner, "http://a.example/", BAD, added=-5.0)
    assert learner.news() == {"http://a.example/": 0.0}  # (2 + 0) / 2 - 1
    assert learner.news() == {}


def test_every_so_often_all_that_waits_is_scored_anew() -> None:
    learner = Learner(LinkModel(), every=30)
    first = expect(learner, "http://b.example/good/new", GOOD)
    taught(learner, 15)
    news = learner.news()
    assert news.keys() == {"http://b.example/good/new"}
    assert news["http://b.example/good/new"] == pytest.approx(learner.model.log_odds(GOOD), abs=0.02)
    assert news["http://b.example/good/new"] > first


def test_a_fetched_url_is_no_news_however_many_links_lead_there() -> None:
    learner = Learner(LinkModel(), every=1)
    learner.fetched("http://a.example/", 1.0)
    expect(learner, "http://a.example/", GOOD)
    expect(learner, "http://a.example/", GOOD)
    assert learner.news() == {}


def test_links_to_a_host_that_brought_more_are_worth_more() -> None:
    learner = Learner(LinkModel(), by_host=True)
    for number in range(50):
        learner.fetched(f"http://bad.example/{number}", 0.0)
        learner.fetched(f"http://good.example/{number}", 1.0)
    bad, good, new = (expect(learner, f"http://{host}.example/next", GOOD) for host in ("bad", "good", "new"))
    assert bad < new < good


def test_a_link_model_that_was_learnt_needs_no_worth_of_hosts() -> None:
    learner = Learner(LinkModel())
    for number in range(50):
        learner.fetched(f"http://bad.example/{number}", 0.0)
    bad, new = (expect(learner, f"http://{host}.example/next", GOOD) for host in ("bad", "new"))
    assert bad == new


def test_pages_in_vain_are_paid_with_the_oldest_url_that_waits() -> None:
    learner = Learner(LinkModel(weights={"anchor:offer": -9.0}))
    old, later = "http://a.example/old", "http://a.example/later"
    expect(learner, old, BAD)
    expect(learner, later, GOOD)
    pages = round(1 / EXPLORE)
    for number in range(pages - 1):
        learner.fetched(f"http://b.example/{number}", 0.0)
    assert old not in learner.news()
    learner.fetched("http://b.example/last", 0.0)
    assert learner.news()[old] > FIRST / 2
    for number in range(pages):
        learner.fetched(f"http://c.example/{number}", 1.0)
    assert later not in learner.news()


@given(st.lists(st.integers(0, 60), max_size=200))
def test_memory_is_bounded_and_the_oldest_are_forgotten(numbers: list[int]) -> None:
    def remembered(numbers: list[int]) -> set[str]:
        learner = Learner(LinkModel(), most=10, every=1)
        for number in numbers:
            expect(learner, str(number), GOOD)
        learner.model.weights["anchor:atlas"] = 1.0
        return set(learner.news())

    assert len(remembered(numbers)) <= 10
    order = list(dict.fromkeys(numbers))
    assert remembered(order) == set(map(str, order[-10:]))


def test_small_moves_are_no_news() -> None:
    learner = Learner(LinkModel(0.0, {"anchor:atlas": NEWS}))
    expect(learner, "http://a.example/", GOOD)
    expect(learner, "http://a.example/", BAD)
    assert learner.news() == {}


def test_learning_goes_on_from_json() -> None:
    learner = taught(Learner(LinkModel()))
    again = Learner(LinkModel.from_dict(json.loads(json.dumps(learner.model.as_dict()))))
    assert again.model.log_odds(GOOD) == pytest.approx(learner.model.log_odds(GOOD), abs=1e-3)


def test_after_enough_links_one_more_changes_nothing() -> None:
    learner = Learner(LinkModel())
    for _ in range(MOST_LINKS):
        assert learner.settled("http://a.example/") is None
        expect(learner, "http://a.example/", GOOD)
    assert learner.settled("http://a.example/") is not None
    learner.fetched("http://b.example/", None)
    assert learner.settled("http://b.example/") is not None
