"""The rule of near-duplicates: the fingerprint of a text, and the criterion for a near-duplicate."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from archivebot.fingerprint.digest import piece_id
from archivebot.fingerprint.features import Hashes, feature_hashes, shingle_hashes, word_hashes
from archivebot.fingerprint.hamming import bands
from archivebot.fingerprint.minhash import SHINGLE, jaccard
from archivebot.fingerprint.simhash import NEAR, distance, words_simhash
from archivebot.models import Fingerprint

# Stored with every mark; keys of two versions are not comparable. The version covers the fingerprint, its
# keys and the thresholds below.
RULE = "near-1"

# Minimum share of common runs of three words of two texts. Of 392 pairs of successive main texts of
# history-dev that keep nine tenths of their words 99 % share 0.7, 91 % share 0.8. Of 5,998 pairs of pages
# of one site none below 0.7 is a copy but one, an older edition (0.64); pages of one template with other
# content, such as lists of posts, share up to 0.53.
LEAST_JACCARD = 0.7
# This share is enough if the SimHashes are within 3 bits, too; SimHashes alone accept three pairs of such
# lists.
LEAST_CONFIRMED = 0.6
# In a short text the different words may be the whole content: stubs of one template share up to 0.72,
# steps of two instructions up to 0.83. One other word among 40 leaves 0.85; of 8 pairs of short versions
# that keep nine tenths of their words five are lost by it.
SHORT, LEAST_SHORT = 64, 0.85

# Pairs that cannot be so similar, so that no text is read: of 474 pairs that share 0.6 all but one are within
# 17 bits (the exception has 32 words), and the shorter text has at least 0.76 of the words of the longer. Of
# the other pairs of one site 3 % are left.
MOST_DISTANCE = 20
LEAST_LENGTH = 0.6

# Bands of MinHash values, and values in each: two texts of Jaccard coefficient J share a band with
# probability 1 - (1 - J^3)^10. That is 0.985 at 0.7, 0.999 at 0.8, 0.08 at 0.2 and 0.01 at 0.1.
BANDS, ROWS = 10, 3
STEP = 4096  # shingles processed at once: each needs 240 bytes

# Bits of the key of a band, which SQLite writes in 6 bytes. Two different bands among a billion may have the
# same key: texts found by a key are still judged.
KEY_BITS = 47


class Likeness(NamedTuple):
    """The likeness of two texts: the distance of their SimHashes in bits, and the Jaccard coefficient."""

    distance: int
    jaccard: float


def fingerprint(text: str) -> Fingerprint:
    """Return the fingerprint of a text.

    Its keys are the four 16-bit parts of its SimHash, each with its number, and ten hashes of three MinHash
    values each (Broder, "On the resemblance and containment of documents", 1997), which are negative:
    near-duplicates share a key with a probability above 0.98. A text that is too short for a SimHash is found
    by its digest; a text without words is not found.

    >>> short = fingerprint("To be, or not to be")
    >>> short == fingerprint("to be or NOT to be"), short.simhash, short.keys == (short.digest,), short.words
    (True, None, True, 6)
    >>> fingerprint("...").keys
    ()
    """
    [words] = word_hashes([text])
    digest = piece_id(words.astype("<u8").tobytes())
    simhash = words_simhash(words)
    if simhash is None:
        return Fingerprint(digest, None, (digest,) if len(words) else (), len(words))
    parts = (place << 16 | part for place, part in enumerate(bands(simhash)))
    return Fingerprint(digest, simhash, (*parts, *_minhash_keys(words)), len(words))


def judge(one: Fingerprint, other: Fingerprint, texts: Callable[[], tuple[str, str]]) -> Likeness | None:
    """Return the likeness of two texts, or None if they are not near-duplicates.

    They are near-duplicates if their words are the same, or they share 0.7 of their runs of three words, or
    0.6 and their SimHashes differ in at most 3 bits. Below 64 words the share must be 0.85, below 32 words 1.
    ``texts`` returns both texts; it is called only if the fingerprints do not decide.

    >>> short, other = fingerprint("To be, or not to be"), fingerprint("That is the question")
    >>> judge(short, short, lambda: ("", "")), judge(short, other, lambda: ("", ""))
    (Likeness(distance=0, jaccard=1.0), None)
    """
    if not (one.words and other.words):
        return None
    if one.digest == other.digest:
        return Likeness(0, 1.0)
    if one.simhash is None or other.simhash is None:
        return None
    apart = distance(one.simhash, other.simhash)
    shorter, longer = sorted((one.words, other.words))
    if apart > MOST_DISTANCE or shorter < LEAST_LENGTH * longer:
        return None
    least = LEAST_SHORT if shorter < SHORT else LEAST_CONFIRMED if apart <= NEAR else LEAST_JACCARD
    shared = jaccard(*texts())
    return Likeness(apart, shared) if shared >= least else None


def _minhash_keys(words: Hashes) -> list[int]:
    """Return the keys of the bands of MinHash values."""
    shingles = shingle_hashes(words, SHINGLE)
    minima = np.full(BANDS * ROWS, np.iinfo(np.uint64).max, np.uint64)
    for start in range(0, len(shingles), STEP):
        some = shingles[start : start + STEP, np.newaxis] * _multipliers()
        np.minimum(minima, some.min(axis=0), out=minima)
    hashes = shingle_hashes(minima, ROWS)[::ROWS] >> np.uint64(64 - KEY_BITS)
    return [~key for key in hashes.tolist()]


@cache
def _multipliers() -> Hashes:
    """Return the odd multipliers that permute the hashes."""
    return feature_hashes([f"order {number}" for number in range(BANDS * ROWS)]) | np.uint64(1)
