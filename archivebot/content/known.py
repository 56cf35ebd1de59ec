"""The features of lines besides their measures: the names of the elements around them, and words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from archivebot.content.lines import REMEMBERED, Line, Place
from archivebot.content.surroundings import Around

Numbers = NDArray[np.int64]
Matrix = NDArray[np.float64]

# The names of all elements around a line, those of the nearest two, the words of a short line, those of the
# heading above it, and those of the lines with which the elements around it open.
TABLES = ("names", "near", "words", "above", "opened")

# Maximum of words in a line whose words are features: they identify a button or a caption, not a paragraph.
MOST_WORDS = 12
_WORDS = re.compile(r"[^\W\d_]+")
_ASCII_WORDS = re.compile("[a-z]+")  # finds the same words in lower-case ASCII, and is faster
_MOST_CHARACTERS = 150

# Maximum of words read from the first line of an element, its heading.
MOST_OPENING = 6

_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))


@lru_cache(maxsize=REMEMBERED)
def line_words(text: str) -> frozenset[str]:
    """Return the words of a short line; a long one has none.

    >>> sorted(line_words("Add to Cart (2)"))
    ['add', 'cart', 'to']
    """
    if len(text) > _MOST_CHARACTERS:
        return frozenset()
    found = (_ASCII_WORDS if text.isascii() else _WORDS).findall(text.lower())
    return frozenset(found) if len(found) <= MOST_WORDS else frozenset()


def near(place: Place) -> frozenset[str]:
    """Return the names that an element and the one around it have."""
    return frozenset.union(*place.kind)


def known_by(
    lines: Sequence[Line], around: Around
) -> Iterator[tuple[Place, frozenset[str], frozenset[str], frozenset[str]]]:
    """Yield the features of each line.

    These are its element, its own words, the words and the tag of the heading above it, and the words with
    which the elements around it open.
    """
    own = [line_words(line.text) for line in lines]
    opened = _opened(around, own)
    above: frozenset[str] = frozenset()
    for line, words, at in zip(lines, own, around.index.tolist(), strict=True):
        if line.place.tag in _HEADINGS:
            above = frozenset((*words, f"<{line.place.tag}>"))
            yield line.place, words, frozenset(), opened[at]
        else:
            yield line.place, words, above, opened[at]


def _opened(around: Around, own: Sequence[frozenset[str]]) -> list[frozenset[str]]:
    """Return for each place the words of the lines with which the elements around it open."""
    found = []
    short = [words if len(words) <= MOST_OPENING else frozenset() for words in own]
    known: dict[frozenset[int], frozenset[str]] = {}
    for first, *outer in around.openings.tolist():
        others = frozenset(outer) - {first}
        if others not in known:
            known[others] = frozenset().union(*(short[at] for at in others))
        found.append(known[others])
    return found


@dataclass(frozen=True, slots=True)
class Known:
    """Rows of a model in bundles [starts, ends), so that features shared by many lines are added once.

    ``bundles`` has a row for each of the tables and in it the bundle of each line; the bias, row 0,
    is in the first of them.
    """

    rows: Numbers
    starts: Numbers
    ends: Numbers
    bundles: Numbers

    @classmethod
    def of(cls, lines: Sequence[Line], around: Around, index: Mapping[str, Mapping[str, int]]) -> Known:
        """Find the rows of lines; ``index`` maps the names of each table to rows."""
        names, close, own, over, first = (index[table] for table in TABLES)
        found = _Bundles()
        named = found.named(around, names)
        of_places = np.array([named[id(place)] for place in around.places])
        of_kinds = np.array([found.of(frozenset.union(*kind), close) for kind in around.kinds])
        words, above, opened = [], [], []
        for _, mine, heading, opening in known_by(lines, around):
            words.append(found.of(mine, own))
            above.append(found.of(heading, over))
            opened.append(found.of(opening, first))
        bundles = np.array([of_places[around.index], of_kinds[around.kind], words, above, opened])
        ends = np.array(found.ends)
        return cls(np.array(found.rows), np.concatenate(([0], ends[:-1])), ends, bundles)

    def sums(self, table: Matrix) -> Matrix:
        """Add up the rows of a table that each line has."""
        each = np.add.reduceat(table[self.rows], self.starts[1:])
        each = np.concatenate((np.zeros((1, table.shape[1])), each))
        found: Matrix = each[self.bundles].sum(axis=0)
        return found

    def by_line(self) -> tuple[Numbers, Numbers]:
        """Return the rows of all lines one after the other, and the start of each line's rows."""
        order = self.bundles.T.ravel()
        sizes = (self.ends - self.starts)[order]
        at = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        count = len(TABLES)
        starts = np.concatenate(([0], np.cumsum(sizes)[count - 1 : -1 : count]))
        return self.rows[np.repeat(self.starts[order], sizes) + at], starts


class _Bundles:
    """Bundles under construction; the first one is empty."""

    def __init__(self) -> None:
        self.rows: list[int] = []
        self.ends: list[int] = [0]
        self._known: dict[tuple[int, frozenset[str]], int] = {}

    def add(self, rows: Sequence[int]) -> int:
        """Return the bundle of some rows."""
        if not rows:
            return 0
        self.rows += rows
        self.ends.append(len(self.rows))
        return len(self.ends) - 1

    def of(self, names: frozenset[str], table: Mapping[str, int]) -> int:
        """Return the bundle of the names in the table; equal names share one bundle."""
        if not names:
            return 0
        key = (id(table), names)
        number = self._known.get(key)
        if number is None:
            number = self._known[key] = self.add([table[name] for name in names if name in table])
        return number

    def named(self, around: Around, table: Mapping[str, int]) -> dict[int, int]:
        """Return for each element the bundle of the bias and of all names of it and its ancestors."""
        bundles = {0: self.add([0])}
        rows = {bundles[0]: [0]}
        of_own: dict[frozenset[str], list[int]] = {}
        alike: dict[tuple[int, frozenset[str]], int] = {}
        for place in around.above:
            own = place.own
            key = (bundles[id(place.parent) if place.parent else 0], own)
            number = alike.get(key)
            if number is None:
                if own not in of_own:
                    of_own[own] = [table[name] for name in own if name in table]
                outer = rows[key[0]]
                if inner := [row for row in of_own[own] if row not in outer]:
                    number = self.add(outer + inner)
                    rows[number] = outer + inner
                else:
                    number = key[0]
                alike[key] = number
            bundles[id(place)] = number
        return bundles
