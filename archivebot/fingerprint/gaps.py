"""Sorted fingerprints as the gaps between them, for files of whole archives."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from archivebot.exceptions import CorruptObject
from archivebot.fingerprint.features import Hashes

FIRST = 8  # bytes of the first fingerprint
LONGEST = 10  # bytes of a gap of 64 bits
MORE = 0x80


def encode(fingerprints: Hashes) -> bytes:
    """Write fingerprints in ascending order; equal ones stay.

    The first fingerprint is 8 bytes, big-endian. Each other fingerprint is written as the gap to the previous
    one, in groups of 7 bits, the lowest first, with the high bit set in all but the last. A million random
    fingerprints take 6.8 bytes each; more fingerprints take less.

    >>> encode(np.array([300, 1], np.uint64)).hex()
    '0000000000000001ab02'
    >>> encode(np.zeros(0, np.uint64))
    b''
    """
    if not len(fingerprints):
        return b""
    ordered = np.sort(fingerprints)
    gaps = np.diff(ordered)
    sizes = np.ones(len(gaps), np.intp)
    for group in range(1, LONGEST):
        sizes += gaps >= np.uint64(1 << 7 * group)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    written = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
    for group in range(LONGEST):
        longer = np.flatnonzero(sizes > group)
        written[starts[longer] + group] = (gaps[longer] >> np.uint64(7 * group)) & np.uint64(0x7F) | np.where(
            sizes[longer] > group + 1, np.uint64(MORE), np.uint64(0)
        )
    return int(ordered[0]).to_bytes(FIRST, "big") + written.tobytes()


def decode(data: bytes) -> Hashes:
    """Read the fingerprints written by :func:`encode`, in ascending order.

    Raises :class:`~archivebot.exceptions.CorruptObject` if the bytes end inside a fingerprint, or a value has
    more than 64 bits.

    >>> decode(bytes.fromhex("0000000000000001ab02")).tolist(), decode(b"").tolist()
    ([1, 300], [])
    """
    if not data:
        return np.zeros(0, np.uint64)
    written = np.frombuffer(data, np.uint8)[FIRST:]
    if len(data) < FIRST or (len(written) and written[-1] & MORE):
        raise CorruptObject("the fingerprints end inside one of them: their file is cut")
    ends = np.flatnonzero(written < MORE)
    starts = np.concatenate([np.zeros(1, np.intp), ends + 1])
    gaps = np.zeros(len(ends), np.uint64)
    for group in range(_longest(starts)):
        places = starts[:-1] + group
        longer = np.flatnonzero(places <= ends)
        gaps[longer] |= (written[places[longer]] & np.uint64(0x7F)) << np.uint64(7 * group)
    first = np.array([int.from_bytes(data[:FIRST], "big")], np.uint64)
    fingerprints = np.cumsum(np.concatenate([first, gaps]))
    if (fingerprints[1:] < fingerprints[:-1]).any():
        raise CorruptObject("the gaps between fingerprints sum to more than 64 bits")
    return fingerprints


def _longest(starts: NDArray[np.intp]) -> int:
    longest = int(np.diff(starts).max(initial=0))
    if longest > LONGEST:
        raise CorruptObject(f"a gap of {longest} bytes between fingerprints: {LONGEST} are the most")
    return longest
