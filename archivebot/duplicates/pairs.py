"""All near-duplicates among many texts, found by their fingerprints and judged by the rule."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from archivebot.duplicates.rule import BANDS, Likeness, judge
from archivebot.fingerprint.hamming import distance_to
from archivebot.fingerprint.join import self_join
from archivebot.fingerprint.simhash import NEAR
from archivebot.models import Fingerprint

# Each of several texts that are equal or share a key is compared with only this many of the next: all pairs
# of n texts would grow with the square of n. They still form one chain, and so one cluster.
WINDOW = 32

PART = 1 << 18  # fingerprints joined at once: 100 MB

Numbers = NDArray[np.intp]
Skip = Callable[[int, int], bool]


class Pair(NamedTuple):
    """Two similar texts, by their numbers, and their likeness; the first was added before the second."""

    first: int
    second: int
    likeness: Likeness


class Collection:
    """Texts by their fingerprints, of some 100 bytes each, numbered from 0 in the order of adding.

    ``read`` returns the text of a number; it is called only for candidates. Pairs for which ``skip`` is true
    are left out.

    >>> from archivebot.duplicates.rule import fingerprint
    >>> texts = ["To be or not to be", "That is the question", "To be, or not to be!"]
    >>> collection = Collection(texts.__getitem__)
    >>> [collection.add(fingerprint(text)) for text in texts]
    [0, 1, 2]
    >>> list(collection.pairs())
    [Pair(first=0, second=2, likeness=Likeness(distance=0, jaccard=1.0))]
    >>> list(collection.near(1)), list(Collection(str).pairs())
    ([], [])
    """

    def __init__(self, read: Callable[[int], str], skip: Skip = lambda one, other: False) -> None:
        self._read, self._skip = read, skip
        self._digests, self._words = array("q"), array("q")
        # The texts with a SimHash: number, SimHash and bands of MinHash values of each.
        self._numbers, self._simhashes, self._bands = array("q"), array("Q"), array("q")

    def __len__(self) -> int:
        return len(self._digests)

    def add(self, fingerprint: Fingerprint) -> int:
        """Add a text by its fingerprint and return its number."""
        number = len(self)
        self._digests.append(fingerprint.digest)
        self._words.append(fingerprint.words)
        if fingerprint.simhash is not None:
            self._numbers.append(number)
            self._simhashes.append(fingerprint.simhash)
            self._bands.extend(fingerprint.keys[-BANDS:])
        return number

    def pairs(self) -> Iterator[Pair]:
        """Yield all near-duplicate pairs in order; each of many equal texts only with the next 32."""
        simhashes, numbers = np.asarray(self._simhashes), np.asarray(self._numbers)
        worded = np.flatnonzero(self._words)
        equal = _equal(np.asarray(self._digests)[worded])
        found = [(worded[first], worded[second]) for first, second in equal]
        few = np.flatnonzero(_ranks(simhashes) < WINDOW)
        parts = [simhashes[few[start : start + PART]] for start in range(0, len(few), PART)]
        near = [(few[pairs.first], few[pairs.second]) for pairs in self_join(parts)]
        for column in (simhashes, *np.asarray(self._bands).reshape(-1, BANDS).T):
            near += _equal(column)
        found += [(numbers[first], numbers[second]) for first, second in near]
        yield from self._judged(_once(found, len(self)))

    def near(self, number: int) -> Iterator[Pair]:
        """Yield all pairs of one text with others, in order."""
        found = (np.asarray(self._digests) == self._digests[number]) & (np.asarray(self._words) > 0)
        if (place := self._place(number)) is not None:
            bands = np.asarray(self._bands).reshape(-1, BANDS)
            near = (bands == bands[place]).any(axis=1)
            near |= distance_to(self._simhashes[place], np.asarray(self._simhashes)) <= NEAR
            found[np.asarray(self._numbers)[near]] = True
        found[number] = False
        others = np.flatnonzero(found).tolist()
        yield from self._judged((min(number, other), max(number, other)) for other in others)

    def _judged(self, pairs: Iterable[tuple[int, int]]) -> Iterator[Pair]:
        for one, other in pairs:
            if self._skip(one, other):
                continue
            texts = partial(self._texts, one, other)
            likeness = judge(self._fingerprint(one), self._fingerprint(other), texts)
            if likeness:
                yield Pair(one, other, likeness)

    def _texts(self, one: int, other: int) -> tuple[str, str]:
        return self._read(one), self._read(other)

    def _fingerprint(self, number: int) -> Fingerprint:
        """Return the fingerprint of a text for the rule, without its keys."""
        place = self._place(number)
        simhash = None if place is None else self._simhashes[place]
        return Fingerprint(self._digests[number], simhash, (), self._words[number])

    def _place(self, number: int) -> int | None:
        """Return the index of a text among the texts with a SimHash."""
        place = bisect_left(self._numbers, number)
        return place if place < len(self._numbers) and self._numbers[place] == number else None


def _equal(values: NDArray[Any]) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield the indices of equal values, each with the index of the next equal ones in order.

    >>> [(one.tolist(), other.tolist()) for one, other in _equal(np.array([7, 5, 7, 7]))]
    [([0, 2], [2, 3]), ([0], [3])]
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    for step in range(1, WINDOW + 1):
        same = np.flatnonzero(ordered[step:] == ordered[:-step])
        if not len(same):
            return
        yield order[same], order[same + step]


def _ranks(values: NDArray[Any]) -> Numbers:
    """Return the number of equal values before each value.

    >>> _ranks(np.array([7, 5, 7, 7])).tolist(), _ranks(np.array([])).tolist()
    ([0, 0, 1, 2], [])
    """
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    ranks = np.zeros(len(values), np.intp)
    ranks[order] = np.arange(len(values)) - np.searchsorted(ordered, ordered)
    return ranks


def _once(found: Sequence[tuple[Numbers, Numbers]], count: int) -> Iterator[tuple[int, int]]:
    """Yield pairs of numbers below a count in order, each once, the lower number first."""
    codes = [np.minimum(one, other) * count + np.maximum(one, other) for one, other in found]
    for code in np.unique(np.concatenate([np.zeros(0, np.int64), *codes])).tolist():
        yield divmod(code, count)
