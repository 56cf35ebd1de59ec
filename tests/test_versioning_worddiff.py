"""The difference of two texts as people read it."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.versioning.worddiff import CONTEXT, MOST_TOKENS, word_diff


def old_of(marked: str) -> str:
    """Take the added words and the marks out."""
    return re.sub(r"\[-(.*?)-\]", r"\1", re.sub(r"\{\+.*?\+\}", "", marked, flags=re.DOTALL), flags=re.DOTALL)


def new_of(marked: str) -> str:
    """Take the removed words and the marks out."""
    return re.sub(r"\{\+(.*?)\+\}", r"\1", re.sub(r"\[-.*?-\]", "", marked, flags=re.DOTALL), flags=re.DOTALL)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("", "", ""),
        ("same words", "same words", "same words"),
        ("", "new", "{+new+}"),
        ("old", "", "[-old-]"),
        ("open on Monday", "open on Friday", "open on [-Monday-]{+Friday+}"),
        ("open on Monday", "closed on Monday", "[-open-]{+closed+} on Monday"),
        ("a b c d e", "a x c y e", "a [-b-]{+x+} c [-d-]{+y+} e"),
        ("Price: 10.50 EUR", "Price: 12.50 EUR", "Price: [-10-]{+12+}.50 EUR"),
        ("one two", "one new two", "one {+new +}two"),
        ("one\ntwo", "one\nzero\ntwo", "one\n{+zero\n+}two"),
        ("每天开放", "周日开放", "[-每天-]{+周日+}开放"),
        ("東京のNHK本社", "大阪のNHK本社", "[-東京-]{+大阪+}のNHK本社"),
        ("a", "a a", "a{+ a+}"),
    ],
)
def test_removed_and_added_words_are_marked_where_they_stand(before: str, after: str, expected: str) -> None:
    found = word_diff(before, after)
    assert (old_of(found), new_of(found)) == (before, after)
    assert found == expected


def test_words_written_anew_are_marked_as_one_piece() -> None:
    assert word_diff("one two three", "four five six") == "[-one two three-]{+four five six+}"


plain = st.lists(st.sampled_from(["word", "two", "42", "é", "中文", " ", "  ", "\n", ".", ","]), max_size=30)


@given(plain.map("".join), plain.map("".join))
def test_without_the_marks_both_texts_are_whole_where_nothing_is_left_out(before: str, after: str) -> None:
    marked = word_diff(before, after)
    assert " ... " not in marked or " ... " in before + after
    assert old_of(marked) == before
    assert new_of(marked) == after


@given(st.text(alphabet="ab \n", max_size=60))
def test_equal_texts_have_no_marks_however_long(text: str) -> None:
    assert word_diff(text * 9, text * 9) == text * 9


def test_unchanged_words_far_from_a_change_are_left_out() -> None:
    words = [f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz" * 4]
    before, after = " ".join(words), " ".join([*words[:52], "changed", *words[53:]])
    marked = word_diff(before, after)
    left, changed, right = re.split(r"(\[-worda-\]\{\+changed\+\})", marked)
    assert left.startswith(" ... ")
    assert right.endswith(" ... ")
    assert left.split() == ["...", *words[52 - CONTEXT : 52]]
    assert right.split() == [*words[53 : 53 + CONTEXT], "..."]
    assert changed


def test_unchanged_words_between_two_changes_are_left_out_in_the_middle() -> None:
    words = [f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz" * 4]
    before, after = " ".join(["old", *words, "old"]), " ".join(["new", *words, "new"])
    assert word_diff(before, after) == (
        f"[-old-]{{+new+}} {' '.join(words[:CONTEXT])} ...  {' '.join(words[-CONTEXT:])} [-old-]{{+new+}}"
    ).replace("...  ", "... ")


def test_one_word_of_a_very_long_text_is_marked_by_itself() -> None:
    words = [f"word {n}" for n in range(2 * MOST_TOKENS)]
    changed = [*words[:6000], "changed", *words[6000:]]
    marked = word_diff("\n".join(words), "\n".join(changed))
    assert re.findall(r"\{\+.*?\+\}|\[-.*?-\]", marked, re.DOTALL) == ["{+changed\n+}"]


def test_texts_of_too_many_words_are_compared_by_lines() -> None:
    lines = [f"first {n} words and more of them" for n in range(MOST_TOKENS // 4)]
    before, after = ["start", *lines, "end"], ["other start", *lines, "other end"]
    marked = word_diff("\n".join(before), "\n".join(after))
    assert marked.startswith("[-start\n-]{+other start\n+}first 0 words and more of them\n")
    assert marked.endswith("[-end-]{+other end+}")


def test_texts_of_too_many_lines_are_given_as_removed_and_added() -> None:
    before, after = ("\n".join(f"{mark} {n} b" for n in range(MOST_TOKENS + 1)) for mark in "xy")
    assert (
        word_diff(f"same\n{before}\nend", f"same\n{after}\nend") == f"same\n[-{before}\n-]{{+{after}\n+}}end"
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (" ".join(f"old{n}" for n in range(1900)), " ".join(f"new{n}" for n in range(1900))),
        (" ".join(map(str, range(1900))), " ".join(map(str, range(1900, 3800)))),
        ("a b " * 900, "b a " * 900 + "c"),
        ("x\ny\n" * 50_000, "y\nx\n" * 50_000 + "z"),
        ("x " * 100_000, "y" + "x " * 100_000),
        ("\n" * 100_000, " " * 100_000),
    ],
    ids=["other words", "other numbers", "two words", "two lines", "one word", "blanks"],
)
def test_long_texts_that_share_little_or_repeat_themselves_stay_quick(before: str, after: str) -> None:
    started = time.process_time()
    word_diff(before, after)
    assert time.process_time() - started < 10
