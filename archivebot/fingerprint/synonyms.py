"""Synonyms: replaces words of one sense by one word."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from unicodedata import normalize

from archivebot.exceptions import UsageError
from archivebot.text import UNSPACED

_UNSPACED = re.compile(f"[{UNSPACED}]")


class Synonyms:
    """Replaces words by the base word of their sense.

    Each line is a sense: the base word, then its variants, separated by commas; # starts a comment. From left
    to right the longest variant at a position is replaced, and the search continues after it, so that
    replacements are not replaced again. A variant inside a longer word does not count, except in scripts
    without spaces. Texts and lines are compared in NFKC and without case, and the text is returned in that
    form. Raises :class:`~archivebot.exceptions.UsageError` for a variant of two senses.

    >>> shops = Synonyms(["supermarket, grocery, grocery store", "肯德基, KFC, 肯記"])
    >>> shops.replace("The Grocery Store beside the kfc")
    'the supermarket beside the 肯德基'
    >>> shops.replace("去肯記吃"), shops.replace("groceryman"), Synonyms([]).replace("Shop")
    ('去肯德基吃', 'groceryman', 'shop')
    """

    def __init__(self, lines: Iterable[str]) -> None:
        self._base: dict[str, str] = {}
        for line in lines:
            base, *variants = map(str.strip, _folded(line.partition("#")[0]).split(","))
            for variant in filter(None, variants):
                if self._base.setdefault(variant, base) != base:
                    raise UsageError(f"{variant!r} stands for {self._base[variant]!r} and for {base!r}")
        lengths: dict[str, set[int]] = {}
        for variant in self._base:
            lengths.setdefault(variant[0], set()).add(len(variant))
        self._lengths = {first: sorted(sizes, reverse=True) for first, sizes in lengths.items()}

    @property
    def version(self) -> str:
        """8 hex digits of the table."""
        lines = [f"{variant} {base}" for variant, base in sorted(self._base.items())]
        return sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()[:8]

    def replace(self, text: str) -> str:
        """Return a text with each variant replaced by its base word."""
        text = _folded(text)
        written, place = [], 0
        while place < len(text):
            end = self._longest(text, place)
            written.append(self._base[text[place:end]] if end else text[place])
            place = end or place + 1
        return "".join(written)

    def _longest(self, text: str, start: int) -> int:
        """Return the end of the longest variant at a position, or 0."""
        if start and _one_word(text[start - 1 : start + 1]):
            return 0
        for length in self._lengths.get(text[start], ()):
            end = start + length
            if text[start:end] in self._base and not _one_word(text[end - 1 : end + 1]):
                return end
        return 0


def _folded(text: str) -> str:
    return normalize("NFKC", text).casefold()


def _one_word(signs: str) -> bool:
    """Return whether two adjacent characters are letters of one word."""
    return len(signs) == 2 and signs.isalnum() and not _UNSPACED.search(signs)
