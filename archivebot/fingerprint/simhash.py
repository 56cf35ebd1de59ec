"""SimHash: 64 bits of a text; similar texts differ in few bits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from archivebot.fingerprint.features import Hashes, feature_hashes, shingle_hashes, word_hashes

BITS = 64
NEAR = 3  # bits: Manku, Jain, Das Sarma, "Detecting Near-Duplicates for Web Crawling", 2007

# Words in a shingle. Of 4,162 pairs of different pages of one site (the main elements of history-dev) single
# words put 130 within 3 bits and 857 within 10, pairs of words 25 and 35; those 25 share nine tenths of their
# text. Of 35 changed versions that keep 95 % of their words, single words find 94 %, pairs 89 %, triples 74
# %.
SHINGLE = 2

# Minimum of words of a text with a fingerprint: of texts of 32 words with one changed word, 11 % stay within
# 3 bits, of 16 words 2 %, of 128 words 62 %. Equal short texts are found by their digest.
MIN_WORDS = 32

FULL = 1 << 64


def simhash(features: Iterable[str] | Mapping[str, float]) -> int:
    """Return the SimHash of features; a mapping holds their weights, otherwise each weighs 1.

    Bit i is 1 if the features whose hash has bit i outweigh the others, and 0 on a tie (Charikar,
    "Similarity Estimation Techniques from Rounding Algorithms", 2002). The order does not matter.

    >>> from archivebot.fingerprint.features import feature_hash
    >>> simhash(["archive"]) == feature_hash("archive"), simhash([])
    (True, 0)
    >>> simhash(["to", "be", "to"]) == simhash({"be": 1, "to": 2}) == simhash(["to"])
    True
    """
    if not isinstance(features, Mapping):
        return _majority(feature_hashes(list(features)))
    weights = np.fromiter(features.values(), np.float64, len(features))
    signs = _bits(feature_hashes(list(features))).reshape(-1, BITS) * 2.0 - 1
    return _packed(weights @ signs > 0)


def text_simhashes(texts: Sequence[str]) -> list[int | None]:
    """Return the SimHash of the shingles of each text, or None for a text of too few words.

    >>> text_simhashes(["To be, or not to be"]), text_simhashes([])
    ([None], [])
    """
    return list(map(words_simhash, word_hashes(texts)))


def words_simhash(words: Hashes) -> int | None:
    """Return the SimHash of a text by the hashes of its words, in order, as :func:`text_simhashes` does.

    >>> [words] = word_hashes(["to be or not " * 8])
    >>> [words_simhash(words)] == text_simhashes(["to be or not " * 8]), words_simhash(words[:31]) is None
    (True, True)
    """
    return _majority(shingle_hashes(words, SHINGLE)) if len(words) >= MIN_WORDS else None


def distance(one: int, other: int) -> int:
    """Return the Hamming distance of two fingerprints, signed alike or both unsigned.

    >>> distance(0b1110, 0b0100), distance(-1, 0)
    (2, 64)
    """
    return ((one ^ other) & FULL - 1).bit_count()


def _majority(hashes: Hashes) -> int:
    """Return the bits that more than half of the hashes have."""
    # Eight bits at a time are counted in the eight bytes of a number, which holds up to 255.
    columns = _bits(hashes).view(np.uint64).reshape(-1, 8)
    counts = np.zeros(BITS, np.int64)
    for start in range(0, len(columns), 255):
        counts += np.add.reduce(columns[start : start + 255], axis=0).view(np.uint8)
    return _packed(counts * 2 > len(hashes))


def _bits(hashes: Hashes) -> NDArray[np.uint8]:
    """Return the bits of each hash, the highest first, one in each byte."""
    return np.unpackbits(hashes.astype(">u8").view(np.uint8))


def _packed(bits: NDArray[np.bool_]) -> int:
    return int.from_bytes(np.packbits(bits).tobytes(), "big")
