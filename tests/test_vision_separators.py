"""Separators are found between parts by projection, and weighed by what is on both sides."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.vision.block import Box
from archivebot.vision.node import Font, Node
from archivebot.vision.separators import Part, cuts, heaviest, scaled, weigh

PLACES = st.integers(0, 40)
BOXES = st.builds(lambda x, y, w, h: Box(x, y, x + w + 2, y + h + 2), PLACES, PLACES, PLACES, PLACES)


def part(box: Box, font: Font = Font(), background: str = "white", tag: str = "p") -> Part:  # noqa: B008 - frozen
    text = Node("", box, font=font, text="Some text", background=background)
    return Part.of([Node(tag, box, background=background, children=(text,))], 8)


def row(top: float, height: float = 10) -> Box:
    return Box(0, top, 100, top + height)


def test_separators_of_rows_lie_between_them_and_reach_from_edge_to_edge() -> None:
    parts = [part(row(50)), part(row(0)), part(Box(20, 20, 60, 30))]
    ordered, found = cuts(parts, [], vertical=False)
    assert [each.box.top for each in ordered] == [0, 20, 50]
    assert [cut.separator.box for cut in found] == [Box(0, 10, 100, 20), Box(0, 30, 100, 50)]
    assert not any(cut.separator.vertical or cut.separator.explicit for cut in found)
    assert cuts(parts, [], vertical=True)[1] == []


def test_separators_of_columns_lie_between_them() -> None:
    parts = [part(Box(0, 0, 30, 90)), part(Box(40, 0, 90, 50)), part(Box(40, 60, 90, 90))]
    _, found = cuts(parts, [], vertical=True)
    assert [(cut.at, cut.separator.box, cut.separator.vertical) for cut in found] == [
        (1, Box(30, 0, 40, 90), True)
    ]


@given(st.lists(BOXES, max_size=12), st.booleans())
def test_separators_cross_no_part_and_part_the_pool_in_order(boxes: list[Box], vertical: bool) -> None:
    ordered, found = cuts([part(box) for box in boxes], [], vertical)
    assert len(ordered) == len(boxes)
    for cut in found:
        assert not any(cut.separator.box.overlaps(each.box) for each in ordered)
        before, after = ordered[: cut.at], ordered[cut.at :]
        assert before
        assert after
        edge = max(each.box.right if vertical else each.box.bottom for each in before)
        assert min(each.box.left if vertical else each.box.top for each in after) >= edge - 1


def test_an_hr_makes_the_separator_it_lies_in_explicit_and_heavier() -> None:
    parts = [part(row(0)), part(row(40)), part(row(80))]
    _, (plain, _) = cuts(parts, [], vertical=False)
    _, (drawn, other) = cuts(parts, [Box(0, 20, 100, 22)], vertical=False)
    assert (plain.separator.explicit, drawn.separator.explicit, other.separator.explicit) == (
        False,
        True,
        False,
    )
    assert drawn.raw > plain.raw == other.raw
    _, (upright,) = cuts(
        [part(Box(0, 0, 30, 9)), part(Box(60, 0, 90, 9))], [Box(40, 0, 42, 9)], vertical=True
    )
    assert upright.separator.explicit


def test_a_line_across_does_not_part_columns() -> None:
    columns = [part(Box(0, 0, 30, 9)), part(Box(60, 0, 90, 9))]
    _, (found,) = cuts(columns, [Box(35, 2, 55, 4)], vertical=True)
    assert not found.separator.explicit


def test_a_wider_gap_another_colour_and_another_font_weigh_more() -> None:
    above, below = part(row(0)), part(row(20))
    near = weigh(above, below, 10, explicit=False, vertical=False)
    assert weigh(above, below, 30, explicit=False, vertical=False) > near
    assert weigh(above, part(row(20), background="red"), 10, explicit=False, vertical=False) > near
    heading = part(row(20), Font(30.0, 700))
    assert weigh(above, heading, 10, explicit=False, vertical=False) > near
    assert weigh(heading, above, 10, explicit=False, vertical=False) < weigh(
        above, heading, 10, explicit=False, vertical=False
    )


def test_beyond_a_width_a_gap_counts_no_more() -> None:
    above, below = part(row(0)), part(row(20))
    assert weigh(above, below, 100, explicit=False, vertical=True) == weigh(
        above, below, 1000, explicit=False, vertical=True
    )


def test_texts_that_look_the_same_are_parted_less() -> None:
    one = Part.of([Node("", row(0), text="One")], 10)
    two = Part.of([Node("", row(30), text="Two")], 10)
    paragraph = part(row(30))
    assert weigh(one, two, 30, explicit=False, vertical=False) < weigh(
        one, paragraph, 30, explicit=False, vertical=False
    )


@pytest.mark.parametrize(("raw", "weight"), [(8.0, 9), (4.0, 4), (0.5, 1), (99.0, 9)])
def test_weights_are_scaled_by_the_heaviest_of_the_page(raw: float, weight: int) -> None:
    _, (cut,) = cuts([part(row(0)), part(row(20))], [], vertical=False)
    assert scaled(replace(cut, raw=raw), 8.0).weight == weight


def test_of_two_directions_the_one_with_the_heaviest_separator_is_taken() -> None:
    _, rows = cuts([part(row(0)), part(row(20))], [], vertical=False)
    _, columns = cuts([part(Box(0, 0, 9, 9)), part(Box(90, 0, 99, 9))], [], vertical=True)
    assert heaviest(rows, columns) is columns
    assert heaviest(rows, rows[:0]) is rows
    assert heaviest([], []) == []
