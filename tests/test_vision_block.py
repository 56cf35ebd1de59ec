"""Rectangles, blocks and what stands beside them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.vision.block import SLACK, Box, VisionBlock, around, neighbours

SIDES = st.integers(0, 500)
BOXES = st.builds(lambda x, y, w, h: Box(x, y, x + w, y + h), SIDES, SIDES, SIDES, SIDES)


def block(left: float, top: float, right: float, bottom: float) -> VisionBlock:
    return VisionBlock(Box(left, top, right, bottom), 8, "div", "/div", "")


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


def test_neighbours_are_the_nearest_on_each_side_that_face_the_block() -> None:
    head, menu, text, aside, foot = (
        block(0, 0, 300, 20),
        block(0, 30, 90, 200),
        block(100, 30, 200, 200),
        block(210, 30, 300, 200),
        block(0, 210, 300, 220),
    )
    page = [head, menu, text, aside, foot]
    found = neighbours(text, page)
    assert (found.left, found.above, found.right, found.below) == (menu, head, aside, foot)
    found = neighbours(head, page)
    assert (found.left, found.above, found.right) == (None, None, None)
    assert found.below in (menu, text, aside)
    assert neighbours(aside, page).left is text


def test_a_block_that_does_not_face_another_is_no_neighbour() -> None:
    one, other = block(0, 0, 10, 10), block(20, 20, 30, 30)
    found = neighbours(one, [one, other])
    assert (found.left, found.above, found.right, found.below) == (None, None, None, None)
