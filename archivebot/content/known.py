"""The features of lines besides their measures: the names of the elements around them, and words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from archivebot.content.lines import Place
from archivebot.content.surroundings import Around, Numbers, each_once
from archivebot.markup.tags import HEADINGS

Matrix = NDArray[np.float64]

# The names of all elements around a line, those of the nearest two, the words of a short line, those of the
# heading above it, and those of the lines with which the elements around it open.
TABLES = ("names", "near", "words", "above", "opened")

# Maximum of words read from the first line of an element, its heading.
MOST_OPENING = 6


def near(place: Place) -> frozenset[str]:
    """Return the names that an element and the one around it have."""
    return frozenset.union(*place.kind)


@dataclass(frozen=True, slots=True)
class Features:
    """The words that lines are known by, each set of words once.

    ``words`` are those of each text of the page. ``headings`` are the words and the tag of each heading, and
    ``above`` is the heading above each line; the first heading has no words: it is above lines without one,
    and above headings. ``openings`` are the words of the lines with which the elements around a place open,
    and ``opened`` is the number of them for each place.
    """

    words: list[frozenset[str]]
    headings: list[frozenset[str]]
    above: Numbers
    openings: list[frozenset[str]]
    opened: Numbers

    @classmethod
    def of(cls, around: Around) -> Features:
        """Read the features of the lines of a page."""
        words = around.wording[1]
        texts, places = around.text.tolist(), around.places
        is_heading = np.array([place.tag in HEADINGS for place in places], dtype=bool)[around.index]
        headings: list[frozenset[str]] = [frozenset()]
        for line in np.flatnonzero(is_heading).tolist():
            tag = places[around.index[line]].tag
            headings.append(frozenset((*words[texts[line]], f"<{tag}>")))
        above = np.where(is_heading, 0, np.cumsum(is_heading))
        return cls(words, headings, above, *_opened(around, words))

    def by_line(
        self, around: Around
    ) -> Iterator[tuple[Place, frozenset[str], frozenset[str], frozenset[str]]]:
        """Yield the features of each line.

        These are its element, its own words, the words and the tag of the heading above it, and the words
        with which the elements around it open.
        """
        columns = (around.index, around.text, self.above, self.opened[around.index])
        for place, text, above, opened in zip(*(column.tolist() for column in columns), strict=True):
            yield around.places[place], self.words[text], self.headings[above], self.openings[opened]


def _opened(around: Around, words: Sequence[frozenset[str]]) -> tuple[list[frozenset[str]], Numbers]:
    """Return the words of the lines with which the elements around places open, and those of each place."""
    short = [each if len(each) <= MOST_OPENING else frozenset() for each in words]
    short.append(frozenset())
    first, *outer = around.openings.T
    texts = [np.where(level == first, -1, around.text[level]) for level in outer]  # no line describes itself
    sets, opened = each_once(zip(*(each.tolist() for each in texts), strict=True))
    return [frozenset().union(*(short[text] for text in row)) for row in sets], opened


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
    def of(cls, around: Around, index: Mapping[str, Mapping[str, int]]) -> Known:
        """Find the rows of lines; ``index`` maps the names of each table to rows."""
        names, close, own, over, first = (index[table] for table in TABLES)
        features, found = Features.of(around), _Bundles()
        named = found.named(around, names)
        of_places = np.array([named[place] for place in around.places])
        of_kinds = found.of([frozenset.union(*kind) for kind in around.kinds], close)
        of_texts = found.of(features.words, own)
        above = found.of(features.headings, over)[features.above]
        opened = found.of(features.openings, first)[features.opened]
        of_lines = of_places[around.index], of_kinds[around.kind], of_texts[around.text]
        bundles = np.array([*of_lines, above, opened[around.index]])
        ends = np.array(found.ends)
        return cls(np.array(found.rows), np.concatenate(([0], ends[:-1])), ends, bundles)

    def sums(self, table: Matrix) -> Matrix:
        """Add up the rows of a table that each line has."""
        each = np.add.reduceat(table.take(self.rows, axis=0), self.starts[1:])
        each = np.concatenate((np.zeros((1, table.shape[1])), each))
        own, *others = self.bundles
        found: Matrix = each.take(own, axis=0)
        for bundle in others:
            found += each.take(bundle, axis=0)
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

    def add(self, rows: Sequence[int]) -> int:
        """Return the bundle of some rows."""
        if not rows:
            return 0
        self.rows += rows
        self.ends.append(len(self.rows))
        return len(self.ends) - 1

    def of(self, names: Sequence[frozenset[str]], table: Mapping[str, int]) -> Numbers:
        """Return the bundles of sets of names in a table; equal sets share one bundle."""
        known: dict[frozenset[str], int] = {}
        for each in names:
            if each not in known:
                known[each] = self.add(_rows(each, table))
        return np.array([known[each] for each in names])

    def named(self, around: Around, table: Mapping[str, int]) -> dict[Place | None, int]:
        """Return for each element the bundle of the bias and of all names of it and its ancestors.

        For None that is the bundle of the bias alone.
        """
        bundles: dict[Place | None, int] = {None: self.add([0])}
        rows = {bundles[None]: [0]}
        of_own: dict[frozenset[str], list[int]] = {}
        alike: dict[tuple[int, frozenset[str]], int] = {}
        for place in around.above:
            own = place.own
            key = (bundles[place.parent], own)
            number = alike.get(key)
            if number is None:
                if own not in of_own:
                    of_own[own] = _rows(own, table)
                outer = rows[key[0]]
                if inner := [row for row in of_own[own] if row not in outer]:
                    number = self.add(outer + inner)
                    rows[number] = outer + inner
                else:
                    number = key[0]
                alike[key] = number
            bundles[place] = number
        return bundles


def _rows(names: frozenset[str], table: Mapping[str, int]) -> list[int]:
    """Return the rows of names in an order that is the same in every process: sums depend on it."""
    return sorted([table[name] for name in names if name in table])
