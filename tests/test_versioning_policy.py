"""What a visit means for its page, and how the history of a page moves its level."""

from __future__ import annotations

from dataclasses import replace

import pytest

from archivebot.models import Kind, Outcome
from archivebot.versioning.policy import DEEPEST, WINDOW, Step, kind_of, next_level

TOGETHER = Step(level=3, blocks=10, new_blocks=9, length=9000, new_bytes=8000, stored_bytes=3000)
CORNER = Step(level=3, blocks=10, new_blocks=1, length=9000, new_bytes=4000, stored_bytes=60)
OTHER = Step(level=3, blocks=10, new_blocks=3, length=9000, new_bytes=900, stored_bytes=300)

SEEN_BEFORE = {
    Outcome.NOT_MODIFIED: Kind.REVISIT,
    Outcome.REDIRECT: Kind.REDIRECT,
    Outcome.NOT_FOUND: Kind.GONE,
    Outcome.GONE: Kind.GONE,
    Outcome.ROBOTS_DENIED: Kind.EXCLUDED,
    Outcome.EXCLUDED: Kind.EXCLUDED,
}


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.FETCHED])
@pytest.mark.parametrize("digest", [None, "same", "other"])
def test_what_is_no_content_has_the_kind_of_its_outcome_whatever_its_body(
    outcome: Outcome, digest: str | None
) -> None:
    assert kind_of(outcome, digest, "same") is SEEN_BEFORE.get(outcome, Kind.FAILED)


@pytest.mark.parametrize("outcome", [outcome for outcome in Outcome if outcome is not Outcome.FETCHED])
def test_a_page_never_seen_is_neither_unmodified_nor_gone_and_all_else_is_as_ever(outcome: Outcome) -> None:
    never = {
        Outcome.NOT_MODIFIED: Kind.FAILED,
        Outcome.NOT_FOUND: Kind.NOT_FOUND,
        Outcome.GONE: Kind.NOT_FOUND,
    }
    expected = SEEN_BEFORE | never
    assert kind_of(outcome, None, None) is expected.get(outcome, Kind.FAILED)


@pytest.mark.parametrize(
    ("digest", "latest", "kind"),
    [("a", None, Kind.NEW), ("a", "a", Kind.REVISIT), ("b", "a", Kind.CHANGED), (None, "a", Kind.CHANGED)],
)
def test_content_is_new_changed_or_a_revisit(digest: str | None, latest: str | None, kind: Kind) -> None:
    assert kind_of(Outcome.FETCHED, digest, latest) is kind


def test_without_changes_the_history_has_no_say() -> None:
    assert next_level([]) is None


@pytest.mark.parametrize("step", [TOGETHER, CORNER])
def test_a_short_history_keeps_the_level(step: Step) -> None:
    assert next_level([step]) is None
    for length in range(2, WINDOW):
        assert next_level([step] * length) == 3


def test_blocks_that_always_change_together_go_one_level_up() -> None:
    assert next_level([TOGETHER] * WINDOW) == 2


def test_large_blocks_that_change_in_a_corner_go_one_level_down() -> None:
    assert next_level([CORNER] * WINDOW) == 4


@pytest.mark.parametrize("step", [TOGETHER, CORNER])
@pytest.mark.parametrize("place", range(WINDOW))
def test_one_other_change_in_the_window_keeps_the_level(step: Step, place: int) -> None:
    steps = [step] * WINDOW
    steps[place] = OTHER
    assert next_level(steps) == 3


def test_only_the_latest_changes_count() -> None:
    assert next_level([OTHER, OTHER] + [TOGETHER] * WINDOW) == 2
    assert next_level([TOGETHER] * WINDOW + [OTHER]) == 3


@pytest.mark.parametrize("levels", [(2, 3), (3, 4), (3, 2)])
@pytest.mark.parametrize("step", [TOGETHER, CORNER])
def test_an_unstable_level_stays_where_it_is_until_it_was_seen_for_a_window(
    levels: tuple[int, int], step: Step
) -> None:
    before, now = (replace(step, level=level) for level in levels)
    for changes in range(1, WINDOW):
        assert next_level([before] * WINDOW + [now] * changes) == levels[1]
    assert next_level([before] * WINDOW + [now] * WINDOW) != levels[1]


def test_the_level_leaves_neither_end_of_its_range() -> None:
    assert next_level([replace(TOGETHER, level=1)] * WINDOW) == 1
    assert next_level([replace(CORNER, level=DEEPEST)] * WINDOW) == DEEPEST
    assert next_level([replace(CORNER, level=DEEPEST - 1)] * WINDOW) == DEEPEST


def test_a_page_of_one_block_has_nothing_to_merge() -> None:
    assert next_level([replace(TOGETHER, blocks=1, new_blocks=1)] * WINDOW) == 3


@pytest.mark.parametrize(
    "step",
    [
        replace(CORNER, new_blocks=3),
        replace(CORNER, new_blocks=0, new_bytes=0, stored_bytes=0),
        replace(CORNER, new_bytes=2000, stored_bytes=10),
        replace(CORNER, stored_bytes=80),
    ],
    ids=["several blocks", "no block", "a small block", "more than a corner"],
)
def test_what_is_no_corner_of_a_large_block_keeps_the_level(step: Step) -> None:
    assert next_level([step] * WINDOW) == 3


@pytest.mark.parametrize(("new_blocks", "level"), [(7, 3), (8, 2), (10, 2)])
def test_three_quarters_of_the_blocks_are_together(new_blocks: int, level: int) -> None:
    assert next_level([replace(TOGETHER, new_blocks=new_blocks)] * WINDOW) == level
