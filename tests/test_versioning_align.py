"""Which block of a new version continues which of the old one."""

from __future__ import annotations

import random
import time
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.models import Change
from archivebot.versioning.align import Match, align, dice, in_order

STORIES = [
    "The council met on Monday and decided to repair the old bridge over the river",
    "A ferry to the northern islands leaves the harbour twice a day in summer",
    "Tickets for the autumn concert of the city orchestra are sold at the door",
    "New opening hours of the library: from nine to six, closed on public holidays",
    "Volunteers planted three hundred oak trees along the road to the quarry",
]


def matched(before: list[str], after: list[str]) -> list[Match]:
    """Align blocks whose text is their content."""
    return align(before, after, before.__getitem__, after.__getitem__)


def changes(before: list[str], after: list[str]) -> list[tuple[int | None, int | None, str]]:
    """Return the matches that are not unchanged."""
    return [
        (match.before, match.after, match.change.value)
        for match in matched(before, after)
        if match.change is not Change.UNCHANGED
    ]


def edited(story: str, words: int = 1) -> str:
    return " ".join(["changed"] * words + story.split()[words:])


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([], [], []),
        ([], ["a", "b"], [(None, 0, "ADDED"), (None, 1, "ADDED")]),
        (["a", "b"], [], [(0, None, "REMOVED"), (1, None, "REMOVED")]),
    ],
)
def test_versions_without_blocks_have_only_additions_or_removals(
    before: list[str], after: list[str], expected: list[tuple[int | None, int | None, str]]
) -> None:
    assert changes(before, after) == expected


@pytest.mark.parametrize("place", range(len(STORIES) + 1))
def test_an_added_block_is_added_and_the_others_keep_their_identity(place: int) -> None:
    assert changes(STORIES, [*STORIES[:place], "Breaking news", *STORIES[place:]]) == [(None, place, "ADDED")]


@pytest.mark.parametrize("place", range(len(STORIES)))
def test_a_removed_block_is_removed(place: int) -> None:
    assert changes(STORIES, [*STORIES[:place], *STORIES[place + 1 :]]) == [(place, None, "REMOVED")]


@pytest.mark.parametrize("place", range(len(STORIES)))
def test_an_edited_block_is_modified(place: int) -> None:
    after = [*STORIES[:place], edited(STORIES[place]), *STORIES[place + 1 :]]
    assert changes(STORIES, after) == [(place, place, "MODIFIED")]


def test_a_block_that_changed_its_place_is_moved_and_nothing_else() -> None:
    assert changes(STORIES, [*STORIES[1:], STORIES[0]]) == [(0, 4, "MOVED")]
    assert changes(STORIES, [STORIES[4], *STORIES[:4]]) == [(4, 0, "MOVED")]


def test_a_reversed_list_is_moved_but_for_one_block() -> None:
    found = Counter(match.change for match in matched(STORIES, STORIES[::-1]))
    assert found == {Change.MOVED: 4, Change.UNCHANGED: 1}


def test_a_block_that_moved_and_was_edited_keeps_its_identity() -> None:
    after = [*STORIES[1:], edited(STORIES[0])]
    assert changes(STORIES, after) == [(0, 4, "MODIFIED")]


def test_a_block_of_the_same_words_in_other_bytes_is_modified_with_full_similarity() -> None:
    texts = ["one two three", "four five six"]
    (first, second) = align(["<p>1", "<p>2"], ["<p >1", "<p>2"], texts.__getitem__, texts.__getitem__)
    assert first == Match(0, 0, Change.MODIFIED, 1.0)
    assert second == Match(1, 1, Change.UNCHANGED, 1.0)


def test_bytes_come_before_words() -> None:
    texts = {"a": "same words here", "b": "same words here"}
    before, after = ["a", "b"], ["b"]
    found = align(before, after, lambda index: texts[before[index]], lambda index: texts[after[index]])
    assert [(match.before, match.after) for match in found] == [(1, 0), (0, None)]


def test_of_two_likely_blocks_the_one_more_alike_is_chosen() -> None:
    before = ["anchor one", "alpha beta gamma delta", "alpha beta gamma kappa lambda", "anchor two"]
    after = ["anchor one", "alpha beta gamma kappa sigma", "anchor two"]
    assert changes(before, after) == [(2, 1, "MODIFIED"), (1, None, "REMOVED")]


