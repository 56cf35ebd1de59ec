"""When words came to a page and when they went, from the lives of the blocks that have them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from enum import StrEnum
from itertools import filterfalse
from typing import NamedTuple


class WordChange(StrEnum):
    """What happened to words on a page."""

    ADDED = "added"
    REMOVED = "removed"


class Row(NamedTuple):
    """A life of a block that has the words, with the stints in which it began and ended.

    A stint has its place, its time in milliseconds and the number of its version. ``gone`` is None if the
    page still shows the block; ``gone_version`` is None if the page was gone then.
    """

    page: int
    lineage: int
    text: int
    born: int
    born_at: int
    born_version: int
    gone: int | None
    gone_at: int | None
    gone_version: int | None


class Event(NamedTuple):
    """Words were added to a page, or removed from it, with a block or with an edit of the block.

    ``time`` is in milliseconds, ``text`` the number of the text that has the words. ``version`` is the first
    version with or without them, None if the page itself was gone. Events are sorted by time.
    """

    time: int
    page: int
    lineage: int
    change: WordChange
    version: int | None
    text: int


class Presence(NamedTuple):
    """The time for which a page had words, from the ``first`` to the ``last`` of lives that follow on."""

    first: Row
    last: Row

    def overlaps(self, since: int, until: int) -> bool:
        """Return whether the page had the words at a moment between two times."""
        return self.first.born_at <= until and (self.last.gone_at is None or self.last.gone_at >= since)

    @property
    def added(self) -> Event:
        """Its begin."""
        row = self.first
        return Event(row.born_at, row.page, row.lineage, WordChange.ADDED, row.born_version, row.text)

    @property
    def removed(self) -> Event | None:
        """Its end; None if the page still has the words."""
        row = self.last
        if row.gone_at is None:
            return None
        return Event(row.gone_at, row.page, row.lineage, WordChange.REMOVED, row.gone_version, row.text)


def presences(rows: Sequence[Row]) -> list[Presence]:
    """Return for how long pages had words.

    If a block with the words ends in the same version in which another one with them begins, the words stay:
    the block was edited, or its words are in another block now. Blocks of one lineage follow on each other
    first.

    >>> edited = [Row(1, 7, 20, 0, 1000, 1, 1, 2000, 2), Row(1, 7, 21, 1, 2000, 2, 2, 3000, 3)]
    >>> [words] = presences(edited)
    >>> words.added.time, words.removed.time, words.removed.version
    (1000, 3000, 3)
    """
    born: dict[tuple[int, int], list[Row]] = defaultdict(list)
    gone: dict[tuple[int, int], list[Row]] = defaultdict(list)
    for row in rows:
        born[row.page, row.born].append(row)
        if row.gone is not None:
            gone[row.page, row.gone].append(row)
    following: dict[Row, Row] = {}
    for key in born.keys() & gone.keys():
        following.update(_pairs(gone[key], born[key]))
    continued = set(following.values())
    found = []
    for first in filterfalse(continued.__contains__, rows):
        last = first
        while last in following:
            last = following[last]
        found.append(Presence(first, last))
    return found


def _pairs(gone: list[Row], born: list[Row]) -> Iterator[tuple[Row, Row]]:
    """Yield each life that ends in a version with the life that begins there in its place."""
    heirs = {row.lineage: row for row in born}
    others = []
    for row in gone:
        if row.lineage in heirs:
            yield row, heirs.pop(row.lineage)
        else:
            others.append(row)
    yield from zip(others, heirs.values(), strict=False)
