"""Sketches: which pages are made of the same blocks."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from archivebot.storage.sketch import SIZE, decode, encode, shared, sketch

PIECES = st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=100)


@given(PIECES)
def test_a_sketch_reads_back_as_it_was_written(pieces: list[int]) -> None:
    assert decode(encode(sketch(pieces))) == sketch(pieces)


@given(PIECES)
def test_a_sketch_does_not_depend_on_order_or_repeats(pieces: list[int]) -> None:
    assert sketch(pieces) == sketch([*reversed(pieces), *pieces])


@given(PIECES)
def test_a_sketch_is_short_sorted_and_without_repeats(pieces: list[int]) -> None:
    numbers = sketch(pieces)
    assert len(numbers) <= SIZE
    assert list(numbers) == sorted(set(numbers))
    assert all(0 <= number < 1 << 32 for number in numbers)


@given(PIECES, PIECES)
def test_what_two_sketches_share_is_symmetric_and_bounded(one: list[int], other: list[int]) -> None:
    first, second = sketch(one), sketch(other)
    assert shared(first, second) == shared(second, first) <= min(len(first), len(second))
    assert shared(first, first) == len(first)


def test_a_page_without_blocks_shares_nothing() -> None:
    assert sketch([]) == ()
    assert encode(()) == b""
    assert shared((), (1, 2)) == 0


def test_a_version_with_one_block_changed_shares_nearly_all() -> None:
    before = [number * 0x9E3779B97F4A7C15 % (1 << 63) for number in range(1, 60)]
    after = [*before[:30], 1234567, *before[31:]]
    assert shared(sketch(before), sketch(after)) >= SIZE - 1
