"""The bits of fingerprints: their distance, and the parts of which near ones share one."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from archivebot.fingerprint.features import Hashes
from archivebot.fingerprint.simhash import BITS

Runs = tuple[tuple[int, int], ...]


def bands(fingerprint: int) -> tuple[int, int, int, int]:
    """Return the four 16-bit parts of a fingerprint; two fingerprints within 3 bits share at least one.

    A database has an index of each part. The fingerprint may be signed.

    >>> bands(0x0001_0002_0003_0004), bands(-1)
    ((1, 2, 3, 4), (65535, 65535, 65535, 65535))
    """
    first, second, third, fourth = (fingerprint >> shift & 0xFFFF for shift in (48, 32, 16, 0))
    return first, second, third, fourth


def layout() -> list[tuple[int, ...]]:
    """Return the bits that must be equal in each of ten tables, 63 for the highest.

    Each table has two of five parts: whichever three bits of two fingerprints differ, all bits of some table
    are equal (Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling", 2007, section 3). Among a
    million fingerprints each has 0.3 neighbours in the groups of these tables, 61 in the groups of four
    tables of 16 bits.

    >>> len(layout()), sorted({len(bits) for bits in layout()})
    (10, [25, 26])
    """
    bits = tuple(reversed(range(BITS)))
    size, larger = divmod(BITS, 5)
    starts = [part * size + min(part, larger) for part in range(6)]
    parts = [bits[start:end] for start, end in pairwise(starts)]
    return [one + other for one, other in combinations(parts, 2)]


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


def distance_to(fingerprint: int, prints: Hashes) -> NDArray[np.uint8]:
    """Return the distance of one fingerprint to each of many.

    >>> distance_to(3, np.array([3, 1, 0], np.uint64)).tolist()
    [0, 1, 2]
    """
    distances: NDArray[np.uint8] = np.bitwise_count(prints ^ np.uint64(fingerprint))
    return distances


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
