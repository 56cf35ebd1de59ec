"""Join of fingerprints: all near pairs, in and between the partitions of an archive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from archivebot.fingerprint.features import Hashes
from archivebot.fingerprint.hamming import layout, prefix
from archivebot.fingerprint.simhash import NEAR

STEP = 1 << 20  # comparisons made at once: 40 MB

Numbers = NDArray[np.int64]


class Pairs(NamedTuple):
    """Pairs of near fingerprints: the number of each and their distance in bits."""

    first: Numbers
    second: Numbers
    distance: NDArray[np.uint8]


def self_join(parts: Sequence[Hashes]) -> Iterator[Pairs]:
    """Yield all pairs within three bits among the fingerprints of all partitions, each pair once.

    They are numbered through all partitions; the first of a pair is the lower number. At most two partitions
    are needed at a time, so a sequence that loads them lazily works for an archive of any size. n equal
    fingerprints have n (n - 1) / 2 pairs: a caller with many of them should pass each once.

    >>> [pairs] = self_join([np.array([7, 2**40 - 1, 5], np.uint64)])
    >>> [numbers.tolist() for numbers in pairs]
    [[0], [2], [1]]
    """
    start = 0
    for place, part in enumerate(parts):
        before = 0
        for other in (parts[number] for number in range(place)):
            yield _numbered(cross_join(other, part), before, start)
            before += len(other)
        within = cross_join(part, part)
        once = within.first < within.second
        yield _numbered(_chosen(within, once), start, start)
        start += len(part)


def cross_join(one: Hashes, other: Hashes) -> Pairs:
    """Return all pairs within three bits between two sets of fingerprints, by their indices.

    The tables are built over the first set; the second is streamed (Manku, Jain, Das Sarma, "Detecting
    Near-Duplicates for Web Crawling", 2007, section 4).

    >>> [numbers.tolist() for numbers in cross_join(np.array([8, 0], np.uint64), np.array([1], np.uint64))]
    [[0, 1], [0, 0], [2, 1]]
    """
    empty = np.zeros(0, np.int64)
    found = [Pairs(empty, empty, np.zeros(0, np.uint8))]
    earlier: list[np.uint64] = []
    for bits in layout():
        for first, second in _candidates(prefix(one, bits), prefix(other, bits)):
            differ = one[first] ^ other[second]
            distance = np.bitwise_count(differ)
            keep = distance <= NEAR
            for mask in earlier:  # the pair was already found there
                keep &= differ & mask != 0
            found.append(_chosen(Pairs(first, second, distance), keep))
        earlier.append(np.uint64(sum(1 << bit for bit in bits)))
    first, second, distance = map(np.concatenate, zip(*found, strict=True))
    order = np.lexsort((second, first))
    return _chosen(Pairs(first, second, distance), order)


def _candidates(one: Hashes, other: Hashes) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield the indices of equal prefixes, in batches."""
    # Both are sorted: the search for sorted prefixes reads the memory once, in half the time.
    ones, others = np.argsort(one), np.argsort(other)
    starts, ends = (np.searchsorted(one[ones], other[others], side) for side in ("left", "right"))
    counts = ends - starts
    queries = np.flatnonzero(counts)
    totals = np.cumsum(counts[queries])
    done = 0
    while done < len(queries):
        base = int(totals[done - 1]) if done else 0
        until = max(int(np.searchsorted(totals, base + STEP, "right")), done + 1)
        some = queries[done:until]
        offsets = starts[some] - (totals[done:until] - counts[some] - base)
        first = np.arange(int(totals[until - 1]) - base) + np.repeat(offsets, counts[some])
        yield ones[first], np.repeat(others[some], counts[some])
        done = until


def _chosen(pairs: Pairs, which: NDArray[np.bool_] | Numbers) -> Pairs:
    return Pairs(pairs.first[which], pairs.second[which], pairs.distance[which])


def _numbered(pairs: Pairs, first: int, second: int) -> Pairs:
    return Pairs(pairs.first + first, pairs.second + second, pairs.distance)
