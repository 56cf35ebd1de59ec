"""Training: from words, from pages of the topic alone, and from labelled pages."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from archivebot.exceptions import UsageError
from archivebot.models import Link
from archivebot.topic.judge import CrawlJudge
from archivebot.topic.linkmodel import LinkModel
from archivebot.topic.profile import TopicProfile, save
from archivebot.topic.relevance import PageScorer
from archivebot.topic.rings import Ring
from archivebot.topic.training import (
    Example,
    cross_validated,
    evaluated,
    from_examples,
    from_words,
    profile_of,
    with_neighbours,
    with_synonyms,
    with_text,
)

PLACES = ("Bali", "Malta", "Egypt", "Belize", "Fiji", "Palau", "Bonaire", "Cuba")
GOODS = ("shoes", "lamps", "chairs", "phones", "tents", "books", "toys", "pens")
DIVING = [
    Example(
        f"http://{place}.example/", f"Diving in {place}", f"Dive the coral reef of {place} with our boat."
    )
    for place in PLACES
]
SHOPS = [
    Example(f"http://{good}.example/", f"Buy {good}", f"Our shop sells {good} at a low price.", False)
    for good in GOODS
]


def test_words_alone_accept_a_page_that_speaks_of_some_of_them() -> None:
    scorer = PageScorer(
        from_words("diving", dict.fromkeys(("reef", "diver", "wreck", "lagoon", "boat"), 1.0))
    )
    story = " ".join(f"harbour{number}" for number in range(300))
    assert scorer.score("", f"A reef and a reef, a diver and a wreck {story}").relevant
    assert scorer.score("The reef", story).relevant
    assert not scorer.score("", f"A garden {story}").relevant


def test_words_alone_ask_more_of_a_long_page() -> None:
    scorer = PageScorer(
        from_words("diving", dict.fromkeys(("reef", "diver", "wreck", "lagoon", "boat"), 1.0))
    )
    story = " ".join(f"harbour{number}" for number in range(10_000))
    short, long = (scorer.score("", f"A reef {text}") for text in ("of corals", story))
    assert short.relevant
    assert not long.relevant


def test_a_word_that_all_the_world_uses_tells_less() -> None:
    scorer = PageScorer(from_words("diving", {"reef": 1.0, "time": 1.0}))
    rare, common = (scorer.score("", f"{word} {word} and more").log_odds for word in ("reef", "time"))
    assert rare > common + 1.0


def test_a_phrase_is_one_thing() -> None:
    scorer = PageScorer(from_words("search", {"full text search": 1.0}))
    assert scorer.score("", "Of full text search").log_odds > scorer.score("", "Search a full text").log_odds


def test_a_word_with_a_weight_below_0_speaks_against_the_topic() -> None:
    scorer = PageScorer(from_words("diving", {"reef": 1.0, "casino": -1.0}))
    assert scorer.score("", "reef reef").log_odds > scorer.score("", "reef reef casino").log_odds


@pytest.mark.parametrize(
    ("words", "terms", "negative"),
    [
        ({"jaguar": 1.0, "jaguar car": -1.0}, {"jaguar": 1.0}, {"car": 1.0}),
        ({"jaguar car": -1.0, "jaguar": 1.0}, {"jaguar": 1.0}, {"car": 1.0}),
        ({"casino": -1.0, "casino night": 1.0}, {"night": 1.0}, {"casino": 1.0}),
        ({"old maps": 3.0, "harbour maps": 1.0}, {"old": 3.0, "map": 3.0, "harbour": 1.0}, {}),
    ],
)
def test_a_word_alone_has_its_own_weight_whatever_its_phrases_have(
    words: dict[str, float], terms: dict[str, float], negative: dict[str, float]
) -> None:
    profile = from_words("x", words)
    assert (profile.terms, profile.negative) == (terms, negative)


@pytest.mark.parametrize("words", [{}, {"the": 1.0}, {"reef": -1.0}])
def test_words_that_tell_nothing_make_no_topic(words: dict[str, float]) -> None:
    with pytest.raises(UsageError, match="words of a topic"):
        from_words("x", words)


def test_a_topic_is_a_profile_by_its_name_or_made_of_its_words(tmp_path: Path) -> None:
    save(from_words("reefs", {"coral": 3.0}), tmp_path)
    assert profile_of("reefs", tmp_path).terms == {"coral": 3.0}
    assert profile_of("reefs, boats", tmp_path).terms == {"reef": 1.0, "boat": 1.0}


def test_words_that_look_like_the_name_of_a_topic_are_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    save(from_words("harbour", {"coral": 3.0}), tmp_path)
    assert profile_of("harbor", tmp_path).terms == {"harbor": 1.0}
    assert "There is no topic 'harbor', so its words are the topic; did you mean harbour?" in caplog.text
    caplog.clear()
    assert profile_of("ferries", tmp_path).terms
    assert not caplog.text


@pytest.mark.parametrize("text", ["@harbour.json", "topics/harbour.json"])
def test_a_file_is_no_topic(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is a file: give the name of a topic, or words"):
        profile_of(text, tmp_path)


def test_pages_of_the_topic_alone_are_enough_to_begin_with() -> None:
    profile = from_examples("diving", DIVING)
    scorer = PageScorer(profile)
    assert profile.page_model is None
    assert scorer.score("Diving in Tonga", "A coral reef to dive, and a boat.").relevant
    assert not scorer.score("Tax law", "The tax office of the county.").relevant


def test_one_page_alone_is_a_topic_too() -> None:
    scorer = PageScorer(from_examples("diving", DIVING[:1]))
    same = scorer.score(DIVING[0].title, DIVING[0].text)
    assert same.relevant
    assert same.log_odds > scorer.score("Tax law", "The tax office.").log_odds


def test_labelled_pages_train_a_model_and_the_weights_of_the_parts() -> None:
    profile = from_examples("diving", DIVING + SHOPS)
    scorer = PageScorer(profile)
    assert profile.page_model is not None
    assert (profile.relevant, profile.other) == (8, 8)
    assert scorer.score("Diving in Tonga", "A coral reef.").relevant
    assert not scorer.score("Buy hats", "A shop with a low price.").relevant
    assert json.loads(json.dumps(profile.as_dict())) == profile.as_dict()
    assert TopicProfile.from_dict(profile.as_dict()) == profile


def test_a_few_other_pages_give_terms_against_the_topic() -> None:
    profile = from_examples("diving", DIVING + SHOPS[:2])
    assert "shop" in profile.negative
    assert profile.page_model is None


def test_chinese_pages_are_learnt_from_pairs_of_characters() -> None:
    about = [Example("", "潜水", f"我们在{place}的珊瑚礁潜水") for place in ("海南", "台湾", "日本")]
    scorer = PageScorer(from_examples("潜水", about))
    assert scorer.score("", "菲律宾的珊瑚礁适合潜水").relevant
    assert not scorer.score("", "股票市场今天下跌").relevant


def test_terms_of_examples_are_those_that_the_world_uses_less() -> None:
    pages = [Example("", "", f"We use the reef of {place} and we use the reef") for place in PLACES]
    profile = from_examples("reefs", pages)
    assert profile.terms["reef"] > 3 * profile.terms["use"]


def test_few_links_do_not_replace_what_the_terms_know() -> None:
    labelled = [
        replace(page, links=(Link(other.source, "Next"),))
        for page, other in zip(DIVING + SHOPS, SHOPS + DIVING, strict=True)
    ]
    model = LinkModel.from_dict(from_examples("diving", labelled).link_model or {})
    assert model.links == 16
    assert (
        model.log_odds(["anchor:reef"]) > model.log_odds(["anchor:castl"]) > model.log_odds(["anchor:shop"])
    )


def test_a_topic_is_evaluated_by_what_it_is_called() -> None:
    found = evaluated(from_examples("diving", DIVING[:4]), DIVING[4:] + SHOPS)
    assert (found.examples, found.relevant, found.auc) == (12, 4, 1.0)
    assert 0.0 < found.brier < 0.25
    assert evaluated(from_words("shops", {"shop": 1.0}), DIVING + SHOPS).auc == 0.0


def test_pages_without_text_teach_nothing() -> None:
    with pytest.raises(UsageError, match="no page of the topic"):
        from_examples("x", [Example("", "", " "), *SHOPS])


def test_words_are_added_to_a_learnt_topic_with_the_weight_of_its_best_term() -> None:
    profile = with_text(from_examples("diving", DIVING), "snorkel:2, -casino")
    assert profile.terms["snorkel"] == 2 * max(from_examples("diving", DIVING).terms.values())
    assert profile.negative["casino"] > 0


def test_an_added_word_counts_as_the_user_says_whatever_the_examples_say() -> None:
    learnt = from_examples("diving", [*DIVING, *SHOPS])
    assert "shop" in learnt.negative
    assert "reef" in learnt.terms
    profile = with_text(learnt, "shops, -reefs")
    assert profile.signed["shop"] == profile.similarity().of("shop") == 1.0
    assert profile.signed["reef"] == -1.0
    assert "reef" not in profile.terms
    assert "shop" not in profile.negative


def test_a_page_counts_the_same_by_a_word_and_by_its_synonym() -> None:
    plain = from_examples("diving", DIVING)
    scorer = PageScorer(with_synonyms(plain, [Ring(("reef", "atoll", "coral"))]))
    by_word, by_synonym = (scorer.score("", f"A {word} to dive.") for word in ("reef", "atoll"))
    assert by_synonym == by_word
    assert by_synonym.log_odds > PageScorer(plain).score("", "An atoll to dive.").log_odds


def test_a_synonym_of_a_word_of_the_topic_does_not_speak_against_it() -> None:
    profile = with_synonyms(from_words("ferries", {"ferry": 1.0, "ship": -1.0}), [Ring(("ferry", "ship"))])
    assert profile.negative == {}
    assert CrawlJudge(profile).judge("http://a.example/", "", "A ship and a ship").relevant


def test_rings_are_added_to_those_there_are_each_once() -> None:
    profile = with_synonyms(from_words("ferries", {"ferry": 1.0}), [Ring(("ferry", "boat"))])
    profile = with_synonyms(profile, [Ring(("boat", "ship")), Ring(("ferry", "boat"))])
    assert profile.synonyms == (("ferry", "boat"), ("boat", "ship"))
    assert profile.similarity().weight(["ship"]) == 1.0


def test_neighbours_are_learnt_from_the_pages_of_the_topic_alone() -> None:
    sails = [
        Example("", "", f"The {boat} sails to {place} at noon")
        for boat in ("ferry", "hydrofoil")
        for place in PLACES
    ]
    shops = [Example("", "", f"The ferry {good} sells at {good}", False) for good in GOODS]
    profile = with_neighbours(from_words("ferries", {"ferry": 1.0, "noon": -1.0}), sails + shops * 3)
    assert profile.similarity().of("hydrofoil") > 0.5
    assert profile.neighbours.keys().isdisjoint({"ferri", "noon", "shoe", "sell"})


def test_cross_validation_judges_each_example_by_a_model_of_the_others() -> None:
    found = cross_validated(DIVING + SHOPS)
    assert (found.examples, found.relevant) == (16, 8)
    assert found.auc == found.average_precision == 1.0
    assert found.f1 > 0.9


def test_examples_without_meaning_are_not_told_apart() -> None:
    same = [Example("", "", "A page of text.", label) for label in (True, False)] * 6
    assert cross_validated(same).auc == pytest.approx(0.5)


def test_cross_validation_needs_examples_of_both_kinds() -> None:
    with pytest.raises(UsageError, match="two relevant and two other"):
        cross_validated(DIVING)