def test_half_of_the_words_is_enough_in_place_but_not_elsewhere() -> None:
    old, new = "a1 a2 a3 a4", "a1 a2 a3 zz"
    half = "a1 a2 yy zz"
    assert changes(["head", old, "tail"], ["head", half, "extra", "tail"]) == [
        (1, 1, "MODIFIED"),
        (None, 2, "ADDED"),
    ]
    assert changes([old, "head", "tail"], ["head", "tail", new]) == [(0, 2, "MODIFIED")]
    assert changes([old, "head", "tail"], ["head", "tail", half]) == [
        (None, 2, "ADDED"),
        (0, None, "REMOVED"),
    ]


def test_a_block_written_anew_between_the_same_neighbours_is_modified() -> None:
    (_, match, _) = matched(["head", "one two", "tail"], ["head", "three four", "tail"])
    assert match == Match(1, 1, Change.MODIFIED, 0.0)


def test_blocks_written_anew_in_another_number_are_added_and_removed() -> None:
    assert changes(["head", "one", "tail"], ["head", "two", "three", "tail"]) == [
        (None, 1, "ADDED"),
        (None, 2, "ADDED"),
        (1, None, "REMOVED"),
    ]


def test_a_picture_exchanged_between_the_same_neighbours_is_modified() -> None:
    before, after = ["head", "<img src=a>", "tail"], ["head", "<img src=b>", "tail"]
    texts = ["head", "", "tail"]
    found = align(before, after, texts.__getitem__, texts.__getitem__)
    assert found[1] == Match(1, 1, Change.MODIFIED, 1.0)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (["a", "a", "b"], ["a", "b"], [(1, None, "REMOVED")]),
        (["a", "b"], ["a", "a", "b"], [(None, 1, "ADDED")]),
        (["a", "b", "a"], ["a", "a"], [(1, None, "REMOVED")]),
        (["a", "a", "a"], ["a", "x", "a"], [(1, 1, "MODIFIED")]),
        (["a"] * 3, ["a"] * 5, [(None, 3, "ADDED"), (None, 4, "ADDED")]),
    ],
)
def test_equal_blocks_are_paired_in_order(
    before: list[str], after: list[str], expected: list[tuple[int | None, int | None, str]]
) -> None:
    assert changes(before, after) == expected


def test_other_headlines_in_the_same_places_are_other_blocks() -> None:
    before = ["menu", "Storm takes half of the nests", "more", "Council votes on the new ferry", "foot"]
    after = ["menu", "Ten birds seen last week", "more", "Library opens on Saturdays again", "foot"]
    assert {match.change for match in matched(before, after)} == {
        Change.UNCHANGED,
        Change.ADDED,
        Change.REMOVED,
    }


def test_a_label_and_the_only_text_that_was_rewritten_are_followed() -> None:
    assert changes(
        ["a", "in stock", "b", "old words here now", "c"], ["a", "sold out", "b", "x y z w", "c"]
    ) == [
        (1, 1, "MODIFIED"),
        (None, 3, "ADDED"),
        (3, None, "REMOVED"),
    ]
    assert changes(["a", "one two three four"], ["a", "five six seven eight"]) == [(1, 1, "MODIFIED")]


def test_texts_are_not_asked_for_where_no_block_needs_them() -> None:
    def unread(index: int) -> str:
        raise LookupError(index)

    assert len(align(["a", "b"], ["b", "a"], unread, unread)) == 2
    assert len(align(["a", "b"], ["a", "c", "b"], unread, unread)) == 3


def test_matches_come_in_the_order_of_the_new_version_with_removed_blocks_last() -> None:
    found = matched(["a", "x", "b", "y"], ["b", "new", "a"])
    assert [match.after for match in found] == [0, 1, 2, None, None]
    assert [match.before for match in found[3:]] == [1, 3]


