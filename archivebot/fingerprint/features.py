"""Features of texts: a well-mixed 64-bit hash of every word and shingle, many texts at once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from archivebot.text import LETTERS, RUN, compatible

Hashes = NDArray[np.uint64]
Places = NDArray[np.intp]
Codes = NDArray[np.uint8] | NDArray[np.uint32]

# The hash of a word is the sum of its code points times BASE^place, mod 2^64, mixed by the finaliser
# of MurmurHash3 (Appleby, 2011). Any odd base of full size does; this is 2^64 over the golden ratio.
BASE = 0x9E3779B97F4A7C15
INVERSE = pow(BASE, -1, 1 << 64)
MIX = (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53)
MASK = (1 << 64) - 1

# Texts are processed together up to this many characters: arrays of 8 bytes per character then fit in the
# cache. On the main texts of wcxb-dev 2^14 to 2^18 are alike, 2^20 takes 1.7 times as long.
CHUNK = 1 << 16
TABLE = 2 * CHUNK  # powers that are kept: 2 MB
SPACE = re.compile(r"\s")

# Upper limits of code points: ASCII, the basic plane, emoji, rare Chinese characters.
LIMITS = (0x80, 0x10000, 0x20000, 0x110000)

OTHER, LETTER, UNSPACED_SIGN, APOSTROPHE = range(4)


def feature_hash(feature: str) -> int:
    """Return the 64-bit hash of one feature; the hash of an empty feature is 0.

    >>> f"{feature_hash('archive'):016x}", feature_hash("")
    ('d1cb1de1b8958056', 0)
    """
    value = sum(ord(sign) * pow(BASE, place, 1 << 64) for place, sign in enumerate(feature)) & MASK
    for factor in MIX:
        value = (value ^ value >> 33) * factor & MASK
    return value ^ value >> 33


def feature_hashes(features: Sequence[str]) -> Hashes:
    """Return :func:`feature_hash` of each feature.

    >>> feature_hashes(["a", "", "ab"]).tolist() == [feature_hash("a"), 0, feature_hash("ab")]
    True
    """
    ends = np.cumsum(np.fromiter(map(len, features), np.intp, len(features)))
    starts = np.concatenate([np.zeros(1, np.intp), ends[:-1]]) if len(features) else ends
    return _hashes(_codes("".join(features)), starts, ends)


def word_hashes(texts: Sequence[str]) -> list[Hashes]:
    """Return the hashes of the words of each text, those of :func:`archivebot.text.words` in order.

    >>> [hashes.tolist() for hashes in word_hashes(["To be", ""])] == [
    ...     [feature_hash("to"), feature_hash("be")], []]
    True
    """
    found: list[Hashes] = []
    chunk: list[str] = []
    size = 0
    for text in texts:
        if chunk and size + len(text) > CHUNK:
            found += _chunk_hashes(chunk)
            chunk, size = [], 0
        if len(text) > CHUNK:
            found.append(np.concatenate([hashes for cut in _cuts(text) for hashes in _chunk_hashes([cut])]))
        else:
            chunk.append(text)
            size += len(text)
    return found + _chunk_hashes(chunk) if chunk else found


def _cuts(text: str) -> Iterator[str]:
    """Split a long text at white space, between words."""
    start = 0
    while space := SPACE.search(text, start + CHUNK):
        yield text[start : space.start()]
        start = space.start()
    yield text[start:]


def shingle_hashes(words: Hashes, size: int) -> Hashes:
    """Return a hash of every run of ``size`` words of a text, in order (Broder, 1997).

    A shorter text is one shingle.

    >>> to, be, or_ = feature_hashes(["to", "be", "or"])
    >>> [len(shingle_hashes(np.array([to, be, or_]), size)) for size in (1, 2, 3, 4)]
    [3, 2, 1, 1]
    """
    runs = max(len(words) - size + 1, min(len(words), 1))
    values = words[:runs].copy()
    for place in range(1, min(size, len(words))):
        values = values * np.uint64(BASE) + words[place : place + runs]
    return _mixed(values)


def _folded(text: str) -> str:
    return text.lower() if text.isascii() else compatible(text).casefold()


def _chunk_hashes(texts: list[str]) -> list[Hashes]:
    texts = list(map(_folded, texts))
    codes = _codes("\n".join(texts))
    starts, ends = _words(_kinds(_limit(codes))[codes])
    hashes = _hashes(codes, starts, ends)
    if len(texts) == 1:
        return [hashes]
    borders = np.cumsum([len(text) + 1 for text in texts])
    return np.split(hashes, np.searchsorted(starts, borders[:-1]))


def _codes(text: str) -> Codes:
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _words(kinds: NDArray[np.uint8]) -> tuple[Places, Places]:
    """Return the starts and ends of words: runs of letters, or bigrams of scripts without spaces."""
    inside = np.zeros(len(kinds) + 2, np.bool_)
    inside[1:-1] = kinds == LETTER
    marks = (kinds == APOSTROPHE).nonzero()[0] + 1
    inside[marks[inside[marks - 1] & inside[marks + 1]]] = True
    edges = (inside[1:] != inside[:-1]).nonzero()[0]
    starts, ends = edges[::2], edges[1::2]
    if not (unspaced := kinds == UNSPACED_SIGN).any():
        return starts, ends
    inside[1:-1] = unspaced
    sign, last = inside[1:-1], ~inside[2:]
    pairs = np.flatnonzero(sign & (~last | ~inside[:-2]))  # all but the last of a run, or its only one
    starts, ends = np.concatenate([starts, pairs]), np.concatenate([ends, pairs + 2 - last[pairs]])
    order = np.argsort(starts, kind="stable")
    return starts[order], ends[order]


def _hashes(codes: Codes, starts: Places, ends: Places) -> Hashes:
    """Return the hashes of the pieces of a text, by differences of prefix sums."""
    powers, inverses = _powers() if len(codes) < TABLE else _powers_up_to(len(codes))
    sums = np.zeros(len(codes) + 1, np.uint64)
    np.cumsum(codes * powers[: len(codes)], out=sums[1:])
    return _mixed((sums[ends] - sums[starts]) * inverses[starts])


def _mixed(values: Hashes) -> Hashes:
    """Mix the bits of every hash, in place."""
    for factor in MIX:
        values ^= values >> np.uint64(33)
        values *= np.uint64(factor)
    values ^= values >> np.uint64(33)
    return values


@lru_cache(maxsize=1)
def _powers() -> tuple[Hashes, Hashes]:
    return _powers_up_to(TABLE)


def _powers_up_to(most: int) -> tuple[Hashes, Hashes]:
    """Return the powers of the base and of its inverse, from 0."""
    powers = np.ones((2, most + 1), np.uint64)
    powers[0, 1:], powers[1, 1:] = BASE, INVERSE
    both = np.multiply.accumulate(powers, axis=1)
    return both[0], both[1]


def _limit(codes: Codes) -> int:
    """Return the number of code points that a table needs; a table of all takes 0.2 s to make."""
    most = 0 if codes.itemsize == 1 else codes.max()
    return next(limit for limit in LIMITS if most < limit)


@lru_cache(maxsize=len(LIMITS))
def _kinds(limit: int) -> NDArray[np.uint8]:
    """Return the kind of every code point, as the expressions of :mod:`archivebot.text` see it."""
    kinds = np.zeros(limit, np.uint8)
    signs = "".join(map(chr, range(limit)))
    for expression, kind in ((re.compile(LETTERS), LETTER), (RUN, UNSPACED_SIGN)):
        for match in expression.finditer(signs):
            kinds[match.start() : match.end()] = kind
    kinds[[ord(sign) for sign in "'’" if ord(sign) < limit]] = APOSTROPHE
    return kinds
