"""The decoded contents of a frame: the block table of a version, its notes, then its body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from archivebot.exceptions import CorruptObject
from archivebot.models import Label

# More digits than any number of blocks has; int() refuses 4300 and more digits with ValueError.
MOST_DIGITS = 20

# The letters of the labels in the table. They add 0.22 % to the frames of 356 first versions of real pages,
# and 0.09 % to 588 later ones; the names of the labels would add 0.41 % and 0.12 %.
LETTERS = {
    Label.MAIN: "m",
    Label.NAVIGATION: "n",
    Label.HEADER: "h",
    Label.FOOTER: "f",
    Label.FORM: "o",
    Label.LIST: "l",
    Label.TABLE: "t",
    Label.MEDIA: "p",
    Label.ADVERT: "a",
    Label.RELATED: "r",
    Label.COMMENT: "c",
}
LABELS = {letter: label for label, letter in LETTERS.items()}


@dataclass(frozen=True, slots=True)
class Slot:
    """The block with ``lineage``, at [start, end) of the body, cut at depth ``level``.

    ``label`` is None if it was not recorded. The topic of a block is not stored: it depends only on the bytes
    of the block, and topics were a seventh of the frames and dictionaries of five sites.
    """

    start: int
    end: int
    level: int
    lineage: int
    label: Label | None = None

    def is_all_of(self, body: bytes) -> bool:
        """Return whether the block is its whole body, except for white space at the end.

        Earlier versions of archivebot left that out of a body without markup.
        """
        return self.start == 0 and not body[self.end :].strip()


# The name of something that is kept with a version, and the thing as JSON on one line.
Note = tuple[str, str]


def pack(slots: Sequence[Slot], body: bytes, notes: Sequence[Note] = ()) -> bytes:
    """Return a block table, notes and a body as one string of bytes.

    The first line is the number of blocks, and after a tab the number of notes if there are any. A line per
    block follows, with tabs between its fields: the bytes between the block and the block before, its length,
    its level, its lineage (empty for the lineage of the block before plus 1), an empty field (in older frames
    the topic) and, if it is known, the letter of its label. A line per note follows: its name, a tab and its
    JSON. The rest is the body. Distances rather than offsets leave the lines of unchanged blocks unchanged.

    >>> pack([Slot(5, 9, 1, 1, Label.MAIN), Slot(12, 20, 2, 7)], b"<html>...")
    b'2\\n5\\t4\\t1\\t\\t\\tm\\n3\\t8\\t2\\t7\\t\\n<html>...'
    >>> pack([], b"<html>...", [("price", "12")])
    b'0\\t1\\nprice\\t12\\n<html>...'
    """
    lines = [f"{len(slots)}\t{len(notes)}\n" if notes else f"{len(slots)}\n"]
    position = before = 0
    for slot in slots:
        label = f"\t{LETTERS[slot.label]}" if slot.label else ""
        lineage = "" if slot.lineage == before + 1 else slot.lineage
        place = f"{slot.start - position}\t{slot.end - slot.start}\t{slot.level}"
        lines.append(f"{place}\t{lineage}\t{label}\n")
        position, before = slot.end, slot.lineage
    lines += [f"{name}\t{data}\n" for name, data in notes]
    return "".join(lines).encode() + body


def body_of(data: bytes) -> bytes:
    """Return the body from packed bytes; raises CorruptObject if there is no table before it.

    >>> body_of(b'1\\n0\\t4\\t1\\t\\t\\n<html>')
    b'<html>'
    """
    return data[_body_offset(data) :]


def _body_offset(data: bytes) -> int:
    end = data.find(b"\n")
    for _ in range(sum(_counts(data))):
        end = data.find(b"\n", end + 1)
        if end < 0:
            raise CorruptObject("the block table of a version ends early")
    return end + 1


def _counts(data: bytes) -> tuple[int, int]:
    """Return the numbers of blocks and notes."""
    end = data.find(b"\n")
    blocks, tab, notes = data[: max(end, 0)].partition(b"\t")
    if not 0 < end <= 2 * MOST_DIGITS or not blocks.isdigit() or not (notes.isdigit() if tab else True):
        raise CorruptObject("a version does not start with its block table")
    return int(blocks), int(notes or 0)


def _lines(data: bytes) -> list[str]:
    """Return the lines before the body, without the first."""
    return data[: _body_offset(data)].decode().split("\n")[1:-1]


def slots_of(data: bytes) -> tuple[Slot, ...]:
    """Return the block table from packed bytes; raises CorruptObject if there is none.

    >>> slots_of(pack([Slot(5, 9, 1, 1)], b""))
    (Slot(start=5, end=9, level=1, lineage=1, label=None),)
    """
    slots: list[Slot] = []
    position = before = 0
    try:
        for line in _lines(data)[: _counts(data)[0]]:
            gap, length, level, lineage, _, *letter = line.split("\t")
            start = position + int(gap)
            position = start + int(length)
            label = LABELS["".join(letter)] if letter else None
            before = int(lineage or before + 1)
            slots.append(Slot(start, position, int(level), before, label))
    except (ValueError, KeyError) as error:
        raise CorruptObject(f"the block table of a version cannot be read ({error})") from error
    return tuple(slots)


def notes_of(data: bytes) -> tuple[Note, ...]:
    """Return the notes from packed bytes; raises CorruptObject if they cannot be read.

    >>> notes_of(pack([Slot(5, 9, 1, 1)], b"", [("price", "12")])), notes_of(pack([], b""))
    ((('price', '12'),), ())
    """
    try:
        lines = (line.partition("\t") for line in _lines(data)[_counts(data)[0] :])
        return tuple((name, value) for name, _, value in lines)
    except UnicodeDecodeError as error:
        raise CorruptObject(f"the notes of a version cannot be read ({error})") from error