@pytest.mark.parametrize("same", [0, 20], ids=["distinct words", "shared words"])
def test_hundreds_of_edited_and_shuffled_blocks_stay_quick(same: int) -> None:
    shared = " ".join(f"shared{n}" for n in range(same))
    before = [f"{shared} " + " ".join(f"w{n}x{k}" for k in range(20)) for n in range(600)]
    after = [edited(text) for text in before]
    random.Random(1).shuffle(after)
    started = time.process_time()
    found = matched(before, after)
    assert time.process_time() - started < 5
    kept = [match for match in found if match.change is Change.MODIFIED]
    assert sum(edited(before[match.before or 0]) == after[match.after or 0] for match in kept) > 590


def test_hundreds_of_equal_and_of_empty_blocks_stay_quick() -> None:
    started = time.process_time()
    matched(["x y"] * 1000 + ["old"] * 500, ["new"] * 700 + ["x y"] * 800)
    align(range(800), range(1000, 1800), lambda _: "", lambda _: "")
    assert time.process_time() - started < 5


words = st.sampled_from("alpha beta gamma delta epsilon zeta".split())
blocks = st.lists(st.lists(words, max_size=4).map(" ".join), max_size=12)


@given(blocks, blocks)
def test_every_block_of_both_versions_appears_in_exactly_one_match(
    before: list[str], after: list[str]
) -> None:
    found = matched(before, after)
    assert [match.after for match in found if match.after is not None] == list(range(len(after)))
    assert sorted(match.before for match in found if match.before is not None) == list(range(len(before)))


@given(blocks, blocks)
def test_changes_say_what_happened_to_the_bytes(before: list[str], after: list[str]) -> None:
    for match in matched(before, after):
        assert 0.0 <= match.similarity <= 1.0
        assert (match.before is None) == (match.change is Change.ADDED)
        assert (match.after is None) == (match.change is Change.REMOVED)
        if match.before is not None and match.after is not None:
            equal = before[match.before] == after[match.after]
            assert equal == (match.change in (Change.UNCHANGED, Change.MOVED))


@given(blocks, blocks)
def test_unchanged_blocks_keep_their_order(before: list[str], after: list[str]) -> None:
    places = [match.before for match in matched(before, after) if match.change is Change.UNCHANGED]
    assert places == sorted(place for place in places if place is not None)


@given(blocks, blocks)
def test_equal_blocks_are_never_left_over_on_both_sides(before: list[str], after: list[str]) -> None:
    found = matched(before, after)
    gone = {before[match.before] for match in found if match.before is not None and match.after is None}
    new = {after[match.after] for match in found if match.after is not None and match.before is None}
    assert not gone & new


@given(blocks)
def test_identical_versions_are_all_unchanged(same: list[str]) -> None:
    assert changes(same, list(same)) == []


@given(blocks, st.data())
def test_inserting_one_block_gives_exactly_one_addition(before: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(before)))
    after = [*before[:place], data.draw(st.lists(words, max_size=4).map(" ".join)), *before[place:]]
    assert [change for _, _, change in changes(before, after)] == ["ADDED"]


@pytest.mark.long
@given(st.lists(st.lists(words, min_size=10, max_size=30).map(" ".join), min_size=1, max_size=12), st.data())
def test_editing_one_word_of_a_long_block_gives_exactly_one_modification(
    before: list[str], data: st.DataObject
) -> None:
    place = data.draw(st.integers(0, len(before) - 1))
    after = [*before[:place], edited(before[place]), *before[place + 1 :]]
    assert changes(before, after) == [(place, place, "MODIFIED")]


@given(
    st.dictionaries(st.integers(0, 30), st.integers(0, 30), max_size=12).filter(
        lambda d: len({*d.values()}) == len(d)
    )
)
def test_the_run_in_order_is_increasing_and_cannot_be_longer(pairs: dict[int, int]) -> None:
    run = in_order(pairs)
    assert all(one[0] < other[0] and one[1] < other[1] for one, other in pairwise(run))
    assert set(run) <= set(pairs.items())
    best: dict[int, int] = {}
    for new in sorted(pairs):
        best[new] = 1 + max((best[other] for other in best if pairs[other] < pairs[new]), default=0)
    assert len(run) == max(best.values(), default=0)


@given(st.lists(words).map(Counter), st.lists(words).map(Counter))
def test_likeness_is_symmetric_and_full_only_for_the_same_words(
    one: Counter[str], other: Counter[str]
) -> None:
    assert dice(one, other) == dice(other, one)
    assert (dice(one, other) == 1.0) is (one == other)
