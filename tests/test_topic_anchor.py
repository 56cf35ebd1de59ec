"""The anchor window counts the terms of a topic near a link; generic anchors count nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.text.terms import terms
from archivebot.topic.anchor import GENERIC, WINDOW, is_generic, window_weight

TOPIC = frozenset(terms("archive library 课程"))


@pytest.mark.parametrize(
    ("anchor", "before", "after", "weight"),
    [
        ("Staff", "our", "of today", 1),
        ("The archive", "in the library", "and other archives", 4),
        ("Libraries", "", "", 2),
        ("必修课程", "", "课程表", 3),
        ("click here", "archive library", "archive", 0),
        ("", "archive", "", 2),
    ],
)
def test_the_weight_is_one_and_the_occurrences(anchor: str, before: str, after: str, weight: int) -> None:
    assert window_weight(anchor, before, after, TOPIC) == weight


def test_the_window_ends_after_fifty_characters_on_either_side() -> None:
    blank = " " * (WINDOW - len("archive"))
    assert window_weight("Staff", f"archive{blank}", f"{blank}archive", TOPIC) == 3
    assert window_weight("Staff", "archive" + " " * WINDOW, "", TOPIC) == 1
    assert window_weight("Staff", "", " " * WINDOW + "archive", TOPIC) == 1


@given(st.text(max_size=80), st.text(max_size=80), st.text(max_size=80))
def test_more_topic_around_a_link_never_weighs_less(anchor: str, before: str, after: str) -> None:
    plain = window_weight(anchor, before, "", TOPIC)
    assert window_weight(anchor, before, "archive", TOPIC) == (plain and plain + 1)
    assert window_weight(anchor, before, after, frozenset()) in (0, 1)


@pytest.mark.parametrize("anchor", sorted(GENERIC))
def test_generic_anchors_are_known_however_they_are_written(anchor: str) -> None:
    assert is_generic(f" {anchor.upper()} ... »")


@pytest.mark.parametrize("anchor", ["", " ", "Learn more about archives", "Here we are", "课程首页", "C++"])
def test_what_names_its_target_is_not_generic(anchor: str) -> None:
    assert not is_generic(anchor)
