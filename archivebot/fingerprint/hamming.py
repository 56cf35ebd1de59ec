"""The bits of fingerprints: their distance, and the parts of which near ones share one."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from archivebot.exceptions import UsageError
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
