"""Runs: consecutive visits of a page as bytes, each stored as its differences from the visit before."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from archivebot.storage.wire import deflated, inflated, number_at, septets

# Maximum bytes of a run of several visits. With its page, time and checksum SQLite stores rows of at most 231
# bytes in the tree, whose nodes have 1 KB, and the rest of a longer row in pages of its own.
LONGEST = 200

# Number of runs that are remembered after they were read: to store one capture, the last run of its page is
# read seven times.
REMEMBERED = 64


class Visit(NamedTuple):
    """One capture of a page, by the numbers of its version and its shape.

    ``time`` is in milliseconds since 1970. ``place`` and the numbers of the exchange (``lag``,
    ``first_byte``, ``ended``, ``length``) are plus 1, and 0 means none. ``record`` is the UUID of its record,
    ``texts`` the texts of its exchange, ``wired`` 1 if it has an exchange. Texts are UTF-8.
    """

    time: int = 0
    shape: int = 0
    place: int = 0
    record: bytes | None = None
    texts: bytes | None = None
    lag: int = 0
    first_byte: int = 0
    ended: int = 0
    version: int = 0
    stored_bytes: int = 0
    new_blocks: int = 0
    links: int = 0
    length: int = 0
    wired: int = 0
    location: bytes | None = None
    reason: bytes | None = None
    headers: bytes | None = None


# The fields that hold bytes; all others are numbers. Each field after the time has a bit in the mask of a
# visit, in this order. A visit to an unchanged page differs in the first seven at most: one byte of mask.
BYTES = frozenset(map(Visit._fields.index, ("record", "texts", "location", "reason", "headers")))
NOTHING = Visit()

# Fields that are compared with nothing, because visits rarely share them; all others with the visit before.
OWN = ("record", "texts", "stored_bytes", "new_blocks")
OWN_FIELDS = [(Visit._fields.index(name), getattr(NOTHING, name)) for name in OWN]

# The dictionary of the exchanges of a shape.
Dictionary = Callable[[int], bytes]


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive visits of a page with the texts of their exchanges, and the bytes that are stored."""

    visits: tuple[Visit, ...]
    data: bytes

    def joined(self, visit: Visit, dictionary: Dictionary) -> Run:
        """Return the run with one more visit at its end."""
        before, known = _expected(self.visits), texts_of(self.visits)
        visits = (*self.visits, visit)
        packed = visit
        if visit.texts == known:
            packed = visit._replace(texts=None)
        elif visit.texts is not None:
            packed = visit._replace(texts=deflated(visit.texts, dictionary(visit.shape) + known))
        mask, values = 0, b""
        for bit, (value, expected) in enumerate(zip(packed[1:], before[1:], strict=True)):
            if value != expected:
                mask |= 1 << bit
                values += _field(value, expected)
        time = _signed(visit.time - before.time) if self.visits else b""  # the first one is a column
        return Run(visits, self.data + septets(mask) + time + values)


EMPTY = Run((), b"")


def runs(visits: Iterable[Visit], dictionary: Dictionary, longest: int = LONGEST) -> Iterator[Run]:
    """Divide the visits of a page, sorted by time, into runs; visits of one time are in one run.

    >>> visits = [Visit(time, shape=7, version=9) for time in range(0, 140, 7)]
    >>> packed = list(runs(visits, lambda shape: b"", 20))
    >>> [len(run.data) for run in packed], [visit for run in packed for visit in run.visits] == visits
    ([20, 20, 6], True)
    """
    run = EMPTY
    for visit in visits:
        longer = run.joined(visit, dictionary)
        if run.visits and len(longer.data) > longest and visit.time != run.visits[-1].time:
            yield run
            longer = EMPTY.joined(visit, dictionary)
        run = longer
    if run.visits:
        yield run


@lru_cache(maxsize=REMEMBERED)
def unpacked(time: int, data: bytes) -> tuple[Visit, ...]:
    """Read the visits of a run that begins at a time; their ``texts`` are compressed.

    >>> first = Visit(1000, 3, 12, b"x" * 16, version=5, stored_bytes=700, reason=b"late")
    >>> later = first._replace(time=2000, shape=4, place=9, stored_bytes=0, reason=None)
    >>> [run] = runs([first, later, Visit(3001)], lambda shape: b"")
    >>> unpacked(1000, run.data) == run.visits
    True
    """
    visits: list[Visit] = []
    fields: list[Any] = [time, *NOTHING[1:]]
    at = interval = 0
    while at < len(data):
        for index, nothing in OWN_FIELDS:
            fields[index] = nothing
        mask, at = number_at(data, at)
        if visits:
            change, at = _signed_at(data, at)
            interval += change
            fields[0] += interval
        for index in range(1, mask.bit_length() + 1):
            if not mask >> index - 1 & 1:
                continue
            if index in BYTES:
                size, at = number_at(data, at)
                fields[index] = data[at : at + size - 1] if size else None
                at += max(0, size - 1)
            else:
                change, at = _signed_at(data, at)
                fields[index] += change
        visits.append(Visit._make(fields))
    return tuple(visits)


def listed(time: int, data: bytes) -> str:
    """Return the visits of a run as JSON, each with its time, its version and its shape.

    >>> listed(1000, next(runs([Visit(1000, 3, version=5), Visit(1009, 4)], lambda shape: b"")).data)
    '[[1000, 5, 3], [1009, 0, 4]]'
    """
    return json.dumps([(visit.time, visit.version, visit.shape) for visit in unpacked(time, data)])


def opened(visits: Iterable[Visit], dictionary: Dictionary) -> Iterator[Visit]:
    """Yield the visits of a run with the texts of their exchanges decompressed."""
    known = b""
    for visit in visits:
        if visit.texts is not None:
            known, _ = inflated(visit.texts, dictionary(visit.shape) + known)
        yield visit._replace(texts=known) if visit.wired else visit


def alone(visit: Visit) -> Visit:
    """Return a visit without its headers and its exchange."""
    return visit._replace(record=None, texts=None, wired=0, headers=None)


def texts_of(visits: Sequence[Visit]) -> bytes:
    """Return the texts of the last exchange of visits, with which the next exchange is compressed."""
    return next((visit.texts for visit in reversed(visits) if visit.texts is not None), b"")


def _expected(visits: Sequence[Visit]) -> Visit:
    """Return the visit that would take no bytes after other visits: one more at the same interval."""
    if not visits:
        return NOTHING
    last = visits[-1]
    interval = last.time - visits[-2].time if len(visits) > 1 else 0
    return last._replace(time=last.time + interval, **{name: getattr(NOTHING, name) for name in OWN})


def _field(value: Any, expected: Any) -> bytes:
    """Return a field: a number as its difference, bytes after their length plus 1; 0 stands for None."""
    if isinstance(value, int):
        return _signed(value - expected)
    return b"\0" if value is None else septets(len(value) + 1) + value


def _signed(number: int) -> bytes:
    """Return a number of either sign: 0, -1, 1, -2 as 0, 1, 2, 3."""
    return septets(2 * number if number >= 0 else -2 * number - 1)


def _signed_at(data: bytes, at: int) -> tuple[int, int]:
    number, at = number_at(data, at)
    return (-(number + 1) // 2 if number & 1 else number // 2), at
