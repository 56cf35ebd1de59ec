"""Contents: a block table and a body as one piece of bytes."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from archivebot.exceptions import CorruptObject
from archivebot.models import Label
from archivebot.storage.content import Slot, body_of, pack, slots_of

NUMBERS = st.integers(0, 1 << 40)
LABELS = st.none() | st.sampled_from(Label)


@st.composite
def tables(draw: st.DrawFn) -> list[Slot]:
    """Any ordered slots without overlap."""
    slots: list[Slot] = []
    for gap, length, level, lineage, label in draw(
        st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS, LABELS), max_size=8)
    ):
        start = gap + (slots[-1].end if slots else 0)
        slots.append(Slot(start, start + length, level, lineage, label))
    return slots


@given(tables(), st.binary(max_size=200))
@example([], b"")
@example([], b"0\n1\n")
@example([Slot(0, 4, 1, 1)], b"1\n0\t4\t1\t1\tNews\n")
def test_any_slots_and_any_body_read_back(slots: list[Slot], body: bytes) -> None:
    packed = pack(slots, body)
    assert body_of(packed) == body
    assert slots_of(packed) == tuple(slots)


@given(st.binary(max_size=100) | st.builds(lambda slots, body: pack(slots, body)[1:], tables(), st.binary()))
def test_any_bytes_are_read_or_are_corrupt(data: bytes) -> None:
    for read in (body_of, slots_of):
        with suppress(CorruptObject):
            read(data)


@given(tables(), st.binary(max_size=50), st.data())
def test_packed_bytes_with_a_fault_are_read_or_are_corrupt(
    slots: list[Slot], body: bytes, data: st.DataObject
) -> None:
    packed = bytearray(pack(slots, body))
    packed[data.draw(st.integers(0, len(packed) - 1))] = data.draw(st.integers(0, 255))
    for read in (body_of, slots_of):
        with suppress(CorruptObject):
            read(bytes(packed))


@pytest.mark.parametrize(
    "data",
    [b"", b"\n", b"x\n", b"12", b"-1\n", b" 1\n", b"<html>\n", b"9" * 5000 + b"\n", "٣\n".encode()],
)
def test_bytes_that_do_not_start_with_a_number_of_blocks_are_corrupt(data: bytes) -> None:
    for read in (body_of, slots_of):
        with pytest.raises(CorruptObject, match="does not start with its block table"):
            read(data)


@pytest.mark.parametrize("data", [b"1\n", b"2\n0\t4\t1\t1\tNews\n", b"99999999999999999999\nbody"])
def test_a_table_that_ends_early_is_corrupt(data: bytes) -> None:
    for read in (body_of, slots_of):
        with pytest.raises(CorruptObject, match="ends early"):
            read(data)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"0\t4\t1\t1",
        b"0\t4\t1\t1\ta\tb",
        b"0\t4\t1\t1\ta\tm\tm",
        b"0\t4\t1\t1\ta\t",
        b"x\t4\t1\t1\ta",
        b"0\t4\t1.5\t1\ta",
        b"0\t4\t1\t1\t\xff",
    ],
)
def test_a_line_that_is_no_block_is_corrupt(line: bytes) -> None:
    with pytest.raises(CorruptObject, match="cannot be read"):
        slots_of(b"1\n" + line + b"\nbody")


def test_a_table_of_an_older_archive_has_topics_and_no_labels() -> None:
    assert slots_of(b"1\n0\t4\t1\t1\tNews\nbody") == (Slot(0, 4, 1, 1, None),)


def test_a_lineage_that_follows_the_one_before_is_left_out() -> None:
    slots = (Slot(0, 4, 1, 1), Slot(4, 6, 1, 2), Slot(6, 9, 1, 9), Slot(9, 12, 1, 10))
    lines = b"4\n0\t4\t1\t\t\n0\t2\t1\t\t\n0\t3\t1\t9\t\n0\t3\t1\t\t\n"
    assert pack(slots, b"") == lines
    assert slots_of(lines) == slots


def test_every_label_is_stored_as_one_letter_of_its_own() -> None:
    lines = {pack([Slot(0, 4, 1, 1, label)], b"") for label in Label}
    assert len(lines) == len(Label)
    assert {len(line) for line in lines} == {len(b"1\n0\t4\t1\t\t\tm\n")}


def test_the_lines_of_unchanged_blocks_stay_as_they_are() -> None:
    before = pack([Slot(5, 9, 1, 1), Slot(10, 20, 1, 2), Slot(21, 30, 1, 3)], b"")
    after = pack([Slot(5, 9, 1, 1), Slot(10, 50, 1, 2), Slot(51, 60, 1, 3)], b"")
    changed = [
        number
        for number, pair in enumerate(zip(before.splitlines(), after.splitlines(), strict=True))
        if pair[0] != pair[1]
    ]
    assert changed == [2]
