"""The difference between two versions, block by block."""

from __future__ import annotations

import pytest

from archivebot.models import BlockChange, Change
from archivebot.versioning.delta import PlacedText, compare


def block(lineage: str, text: str, topic: str = "", charset: str = "utf-8") -> PlacedText:
    return PlacedText(lineage, topic or text.partition(" ")[0], f"<p>{text}</p>".encode(charset), charset)


def told(before: list[PlacedText], after: list[PlacedText]) -> list[tuple[str, str]]:
    return [(change.change.value, change.lineage) for change in compare(before, after)]


def test_two_empty_versions_have_no_changes() -> None:
    assert compare([], []) == ()


def test_an_added_block_has_only_a_text_after() -> None:
    assert compare([], [block("1", "New words", "New")]) == (
        BlockChange(Change.ADDED, "1", "New", None, "New words", 0.0),
    )


def test_a_removed_block_has_only_a_text_before() -> None:
    assert compare([block("1", "Old words", "Old")], []) == (
        BlockChange(Change.REMOVED, "1", "Old", "Old words", None, 0.0),
    )


def test_a_modified_block_has_both_texts_the_new_topic_and_its_likeness() -> None:
    assert compare([block("1", "a b c", "Old")], [block("1", "a b d", "New")]) == (
        BlockChange(Change.MODIFIED, "1", "New", "a b c", "a b d", 0.6667),
    )


def test_equal_bytes_are_unchanged_in_order_and_moved_out_of_it() -> None:
    before = [block("1", "a"), block("2", "b"), block("3", "c")]
    assert told(before, before) == [("UNCHANGED", "1"), ("UNCHANGED", "2"), ("UNCHANGED", "3")]
    assert told(before, [before[2], *before[:2]]) == [("MOVED", "3"), ("UNCHANGED", "1"), ("UNCHANGED", "2")]


def test_a_block_that_moved_and_was_edited_is_modified() -> None:
    before = [block("1", "a x"), block("2", "b"), block("3", "c")]
    assert told(before, [*before[1:], block("1", "a y")])[-1] == ("MODIFIED", "1")


def test_changes_come_in_the_order_of_the_later_version_with_removed_blocks_last() -> None:
    before = [block("1", "a"), block("2", "b"), block("3", "c"), block("4", "d")]
    after = [block("5", "new"), before[3], block("2", "edited")]
    assert [lineage for _, lineage in told(before, after)] == ["5", "4", "2", "1", "3"]


def test_a_change_of_markup_only_is_told_apart() -> None:
    (change,) = compare([PlacedText("1", "", b"<p>a b</p>")], [PlacedText("1", "", b"<p class=x>a b</p>")])
    assert (change.change, change.before, change.after, change.similarity) == (
        Change.MARKUP,
        "a b",
        "a b",
        1.0,
    )


def test_each_side_is_read_in_its_own_charset() -> None:
    (change,) = compare([block("1", "日本", charset="shift_jis")], [block("1", "日本", charset="utf-8")])
    assert (change.change, change.before, change.after) == (Change.MARKUP, "日本", "日本")


def test_a_lineage_that_comes_back_is_the_block_it_was() -> None:
    assert told([block("1", "a")], [block("2", "x"), block("1", "a")]) == [("ADDED", "2"), ("UNCHANGED", "1")]


def test_blocks_cut_for_the_comparison_take_the_lineage_of_what_they_became() -> None:
    before = [block("", "menu"), block("", "one two three four"), block("", "gone for ever")]
    after = [block("7", "menu"), block("8", "one two three five")]
    *kept, removed = told(before, after)
    assert kept == [("UNCHANGED", "7"), ("MODIFIED", "8")]
    assert removed[0] == "REMOVED"


@pytest.mark.parametrize("lineage", ["", "9"])
def test_of_blocks_cut_for_the_comparison_those_removed_have_names_that_differ(lineage: str) -> None:
    before = [block("", "gone for ever"), block(lineage, "gone as well"), block("", "kept")]
    changes = compare(before, [block("1", "kept")])
    assert [change.change for change in changes] == [Change.UNCHANGED, Change.REMOVED, Change.REMOVED]
    assert len({change.lineage for change in changes}) == 3
