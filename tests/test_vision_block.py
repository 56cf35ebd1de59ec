"""Rectangles: their sizes, and which overlap."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.vision.block import SLACK, Box, around

SIDES = st.integers(0, 500)
BOXES = st.builds(lambda x, y, w, h: Box(x, y, x + w, y + h), SIDES, SIDES, SIDES, SIDES)


@given(BOXES)
def test_width_and_height_are_the_differences_of_the_edges(box: Box) -> None:
    assert (box.width, box.height) == (box.right - box.left, box.bottom - box.top)
    assert box.area == box.width * box.height
    assert box.holds(box)


@given(st.lists(BOXES, min_size=1))
def test_the_rectangle_around_some_holds_each_and_is_none_larger(boxes: list[Box]) -> None:
    whole = around(boxes)
    assert all(whole.holds(box) for box in boxes)
    assert whole.left in [box.left for box in boxes]
    assert whole.bottom in [box.bottom for box in boxes]


@given(BOXES, BOXES)
def test_overlap_is_the_same_from_both_sides(one: Box, other: Box) -> None:
    assert one.overlaps(other) == other.overlaps(one)


def test_rectangles_that_touch_or_overlap_by_a_fraction_stand_side_by_side() -> None:
    assert not Box(0, 0, 10, 10).overlaps(Box(10, 0, 20, 10))
    assert not Box(0, 0, 10, 10).overlaps(Box(10 - SLACK / 2, 0, 20, 10))
    assert Box(0, 0, 10, 10).overlaps(Box(8, 0, 20, 10))
    assert not Box(0, 0, 10, 10).overlaps(Box(5, 20, 8, 30))


def test_no_rectangle_is_around_nothing() -> None:
    with pytest.raises(ValueError, match="unpack"):
        around([])
