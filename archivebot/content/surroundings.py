"""The measures of the elements around each line: text, images, distance of the title."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from operator import attrgetter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from archivebot.content.lines import Line, Place
from archivebot.content.wording import COLUMNS, Matrix, remembered

Column = NDArray[np.float64]
Numbers = NDArray[np.int64]
Ranges = NDArray[np.int64]
Kind = tuple[frozenset[str], frozenset[str]]
T = TypeVar("T", bound=Hashable)

# Number of elements around a line that are measured.
LEVELS = 4

# Shares of the running text of a page; the smallest element with such a share is a body of the text.
SHARES = (0.5, 0.75, 0.9)

# What is measured of the text of the elements around a line.
_TEXT = [
    f"{name} ^{level}" for name in ("lines", "share", "linked", "long", "mean") for level in range(LEVELS)
]

# What is counted in the elements around a line, and on which levels.
_COUNTED = {"images": (0, 1, 2), "price": (1, 2), "date": (1, 2)}
_IN_PAGE = [f"page {name}" for name in _COUNTED]

# Maximum of levels between a line and the title; larger distances are clipped.
_FAR = 15


@dataclass(frozen=True, eq=False)
class Around:
    """The elements around the lines of a page.

    ``places`` are the elements that contain the lines, each once, and ``index`` is the place of each line;
    ``above`` are the places and all elements around them, outer before inner, and ``numbers`` are the places
    among them. ``parents`` are the elements around those ``above``, ``depths`` their depths, and ``spans``
    their ranges of lines. ``openings`` are the first lines of the elements around each place, a row for each
    place. ``kinds`` are the names of the places and of the elements around them, each once, and ``kind`` is
    the kind of each line. ``first`` and ``last`` are the ranges of lines of the elements around each line, a
    row for each level. ``texts`` are the texts of the lines, each once, and ``text`` is the text of each
    line. ``counts`` are the words, linked characters, links, bold characters and images of each line.
    """

    places: list[Place]
    above: list[Place]
    numbers: Numbers
    parents: Numbers
    depths: Numbers
    spans: Ranges
    openings: Ranges
    index: Numbers
    kinds: list[Kind]
    kind: Numbers
    first: Ranges
    last: Ranges
    texts: list[str]
    text: Numbers
    counts: Matrix

    @classmethod
    def of(cls, lines: Sequence[Line]) -> Around:
        places, index = each_once(line.place for line in lines)
        kinds, kind = each_once(place.kind for place in places)
        above = sorted(_upwards(places), key=attrgetter("depth"))
        number_of: dict[Place | None, int] = {place: number for number, place in enumerate(above)}
        number_of[None] = 0
        numbers = np.array([number_of[place] for place in places])
        parents = np.array([number_of[place.parent] for place in above])
        first = np.array([place.first for place in above])
        last = np.array([place.last for place in above])
        chains = _chains(parents, last - first)[:, numbers]
        firsts, lasts = first.take(chains), last.take(chains)
        return cls(
            places,
            above,
            numbers,
            parents,
            np.array([place.depth for place in above]),
            np.array((first, last)),
            firsts.T,
            index,
            kinds,
            kind.take(index),
            firsts.take(index, axis=1),
            lasts.take(index, axis=1),
            *_read(lines),
        )

    def with_texts(self, lines: Sequence[Line]) -> Around:
        """Return the same elements around lines with other texts."""
        texts, text, counts = _read(lines)
        return replace(self, texts=texts, text=text, counts=counts)

    @cached_property
    def wording(self) -> tuple[Matrix, list[frozenset[str]]]:
        """The measures of each text, and its words."""
        return remembered().measured(self.texts)

    def worded(self, name: str) -> Column:
        """Return a measure of the text of each line."""
        found: Column = self.wording[0][:, COLUMNS.index(name)].take(self.text)
        return found

    @cached_property
    def prose(self) -> Column:
        """The characters of running text of each line, without links; without running text, all of them."""
        size = self.worded("size") - self.counts[1]
        prose: Column = size * (self.worded("long") > 0)
        return prose if prose.any() else size

    @cached_property
    def bodies(self) -> tuple[Numbers, Numbers]:
        """The ranges of lines of the smallest elements that hold the SHARES of the running text."""
        first, last = self.spans
        held = within(self.prose, first, last)
        wanted = np.array(SHARES)[:, None] * self.prose.sum()
        sizes = np.where(held >= wanted, last - first, len(self.text) + 1)
        at = len(held) - 1 - sizes[:, ::-1].argmin(axis=1)
        return first[at], last[at]


def each_once(values: Iterable[T]) -> tuple[list[T], Numbers]:
    """Return some values, each once, and for each of them its number among these."""
    numbers: dict[T, int] = {}
    found = np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)
    return list(numbers), found


def _read(lines: Sequence[Line]) -> tuple[list[str], Numbers, Matrix]:
    """Return the texts of lines, each once, the text of each line, and the counts of the lines."""
    counts = (
        [line.words for line in lines],
        [line.linked for line in lines],
        [line.links for line in lines],
        [line.bold for line in lines],
        [line.images for line in lines],
    )
    return *each_once(line.text for line in lines), np.array(counts, dtype=np.float64)


def _chains(parents: Numbers, sizes: Numbers) -> Numbers:
    """Return the numbers of elements and of the elements around them, a row for each of LEVELS levels.

    Each element has more lines than the previous one. If there are too few, the outermost is repeated.
    ``sizes`` are the numbers of lines of the elements.
    """
    outer = parents.copy()
    while (same := np.flatnonzero((sizes[outer] == sizes) & (outer > 0))).size:
        outer[same] = parents[outer[same]]
    levels = [np.arange(len(parents))]
    for _ in range(LEVELS - 1):
        levels.append(outer[levels[-1]])
    return np.array(levels)


def _upwards(places: Iterable[Place]) -> list[Place]:
    """Return elements and all above them, each once."""
    seen: dict[Place, None] = {}
    for each in places:
        place: Place | None = each
        while place is not None and place not in seen:
            seen[place] = None
            place = place.parent
    return list(seen)


def within(values: Matrix, first: Ranges, last: Ranges) -> Matrix:
    """Sum values, or each row of them, over the ranges [first, last)."""
    sums = np.zeros((*values.shape[:-1], values.shape[-1] + 1))
    values.cumsum(axis=-1, out=sums[..., 1:])
    found: Matrix = sums.take(last, axis=-1)
    found -= sums.take(first, axis=-1)
    return found


def of_page(figures: Mapping[str, float], count: int) -> dict[str, Column]:
    """Return measures of the page as a whole, the same for all of its ``count`` lines."""
    rows = np.repeat(np.array(list(figures.values()))[:, None], count, axis=1)
    return dict(zip(figures, rows, strict=True))


def measures(around: Around, size: Column, price: Column, date: Column) -> dict[str, Column]:
    """Measure the text of the elements around each line, from the inside to the outside, and count in them.

    ``size`` is the characters of each line. Images, prices and dates are counted, in the page, too.
    """
    linked, images = around.counts[1], around.counts[4]
    values = np.array((size, linked, size * (around.worded("long") > 0), images, price, date))
    held, inside, running, *counted = within(values, around.first, around.last)
    count = around.last - around.first
    figures = np.log1p(count), held / size.sum(), inside / held, running / held, np.log1p(held / count)
    columns = dict(zip(_TEXT, chain.from_iterable(figures), strict=True))
    columns["images before"] = np.minimum(images, 3)
    for (name, levels), rows in zip(_COUNTED.items(), np.log1p(counted), strict=True):
        columns |= {f"{name} ^{level}": rows[level] for level in levels}
    in_page = np.log1p(values[3:].sum(axis=1)).tolist()
    return columns | of_page(dict(zip(_IN_PAGE, in_page, strict=True)), len(size))


def title_around(around: Around, size: Column) -> dict[str, Column]:
    """Measure the distance of the first H1 from each line.

    The measures are the levels from the smallest common element down to the line and down to the H1, and the
    share of that element in the text. All are 0 in a page without an H1.
    """
    names = ("below title", "above title", "with title")
    title = next((at for at, place in enumerate(around.places) if place.tag == "h1"), None)
    if title is None:
        return dict(zip(names, np.zeros((len(names), len(size))), strict=True))
    path = set(_upwards([around.places[title]]))
    is_shared = np.array([place in path for place in around.above])
    shared = np.where(is_shared, np.arange(len(is_shared)), around.parents)
    while not is_shared[shared].all():
        shared = shared[shared]
    common, depths = shared[around.numbers], around.depths[around.numbers]
    down, up = depths - around.depths[common], depths[title] - around.depths[common]
    share = within(size, *around.spans[:, common]) / size.sum()
    figures = np.array((np.minimum(down, _FAR) / 10, np.minimum(up, _FAR) / 10, share))
    return dict(zip(names, figures.take(around.index, axis=1), strict=True))
