"""Sketches: a few numbers per page, by which pages with the same blocks are found."""

from __future__ import annotations

import struct
from collections.abc import Iterable

# Numbers in a sketch. Two pages that share half of their blocks share none of 16 numbers with
# probability 0.5 ** 16; more would only rank likely bases more finely.
SIZE = 16

# Neighbours in urlkey order, on each side, among which a similar page of the same site is searched.
NEIGHBOURS = 8


def sketch(pieces: Iterable[int]) -> tuple[int, ...]:
    """Return the smallest ids of a page's blocks, cut to 32 bits (bottom-k: Broder, 1997).

    >>> sketch([7 << 32, 3 << 32, 3 << 32])
    (3, 7)
    """
    return tuple(sorted({piece >> 32 & 0xFFFFFFFF for piece in pieces})[:SIZE])


def shared(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Return the number of values that two sketches share.

    >>> shared((1, 2, 5), (2, 5, 9))
    2
    """
    return len(set(one) & set(other))


def encode(numbers: tuple[int, ...]) -> bytes:
    """Write a sketch as 4 bytes per number, big-endian.

    >>> encode((1, 258))
    b'\\x00\\x00\\x00\\x01\\x00\\x00\\x01\\x02'
    """
    return struct.pack(f">{len(numbers)}I", *numbers)


def decode(data: bytes) -> tuple[int, ...]:
    """Read a sketch written by :func:`encode`."""
    return struct.unpack(f">{len(data) // 4}I", data)
