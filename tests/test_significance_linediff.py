"""Lines that two versions do not share: what is told, how much of it, and in what time."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st

from archivebot.significance.linediff import changed

LINES = st.lists(st.sampled_from("abcdefgh"), max_size=30)


@given(LINES, LINES)
def test_what_is_left_is_the_same_in_both(before: list[str], after: list[str]) -> None:
    removed, added = changed(before, after)
    assert [line for index, line in enumerate(before) if index not in removed] == [
        line for index, line in enumerate(after) if index not in added
    ]


@given(LINES)
def test_a_text_has_no_change_from_itself(lines: list[str]) -> None:
    assert changed(lines, lines) == ([], [])


def test_of_equal_lines_that_is_new_which_stands_in_the_new_place() -> None:
    before = ["Menu", "Privacy", "Text", "Privacy", "End"]
    after = ["Menu", "Privacy", "Text", "News", "Privacy", "Privacy", "End"]
    assert changed(before, after) == ([], [3, 4])


def test_a_paragraph_that_moved_is_found_and_the_rest_stays() -> None:
    before = ["one", "two", "three", "four"]
    assert changed(before, ["two", "three", "four", "one"]) == ([0], [3])


def test_of_lines_that_are_all_alike_only_the_number_tells() -> None:
    assert changed(["x"] * 3, ["x"] * 5) == ([], [3, 4])
    assert changed(["x"] * 5, ["x"] * 3) == ([3, 4], [])


def test_texts_of_few_wordings_do_not_take_quadratic_time() -> None:
    before = [str(index % 7) for index in range(40_000)]
    after = [str(index % 11) for index in range(40_000)]
    started = time.process_time()
    changed(before, after)
    assert time.process_time() - started < 3
