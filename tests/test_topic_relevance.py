"""Relevance of a page: parts that add up, terms that explain, odds that do not saturate."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.topic.relevance import MOST_SHOWN, PageScorer, PageText
from archivebot.topic.training import from_examples, from_words
from tests.test_topic_training import DIVING, SHOPS

LEARNT = PageScorer(from_examples("diving", DIVING + SHOPS))
GIVEN = PageScorer(from_words("diving", {"coral": 1.0, "reef": 2.0, "casino": -1.0}))
texts = st.lists(st.sampled_from(["reef", "coral", "shop", "price", "boat", "casino", "the"]), max_size=30)


@given(texts, texts)
def test_the_parts_add_up_to_the_log_odds(title: list[str], body: list[str]) -> None:
    for scorer in (LEARNT, GIVEN):
        judged = scorer.score(" ".join(title), " ".join(body))
        assert sum(judged.parts.values()) == pytest.approx(judged.log_odds)
        assert 0.0 <= judged.value <= 1.0
        assert len(judged.terms) <= MOST_SHOWN


def test_a_hit_in_the_title_weighs_more_than_one_in_the_body() -> None:
    assert GIVEN.score("reef", "").log_odds > GIVEN.score("", "reef").log_odds


def test_a_page_is_relevant_from_the_threshold_on() -> None:
    page = PageText.of("", "reef")
    scorer = PageScorer(replace(from_words("diving", {"reef": 1.0}), threshold=0.7))
    assert scorer.of_parts({"bias": math.log(0.7 / 0.3) + 1e-9}, page).relevant
    assert not scorer.of_parts({"bias": math.log(0.7 / 0.3) - 1e-9}, page).relevant


def test_pages_full_of_the_topic_are_still_told_apart() -> None:
    one, more = (GIVEN.score("", "reef " * count).log_odds for count in (10_000, 20_000))
    assert one < more


def test_terms_name_what_spoke_for_and_against_the_page() -> None:
    terms = dict(GIVEN.score("", "Coral reef beside a casino").terms)
    assert terms == {"reef": 2.0, "coral": 1.0, "casino": -1.0}
    learnt = dict(LEARNT.score("", "coral shop").terms)
    assert learnt["coral"] > 0 > learnt["shop"]


def test_an_empty_page_is_off_topic_and_explained_by_nothing() -> None:
    for scorer in (LEARNT, GIVEN):
        judged = scorer.score("", "")
        assert not judged.relevant
        assert judged.terms == ()
