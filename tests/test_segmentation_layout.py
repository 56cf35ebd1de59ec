"""A body taken apart and put together again, whatever its bytes and wherever the cuts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.models import Block
from archivebot.segmentation.layout import Layout, join, split


@st.composite
def cut_bodies(draw: st.DrawFn) -> tuple[bytes, list[Block]]:
    """Any bytes with any ordered disjoint ranges, empty and touching ones included."""
    body = draw(st.binary(max_size=200))
    edges = sorted(draw(st.lists(st.integers(0, len(body)), max_size=20)))
    pairs = zip(edges[::2], edges[1::2], strict=False)
    return body, [Block(start, end, draw(st.integers(1, 9))) for start, end in pairs]


@given(cut_bodies())
def test_any_partition_of_any_bytes_is_put_together_again(cut: tuple[bytes, list[Block]]) -> None:
    body, blocks = cut
    assert join(*split(body, blocks)) == body


@given(cut_bodies())
def test_the_pieces_are_the_ranges_and_the_glue_is_the_rest(cut: tuple[bytes, list[Block]]) -> None:
    body, blocks = cut
    layout, pieces = split(body, blocks)
    assert list(pieces) == [body[block.start : block.end] for block in blocks]
    assert len(layout.glue) == len(blocks) + 1
    assert sum(map(len, (*layout.glue, *pieces))) == len(body)


def test_a_body_without_blocks_is_all_layout() -> None:
    assert split(b"<p>x</p>", []) == (Layout((b"<p>x</p>",)), ())


def test_new_blocks_in_an_old_layout_give_a_new_body() -> None:
    layout, _ = split(b"<p>a</p> <p>b</p>", [Block(0, 8, 1), Block(9, 17, 1)])
    assert join(layout, [b"<p>c</p>", b""]) == b"<p>c</p> "


@pytest.mark.parametrize("blocks", [[], [b"a"], [b"a", b"b", b"c"]])
def test_another_number_of_blocks_than_the_layout_has_slots_is_refused(blocks: list[bytes]) -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"):
        join(Layout((b"<", b"|", b">")), blocks)


@given(cut_bodies(), cut_bodies())
def test_layouts_have_equal_digests_exactly_where_their_glue_is_equal(
    one: tuple[bytes, list[Block]], other: tuple[bytes, list[Block]]
) -> None:
    first, second = split(*one)[0], split(*other)[0]
    assert (first.digest() == second.digest()) is (first.glue == second.glue)


def test_the_place_of_a_slot_counts_in_the_digest() -> None:
    layouts = [
        Layout((b"ab", b"")),
        Layout((b"a", b"b")),
        Layout((b"", b"ab")),
        Layout((b"ab",)),
        Layout((b"1:a", b"")),
    ]
    assert len({layout.digest() for layout in layouts}) == len(layouts)


def test_the_digest_does_not_hang_on_the_blocks() -> None:
    block = [Block(1, 2, 1)]
    assert split(b"<a>", block)[0].digest() == split(b"<b>", block)[0].digest()
    assert len(split(b"<a>", block)[0].digest()) == 32
