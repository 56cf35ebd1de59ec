"""The weight of an anchor counts the terms of a topic; generic anchors count nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.text.terms import terms
from archivebot.topic.anchor import GENERIC, anchor_weight, is_generic

TOPIC = frozenset(terms("archive library 课程"))


@pytest.mark.parametrize(
    ("anchor", "weight"),
    [("Staff", 1), ("The archive", 2), ("Libraries", 2), ("必修课程", 2), ("click here", 0), ("", 1)],
)
def test_the_weight_is_one_and_the_occurrences(anchor: str, weight: int) -> None:
    assert anchor_weight(anchor, TOPIC) == weight


@given(st.text(max_size=80))
def test_an_anchor_of_no_topic_weighs_one_or_nothing(anchor: str) -> None:
    assert anchor_weight(anchor, frozenset()) in (0, 1)


@pytest.mark.parametrize("anchor", sorted(GENERIC))
def test_generic_anchors_are_known_however_they_are_written(anchor: str) -> None:
    assert is_generic(f" {anchor.upper()} ... »")


@pytest.mark.parametrize("anchor", ["", " ", "Learn more about archives", "Here we are", "课程首页", "C++"])
def test_what_names_its_target_is_not_generic(anchor: str) -> None:
    assert not is_generic(anchor)
