"""The measures of each line of a page: its own text, its position, its neighbours, the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from archivebot.content import prose, repeats, surroundings
from archivebot.content.lines import Line
from archivebot.content.surroundings import Around
from archivebot.content.wording import COLUMNS, FIRST
from archivebot.markup.tags import HEADINGS

Column = surroundings.Column
_TAGS = ("p", "li", "div", "td", "th", "dt", "dd", "pre", "blockquote", "button", "label")
_KINDS = {tag: kind for kind, tag in enumerate((*_TAGS, *HEADINGS))}

_TAG_COLUMNS = [f"<{tag}>" for tag in _KINDS]
_NUMBERS = np.array([[kind] for kind in _KINDS.values()])

# The measures of a line that its neighbours have, too, beside whether it is a heading.
_NEAR = ("characters", "linked", "sentence", "capitals")

# Lines on each side of a line that are measured.
REACH = 3


def measures(lines: Sequence[Line], title: str, around: Around) -> dict[str, Column]:
    """Return the measures of the lines of a page, each a column with one value for each line.

    ``title`` is the title of the page in lower case; ``around`` belongs to the same lines. Lengths and counts
    are logarithms; shares lie between 0 and 1. There must be at least one line.
    """
    linked = np.array([line.linked for line in lines], dtype=np.float64)
    columns = _own(lines, title, around, linked)
    size, long = columns.pop("size"), columns.pop("long") > 0
    tags = [line.place.tag for line in lines]
    kinds = np.array([_KINDS.get(tag, -1) for tag in tags])
    columns |= dict(zip(_TAG_COLUMNS, (kinds == _NUMBERS).astype(np.float64), strict=True))
    heading = (kinds >= len(_TAGS)).astype(np.float64)
    columns |= _position(lines, around, size, heading, tags)
    columns |= _around(lines, around, size, linked, long, columns)
    columns |= _page(around, size, linked, long)
    columns |= prose.measures(around, prose.running(lines, long))
    columns |= repeats.measures(around)
    count = len(lines)
    wide = np.zeros((len(_NEAR) + 1, count + 2 * REACH))
    wide[:, REACH:-REACH] = [*(columns[name] for name in _NEAR), heading]
    for name, row in zip((*_NEAR, "heading"), wide, strict=True):
        for step in range(1, REACH + 1):
            columns[f"{name} -{step}"] = row[REACH - step : REACH - step + count]
            columns[f"{name} +{step}"] = row[REACH + step : REACH + step + count]
    return columns


def _own(lines: Sequence[Line], title: str, around: Around, linked: Column) -> dict[str, Column]:
    """Return the measures of the text of each line."""
    words, links, bold = np.array([(line.words, line.links, line.bold) for line in lines], dtype=np.float64).T
    found = around.wording[0]
    own = dict(zip(COLUMNS, found.take(around.text, axis=0).T, strict=True))
    size = own["size"]
    return own | {
        "characters": np.log1p(size),
        "words": np.log1p(words),
        "linked": linked / size,
        "links": np.log1p(links),
        "bold": bold / size,
        "commas": own["commas"] / words,
        "word-length": size / words,
        "digits": own["digits"] / size,
        "capitals": own["capitals"] / np.minimum(words, FIRST),
        "titular": _titular(title, around.texts, found[:, 0])[around.text],
    }


def _titular(title: str, texts: Sequence[str], size: Column) -> Column:
    """Return which texts are in the title."""
    found = np.zeros(len(texts))
    for index in np.flatnonzero((size > 3) & (size <= 2 * len(title))).tolist():
        found[index] = texts[index].lower() in title
    return found


def _position(
    lines: Sequence[Line], around: Around, size: Column, heading: Column, tags: Sequence[str]
) -> dict[str, Column]:
    """Measure the position of each line in its page, and the number of similar lines."""
    count = len(lines)
    index = np.arange(count)
    last = np.maximum.accumulate(np.where(heading > 0, index, -50))
    title = tags.index("h1") if "h1" in tags else count
    return {
        "characters before": (np.cumsum(size) - size) / size.sum(),
        "lines before": index / count,
        "alike": np.log1p(np.bincount(around.kind)[around.kind]),
        "same": np.log(np.bincount(around.text)[around.text]),
        "depth": np.array([line.place.depth for line in lines]) / 10,
        "since heading": np.log1p(np.minimum(index - last, 50)),
        "after h1": np.sign(index - title) * (title < count),
    }


def _around(
    lines: Sequence[Line],
    around: Around,
    size: Column,
    linked: Column,
    long: NDArray[np.bool_],
    own: Mapping[str, Column],
) -> dict[str, Column]:
    """Measure the elements around each line."""
    return {
        **surroundings.text_around(around, size, linked, long),
        **surroundings.counts_around(lines, around, own["price"], own["date"]),
        **surroundings.title_around(around, size),
    }


def _page(around: Around, size: Column, linked: Column, long: NDArray[np.bool_]) -> dict[str, Column]:
    """Measure the page as a whole; the same for all of its lines."""
    total = size.sum()
    figures = {
        "page characters": np.log1p(total),
        "page lines": np.log1p(len(size)),
        "page linked": linked.sum() / total,
        "page long": size[long].sum() / total,
    }
    inside = {name: np.zeros(len(size)) for name in ("main", "article", "h1")}
    for place in around.above:
        if place.tag in inside:
            inside[place.tag][place.first : place.last] = 1
    figures |= {f"page in {name}": size @ each / total for name, each in inside.items()}
    return {name: np.full(len(size), figure) for name, figure in figures.items()}
