"""An index that finds all fingerprints within three bits with few comparisons."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from archivebot.exceptions import UsageError
from archivebot.fingerprint.features import Hashes
from archivebot.fingerprint.simhash import BITS, NEAR

# Maximum of ungrouped fingerprints before they become a segment: all of them are compared, in 25 us.
WAITING = 4096
# A segment is merged with the previous one until that is this many times larger: ten million fingerprints
# added one by one are in six segments at most.
GROWTH = 4

Numbers = NDArray[np.uint32]
Runs = tuple[tuple[int, int], ...]


class Match(NamedTuple):
    """A near fingerprint: its number in the order of adding, and its distance in bits."""

    number: int
    distance: int


def bands(fingerprint: int) -> tuple[int, int, int, int]:
    """Return the four 16-bit parts of a fingerprint; two fingerprints within 3 bits share at least one.

    A database has an index of each part. The fingerprint may be signed.

    >>> bands(0x0001_0002_0003_0004), bands(-1)
    ((1, 2, 3, 4), (65535, 65535, 65535, 65535))
    """
    first, second, third, fourth = (fingerprint >> shift & 0xFFFF for shift in (48, 32, 16, 0))
    return first, second, third, fourth


def layout(tables: int) -> list[tuple[int, ...]]:
    """Return the bits that must be equal in each of 4, 10, 16 or 20 tables, 63 for the highest.

    Whichever three bits of two fingerprints differ, all bits of some table are equal (Manku, Jain, Das Sarma,
    "Detecting Near-Duplicates for Web Crawling", 2007, section 3). More tables cost memory but need fewer
    comparisons. Raises :class:`~archivebot.exceptions.UsageError` for another number.

    >>> [(tables, sorted({len(bits) for bits in layout(tables)})) for tables in (4, 10, 16, 20)]
    [(4, [16]), (10, [25, 26]), (16, [28]), (20, [31, 32, 33])]
    """
    bits = tuple(reversed(range(BITS)))
    if tables == 4:
        return _parts(bits, 4)
    if tables == 16:
        rests = [tuple(bit for bit in bits if bit not in part) for part in _parts(bits, 4)]
        return [
            part + rest
            for part, others in zip(_parts(bits, 4), rests, strict=True)
            for rest in _parts(others, 4)
        ]
    if tables in (10, 20):
        parts, equal = (5, 2) if tables == 10 else (6, 3)
        return [sum(chosen, ()) for chosen in combinations(_parts(bits, parts), equal)]
    raise UsageError(f"there is no layout of {tables} tables: it is 4, 10, 16 or 20")


def prefix(value: Any, bits: tuple[int, ...]) -> Any:
    """Return some bits as one number, of one fingerprint or of each in an array.

    >>> prefix(0b1011, (3, 1, 0)), prefix(np.array([8, 2], np.uint64), (3, 1)).tolist()
    (7, [2, 1])
    """
    (shift, width), *others = _runs(bits)
    together = value >> shift & (1 << width) - 1
    for shift, width in others:
        together = together << width | value >> shift & (1 << width) - 1
    return together


class HammingIndex:
    """Fingerprints in memory, numbered from 0 in the order of adding.

    ``tables`` is a :func:`layout`: each table groups all fingerprints by some of its bits, with about eight
    in a group, and a query is compared with one group of each table. Memory is 8 bytes per fingerprint and
    4.5 for each table. Four tables are enough up to ten million; beyond that, ten tables need fewer
    comparisons. Equal fingerprints are all compared and all returned: a caller with many of them should add
    each once.

    >>> index = HammingIndex([0, 7, 2**64 - 1])
    >>> index.near(1)
    [Match(number=0, distance=1), Match(number=1, distance=2)]
    >>> index.add(2**63), index.near(2**63, 0), HammingIndex().near(0)
    (3, [Match(number=3, distance=0)], [])
    """

    def __init__(self, fingerprints: Sequence[int] | Hashes = (), *, tables: int = 4) -> None:
        self._layout = layout(tables)
        self._segments: list[_Segment] = []
        self._waiting: Hashes = np.zeros(WAITING, np.uint64)
        self._count = 0  # number of ungrouped fingerprints
        self._settled = 0
        if len(fingerprints):
            self._settle(np.array(fingerprints, np.uint64))

    def __len__(self) -> int:
        return self._settled + self._count

    def add(self, fingerprint: int) -> int:
        """Add a fingerprint and return its number."""
        self._waiting[self._count] = fingerprint
        self._count += 1
        if self._count == WAITING:
            self._count = 0
            self._settle(self._waiting.copy())
        return len(self) - 1

    def near(self, fingerprint: int, k: int = NEAR) -> list[Match]:
        """Return all fingerprints within ``k`` bits, by their numbers, without omissions.

        Raises :class:`~archivebot.exceptions.UsageError` for more than 3 bits, which the tables do not cover.
        """
        if not 0 <= k <= NEAR:
            raise UsageError(f"the index finds fingerprints within 0 to {NEAR} bits, not within {k}")
        matches: list[Match] = []
        base = 0
        for segment in self._segments:
            matches += _within(segment.fingerprints, segment.candidates(fingerprint), fingerprint, k, base)
            base += len(segment)
        matches += _within(self._waiting, np.arange(self._count, dtype=np.uint32), fingerprint, k, base)
        return matches

    def compared(self, fingerprint: int) -> int:
        """Return the number of comparisons that a query makes."""
        return self._count + sum(len(segment.candidates(fingerprint)) for segment in self._segments)

    def _settle(self, fingerprints: Hashes) -> None:
        self._settled += len(fingerprints)
        while self._segments and len(self._segments[-1]) < GROWTH * len(fingerprints):
            fingerprints = np.concatenate([self._segments.pop().fingerprints, fingerprints])
        self._segments.append(_Segment(fingerprints, self._layout))


class _Segment:
    """Fingerprints grouped by the leading bits of each table."""

    def __init__(self, fingerprints: Hashes, tables: Sequence[tuple[int, ...]]) -> None:
        self.fingerprints = fingerprints
        most = max(len(fingerprints).bit_length() - 3, 1)  # groups of some eight
        self._tables = [(bits[:most], *_grouped(fingerprints, bits[:most])) for bits in tables]

    def __len__(self) -> int:
        return len(self.fingerprints)

    def candidates(self, fingerprint: int) -> Numbers:
        """Return the numbers of the fingerprints in the groups of a fingerprint, some of them twice."""
        groups = []
        for bits, borders, numbers in self._tables:
            group = prefix(fingerprint, bits)
            groups.append(numbers[borders[group] : borders[group + 1]])
        return np.concatenate(groups)


def _within(prints: Hashes, numbers: Numbers, fingerprint: int, k: int, base: int) -> Iterator[Match]:
    distances = distance_to(fingerprint, prints[numbers])
    hits = np.flatnonzero(distances <= k)
    found = dict(zip(numbers[hits].tolist(), distances[hits].tolist(), strict=True))
    return (Match(base + number, found[number]) for number in sorted(found))


def distance_to(fingerprint: int, prints: Hashes) -> NDArray[np.uint8]:
    """Return the distance of one fingerprint to each of many.

    >>> distance_to(3, np.array([3, 1, 0], np.uint64)).tolist()
    [0, 1, 2]
    """
    distances: NDArray[np.uint8] = np.bitwise_count(prints ^ np.uint64(fingerprint))
    return distances


def _parts(bits: tuple[int, ...], count: int) -> list[tuple[int, ...]]:
    """Split bits into parts of nearly the same size, the larger ones first."""
    size, larger = divmod(len(bits), count)
    starts = [part * size + min(part, larger) for part in range(count + 1)]
    return [bits[start:end] for start, end in pairwise(starts)]


@lru_cache(maxsize=64)
def _runs(bits: tuple[int, ...]) -> Runs:
    """Return bits as (lowest bit, width) of those that follow one another.

    >>> _runs((9, 8, 7, 3, 2))
    ((7, 3), (2, 2))
    """
    runs: list[tuple[int, int]] = []
    for bit in bits:
        if runs and runs[-1][0] == bit + 1:
            runs[-1] = bit, runs[-1][1] + 1
        else:
            runs.append((bit, 1))
    return tuple(runs)


def _grouped(fingerprints: Hashes, bits: tuple[int, ...]) -> tuple[Numbers, Numbers]:
    """Return the start of each group, and the numbers of all fingerprints by group."""
    # NumPy sorts numbers of 16 bits by radix, in a fifth of the time.
    groups = prefix(fingerprints, bits).astype(np.uint16 if len(bits) <= 16 else np.uint32)
    borders = np.zeros((1 << len(bits)) + 1, np.uint32)
    np.cumsum(np.bincount(groups, minlength=1 << len(bits)), out=borders[1:])
    return borders, np.argsort(groups, kind="stable").astype(np.uint32)
