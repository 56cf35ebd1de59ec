"""Pages that share less than near-duplicates: revised editions, stories repeated in part."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import pairwise

from archivebot.duplicates.rule import Likeness
from archivebot.duplicates.survey import KEPT, Match, Member
from archivebot.fingerprint.minhash import LEAST as LEAST_ESTIMATE
from archivebot.fingerprint.minhash import MinHashIndex, Signature, jaccard, minhash
from archivebot.fingerprint.simhash import MIN_WORDS, distance
from archivebot.models import Fingerprint

# Of 188 pairs of 1,116 main texts of wcxb-dev and history-dev that share half of their runs of three words
# 187 are found; the rule of near-duplicates finds 143 of them.
LEAST = 0.5

# The maximum error of an estimate: more than twice its standard deviation.
SLACK = 0.1

# The most similar pages that are kept for a page: the pairs of n pages of one template grow with n squared.
MOST = 32

EQUAL = Likeness(0, 1.0)


def signature(text: str, known: Fingerprint) -> Signature | None:
    """Return the MinHash signature of a text with this fingerprint, None if it has fewer than 32 words."""
    return minhash(text) if known.words >= MIN_WORDS else None


class LooseSurvey:
    """Pages by the MinHash signatures of their main texts, of some 10 kB each.

    ``read`` returns the main text of a URL; it is called again for candidates. Texts of fewer than 32 words
    match only if they are equal. Each of several equal texts is paired with the one before, and the first
    also with other texts.

    >>> from archivebot.duplicates.rule import fingerprint
    >>> pages = {"http://a.example/": "Tea", "http://b.example/": "tea", "http://c.example/": "Coffee"}
    >>> survey = LooseSurvey(pages.__getitem__, 0.5)
    >>> for url, text in pages.items():
    ...     known = fingerprint(text)
    ...     survey.add(url, known, signature(text, known))
    >>> [(match.a.url, match.b.url, match.likeness.jaccard) for match in survey.matches()]
    [('http://a.example/', 'http://b.example/', 1.0)]
    """

    def __init__(self, read: Callable[[str], str], least: float) -> None:
        self._read, self._least = lru_cache(KEPT)(read), least
        self._index = MinHashIndex(max(LEAST_ESTIMATE, least - SLACK))
        self._members: list[Member] = []
        self._known: list[Fingerprint] = []
        self._equal: dict[int, list[int]] = {}  # the pages of a text, by its digest

    def __len__(self) -> int:
        return len(self._members)

    def add(self, url: str, known: Fingerprint, signature: Signature | None) -> None:
        """Add a page by the fingerprint and the :func:`signature` of its main text."""
        number = len(self)
        self._members.append(Member(url, known.words))
        self._known.append(known)
        equal = self._equal.setdefault(known.digest, [])
        equal.append(number)
        if len(equal) == 1 and signature is not None:
            self._index.add(number, signature)

    def matches(self, url: str | None = None) -> Iterator[Match]:
        """Yield all pairs of similar pages, or those of one page, which is then the first of each pair.

        Otherwise the page that was added first is the first of a pair.
        """
        if url is None:
            for first, second, likeness in sorted(self._pairs()):
                yield Match(self._members[first], self._members[second], likeness)
            return
        for number in (number for number, member in enumerate(self._members) if member.url == url):
            for other, likeness in sorted(self._like(number)):
                yield Match(self._members[number], self._members[other], likeness)

    def _pairs(self) -> Iterator[tuple[int, int, Likeness]]:
        for numbers in self._equal.values():
            for one, other in pairwise(numbers if self._known[numbers[0]].words else ()):
                yield one, other, EQUAL
        for one, other, _ in self._index.pairs(MOST):
            if likeness := self._judged(one, other):
                yield one, other, likeness

    def _like(self, number: int) -> Iterator[tuple[int, Likeness]]:
        """Yield the pages similar to one page, equal pages first."""
        known = self._known[number]
        first, *_ = numbers = self._equal[known.digest]
        if known.words:
            yield from ((other, EQUAL) for other in numbers if other != number)
        if (signed := signature(self._text(number), known)) is not None:
            for match in self._index.near(signed)[: MOST + 1]:
                if match.number != first and (likeness := self._judged(number, match.number)):
                    yield match.number, likeness

    def _judged(self, one: int, other: int) -> Likeness | None:
        first, second = self._known[one].simhash, self._known[other].simhash
        shared = jaccard(self._text(one), self._text(other))
        if shared < self._least or first is None or second is None:
            return None
        return Likeness(distance(first, second), shared)

    def _text(self, number: int) -> str:
        return self._read(self._members[number].url)
