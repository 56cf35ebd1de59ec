"""Rings of words from the user: words that mean the same as a word of a topic, or nearly the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from archivebot.exceptions import UsageError
from archivebot.text.terms import terms
from archivebot.topic.wordlist import weighted


@dataclass(frozen=True, slots=True)
class Ring:
    """Words with the same meaning, and ``near`` words, each with its similarity to them (0..1)."""

    words: tuple[str, ...]
    near: Mapping[str, float] = field(default_factory=dict)

    def __str__(self) -> str:
        return "=".join([*self.words, *(f"{word}:{similarity:g}" for word, similarity in self.near.items())])


def read_rings(text: str) -> list[Ring]:
    """Return the rings of a list; raises UsageError if one has no two words, or a wrong similarity.

    >>> [str(ring) for ring in read_rings("ferry=boat=ship:0.7, line=route")]
    ['ferry=boat=ship:0.7', 'line=route']
    """
    rings = [_ring(part) for part in map(str.strip, text.split(",")) if part]
    return rings or [_ring(text)]


def _ring(part: str) -> Ring:
    found = dict(weighted(word) for word in map(str.strip, part.split("=")) if word)
    words = tuple(word for word, similarity in found.items() if similarity == 1.0)
    near = {word: similarity for word, similarity in found.items() if similarity != 1.0}
    if not words or len({tuple(terms(word)) for word in found} - {()}) < 2:
        raise UsageError(
            f"{part!r} needs words that mean the same: ferry=boat=ship, or nearly: ferry=ship:0.7"
        )
    if wrong := [word for word, similarity in near.items() if not 0.0 < similarity < 1.0]:
        raise UsageError(f"the similarity of {wrong[0]!r} is {near[wrong[0]]:g}: give a number from 0 to 1")
    return Ring(words, near)
