"""Semantic fingerprint: the few most important terms of a text, equal for two texts on one story."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import md5, sha256

from archivebot.fingerprint.synonyms import Synonyms
from archivebot.text.terms import terms

SEMANTIC_VERSION = "semantic-1"
TOP = 5  # terms
MAX_CHARS = 20_000  # of the body
NAME_WEIGHT = 2.0  # of a place or a proper name


@dataclass(frozen=True)
class TermRarity:
    """The number of documents in which each term occurs, and their total."""

    documents: int
    counts: Mapping[str, int] = field(repr=False)

    @classmethod
    def of(cls, texts: Iterable[str]) -> TermRarity:
        """Count the terms of texts.

        >>> TermRarity.of(["Two cats", "two dogs"]).counts
        {'two': 2, 'cat': 1, 'dog': 1}
        """
        found: list[list[str]] = [list(dict.fromkeys(terms(text))) for text in texts]
        return cls(len(found), dict(Counter(term for document in found for term in document)))

    def idf(self, term: str) -> float:
        """Return log((1 + documents) / (1 + documents with the term)) + 1, which is at least 1."""
        return math.log((1 + self.documents) / (1 + self.counts.get(term, 0))) + 1

    @cached_property
    def version(self) -> str:
        """8 hex digits of these counts: fingerprints with other counts are not comparable."""
        lines = [str(self.documents), *(f"{term} {count}" for term, count in sorted(self.counts.items()))]
        return sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:8]


@dataclass(frozen=True, slots=True)
class SemanticFingerprint:
    """The most important terms of a text, in alphabetical order; equal for texts on one story.

    Fingerprints of different versions are never equal.
    """

    version: str
    terms: tuple[str, ...]

    @property
    def digest(self) -> str:
        """32 hex digits to store and look up, different for different versions.

        >>> SemanticFingerprint("semantic-1", ("a", "b")).digest[:8]
        '8241ef80'
        """
        joined = " ".join([self.version, *self.terms]).encode("utf-8", "surrogatepass")
        return md5(joined, usedforsecurity=False).hexdigest()


def semantic_fingerprint(
    title: str,
    body: str,
    rarity: TermRarity,
    *,
    synonyms: Synonyms | None = None,
    names: Collection[str] = (),
) -> SemanticFingerprint | None:
    """Return the five terms of title and body with the greatest tf * idf, or None if there are fewer.

    Only the first 20,000 characters of the body count. Synonyms are replaced before; terms of ``names``
    (places and proper names) weigh twice. Among terms of equal weight the first in alphabetical order is
    taken. It is brittle: one different term changes the fingerprint.

    >>> rarity = TermRarity.of(["the cat sat", "a dog sat", "a bird sat"])
    >>> semantic_fingerprint("Cats", "a cat, a dog, a mouse, a bird, an owl", rarity).terms
    ('bird', 'cat', 'dog', 'mous', 'owl')
    >>> semantic_fingerprint("Cats", "only", rarity) is None
    True
    """
    text = f"{title}\n{body[:MAX_CHARS]}"
    counts = Counter(terms(synonyms.replace(text) if synonyms else text))
    if len(counts) < TOP:
        return None
    favoured = {term for name in names for term in terms(synonyms.replace(name) if synonyms else name)}

    def order(term: str) -> tuple[float, str]:
        weight = counts[term] * rarity.idf(term) * (NAME_WEIGHT if term in favoured else 1)
        return -weight, term

    chosen = tuple(sorted(sorted(counts, key=order)[:TOP]))
    tables = [rarity.version, *([synonyms.version] if synonyms else [])]
    return SemanticFingerprint(":".join([SEMANTIC_VERSION, *tables]), chosen)
