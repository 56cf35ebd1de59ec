"""The measures of the elements around each line: text, images, distance of the title."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from archivebot.content.lines import Line, Place
from archivebot.content.wording import Matrix, remembered

Column = NDArray[np.float64]
Ranges = NDArray[np.int64]
Kind = tuple[frozenset[str], frozenset[str]]

# Number of elements around a line that are measured.
LEVELS = 4

# Levels on which images are counted, and levels on which prices and dates are counted.
_PICTURED = [0, 1, 2]
_STATED = [1, 2]

# Maximum of levels between a line and the title; larger distances are clipped.
_FAR = 15


@dataclass(frozen=True, eq=False)
class Around:
    """The elements around the lines of a page.

    ``places`` are the elements that contain the lines, each once, and ``index`` is the place of each line;
    ``above`` are the places and all elements around them, outer before inner. ``openings`` are the first
    lines of the elements around each place, a row for each place. ``kinds`` are the names of the places and
    of the elements around them, each once, and ``kind`` is the kind of each line. ``first`` and ``last`` are
    the ranges of lines of the elements around each line, a row for each level, and ``spans`` are those of the
    elements ``above``. ``texts`` are the texts of the lines, each once, and ``text`` is the text of each
    line.
    """

    places: list[Place]
    above: list[Place]
    openings: Ranges
    index: NDArray[np.int64]
    kinds: list[Kind]
    kind: NDArray[np.int64]
    first: Ranges
    last: Ranges
    spans: tuple[Ranges, Ranges]
    texts: list[str]
    text: NDArray[np.int64]

    @cached_property
    def wording(self) -> tuple[Matrix, list[frozenset[str]]]:
        """The measures of each text, and its words."""
        return remembered().measured(self.texts)

    def with_texts(self, lines: Sequence[Line]) -> Around:
        """Return the same elements around lines with other texts."""
        texts: dict[str, int] = {}
        text = np.array([texts.setdefault(line.text, len(texts)) for line in lines], dtype=np.int64)
        return replace(self, texts=list(texts), text=text)

    @classmethod
    def of(cls, lines: Sequence[Line]) -> Around:
        rows: dict[Place, int] = {}
        index = np.array([rows.setdefault(line.place, len(rows)) for line in lines], dtype=np.int64)
        places = list(rows)
        texts: dict[str, int] = {}
        text = np.array([texts.setdefault(line.text, len(texts)) for line in lines], dtype=np.int64)
        kinds: dict[Kind, int] = {}
        kind = np.array([kinds.setdefault(place.kind, len(kinds)) for place in places], dtype=np.int64)
        above = sorted(_upwards(places), key=attrgetter("depth"))
        numbers = {place: number for number, place in enumerate(above)}
        spans = np.array([(place.first, place.last) for place in above], dtype=np.int64).T
        chains = _chains(above, numbers, spans[1] - spans[0])[:, [numbers[place] for place in places]]
        first, last = spans[0].take(chains), spans[1].take(chains)
        ranges = first.take(index, axis=1), last.take(index, axis=1)
        own = kind.take(index)
        return cls(
            places, above, first.T, index, list(kinds), own, *ranges, (spans[0], spans[1]), list(texts), text
        )


def _chains(above: Sequence[Place], numbers: Mapping[Place, int], size: NDArray[np.int64]) -> Ranges:
    """Return the numbers of each place and of the elements around it, a row for each of LEVELS levels.

    Each element has more lines than the previous one. If there are too few, the outermost is repeated.
    ``size`` is the number of lines of each element.
    """
    parent = np.array([numbers[place.parent] if place.parent else 0 for place in above], dtype=np.int64)
    outer = parent.copy()
    while (same := np.flatnonzero((size[outer] == size) & (outer > 0))).size:
        outer[same] = parent[outer[same]]
    levels = [np.arange(len(above))]
    for _ in range(LEVELS - 1):
        levels.append(outer[levels[-1]])
    return np.array(levels)


def within(values: Column, first: Ranges, last: Ranges) -> Column:
    """Sum values over the ranges [first, last)."""
    sums = np.zeros(len(values) + 1)
    values.cumsum(out=sums[1:])
    found: Column = sums.take(last)
    found -= sums.take(first)
    return found


def text_around(around: Around, size: Column, linked: Column, long: NDArray[np.bool_]) -> dict[str, Column]:
    """Measure the text of the elements around each line, from the inside to the outside.

    ``size`` and ``linked`` are characters; ``long`` marks running text.
    """
    held, inside, running = (within(each, around.first, around.last) for each in (size, linked, size * long))
    count = around.last - around.first
    figures = {
        "lines": np.log1p(count),
        "share": held / size.sum(),
        "linked": inside / held,
        "long": running / held,
        "mean": np.log1p(held / count),
    }
    return {f"{name} ^{level}": rows[level] for name, rows in figures.items() for level in range(LEVELS)}


def counts_around(lines: Sequence[Line], around: Around, price: Column, date: Column) -> dict[str, Column]:
    """Count images, prices and dates in the elements around each line, and in the page."""
    images = np.array([line.images for line in lines], dtype=np.float64)
    columns = {"images before": np.minimum(images, 3)}
    figures = {"images": (images, _PICTURED), "price": (price, _STATED), "date": (date, _STATED)}
    for name, (values, levels) in figures.items():
        counted = np.log1p(within(values, around.first[levels], around.last[levels]))
        columns |= {f"{name} ^{level}": row for level, row in zip(levels, counted, strict=True)}
        columns[f"page {name}"] = np.full(len(lines), np.log1p(values.sum()))
    return columns


def _upwards(places: Iterable[Place]) -> list[Place]:
    """Return elements and all above them, each once."""
    seen: dict[Place, None] = {}
    for each in places:
        place: Place | None = each
        while place is not None and place not in seen:
            seen[place] = None
            place = place.parent
    return list(seen)


def title_around(around: Around, size: Column) -> dict[str, Column]:
    """Measure the distance of the first H1 from each line.

    The measures are the levels from the smallest common element down to the line and down to the H1, and the
    share of that element in the text. All are 0 in a page without an H1.
    """
    names = ("below title", "above title", "with title")
    title = next((place for place in around.places if place.tag == "h1"), None)
    if title is None:
        return {name: np.zeros(len(size)) for name in names}
    path = set(_upwards([title]))
    nearest: dict[Place | None, tuple[int, int, int]] = {}
    for place in around.above:
        is_shared = place in path
        nearest[place] = (place.depth, place.first, place.last) if is_shared else nearest[place.parent]
    shared, first, last = np.array([nearest[place] for place in around.places]).T
    depths = np.array([place.depth for place in around.places])
    down, up = np.minimum(depths - shared, _FAR), np.minimum(title.depth - shared, _FAR)
    share = within(size, first, last) / size.sum()
    return {
        name: figure.take(around.index)
        for name, figure in zip(names, (down / 10, up / 10, share), strict=True)
    }
