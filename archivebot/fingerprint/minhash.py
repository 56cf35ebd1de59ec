"""MinHash: finds texts that share part of their shingles, while SimHash requires nearly all."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from archivebot.exceptions import UsageError
from archivebot.fingerprint.features import shingle_hashes, word_hashes

if TYPE_CHECKING:
    from datasketch import MinHash

Signature: TypeAlias = "MinHash"

SHINGLE = 3  # words
PERMUTATIONS = 128  # the estimate of a Jaccard coefficient of 0.5 is off by 0.044 (standard deviation)
STEP = 10_000  # shingles processed at once: each needs 1 kB

# Bands and rows: a pair of Jaccard coefficient J becomes a candidate with probability 1 - (1 - J^4)^32.
# That is 0.56 at 0.4, 0.87 at 0.5, 0.999 at 0.67 and 0.05 at 0.2.
BANDS = (32, 4)
LEAST = 0.4


class Alike(NamedTuple):
    """A similar text, by its number, and the estimate of the Jaccard coefficient."""

    number: int
    jaccard: float


def jaccard(one: str, other: str) -> float:
    """Return the exact share of common shingles of two texts; 0 if both are empty.

    >>> jaccard("to be or not", "to be or what"), jaccard("", "")
    (0.3333333333333333, 0.0)
    """
    first, second = (shingle_hashes(words, SHINGLE) for words in word_hashes([one, other]))
    shared = len(np.intersect1d(first, second))
    return shared / max(len(np.union1d(first, second)), 1)


def minhash(text: str) -> Signature | None:
    """Return the signature of the shingles of a text, or None if it has no words.

    ``one.jaccard(other)`` estimates the Jaccard coefficient of two texts (Broder, "On the resemblance
    and containment of documents", 1997).

    >>> minhash(" ... ") is None, minhash("To be.").jaccard(minhash("to be"))
    (True, 1.0)
    """
    from datasketch import MinHash  # here: the import takes a second

    [words] = word_hashes([text])
    if not len(words):
        return None
    signature = MinHash(PERMUTATIONS, hashfunc=_low_half)
    shingles = np.unique(shingle_hashes(words, SHINGLE))
    for start in range(0, len(shingles), STEP):
        signature.update_batch(shingles[start : start + STEP].tolist())
    return signature


class MinHashIndex:
    """Signatures by number, in memory, and the search for similar ones.

    ``least`` is the minimum estimate of the Jaccard coefficient, from 0.4 to 1. One in eight pairs with a
    coefficient of 0.5 is missed.

    >>> index = MinHashIndex()
    >>> index.add(7, minhash("to be or not to be that is the question"))
    >>> [match.number for match in index.near(minhash("To be, or not to be, that is the QUESTION!"))]
    [7]
    """

    def __init__(self, least: float = LEAST) -> None:
        from datasketch import MinHashLSH

        if not LEAST <= least <= 1:
            raise UsageError(f"the bands find texts with a similarity of {LEAST} to 1, not {least}")
        self._least = least
        self._bands = MinHashLSH(num_perm=PERMUTATIONS, params=BANDS)
        self._signatures: dict[int, MinHash] = {}

    def add(self, number: int, signature: MinHash) -> None:
        """Add a signature; raises :class:`~archivebot.exceptions.UsageError` if the number is used."""
        if number in self._signatures:
            raise UsageError(f"there is a signature of {number} already")
        self._signatures[number] = signature
        self._bands.insert(number, signature, check_duplication=False)

    def near(self, signature: MinHash) -> list[Alike]:
        """Return the similar texts, the most similar first."""
        found = (
            Alike(number, self._signatures[number].jaccard(signature))
            for number in self._bands.query(signature)
        )
        return sorted((match for match in found if match.jaccard >= self._least), key=_descending)

    def pairs(self, most: int) -> Iterator[tuple[int, int, float]]:
        """Yield the pairs of similar texts, each once, the lower number first.

        Each text is paired with the ``most`` texts that are most similar to it.
        """
        yielded: set[tuple[int, int]] = set()
        for number, signature in self._signatures.items():
            others = (match for match in self.near(signature) if match.number != number)
            for match in islice(others, most):
                pair = min(number, match.number), max(number, match.number)
                if pair not in yielded:
                    yielded.add(pair)
                    yield *pair, match.jaccard


def _low_half(value: int) -> int:
    return value & 0xFFFFFFFF


def _descending(match: Alike) -> tuple[float, int]:
    return -match.jaccard, match.number
