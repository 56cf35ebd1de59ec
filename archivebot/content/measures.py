"""The measures of each line of a page: its own text, its position, its neighbours, the page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from archivebot.content import prose, repeats, surroundings
from archivebot.content.lines import Line
from archivebot.content.surroundings import Around, Numbers
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

# The distances of these lines, and the measures that a line has from them.
_STEPS = [sign * step for step in range(1, REACH + 1) for sign in (-1, 1)]
_BESIDE = [f"{name} {step:+d}" for step in _STEPS for name in (*_NEAR, "heading")]


def measures(lines: Sequence[Line], title: str, around: Around) -> dict[str, Column]:
    """Return the measures of the lines of a page, each a column with one value for each line.

    ``title`` is the title of the page in lower case; ``around`` belongs to the same lines. Lengths and counts
    are logarithms; shares lie between 0 and 1. There must be at least one line.
    """
    columns = _own(title, around)
    size, long = columns.pop("size"), columns.pop("long") > 0
    kinds = np.array([_KINDS.get(place.tag, -1) for place in around.places])[around.index]
    columns |= dict(zip(_TAG_COLUMNS, (kinds == _NUMBERS).astype(np.float64), strict=True))
    heading = (kinds >= len(_TAGS)).astype(np.float64)
    columns |= _position(around, size, heading, np.flatnonzero(kinds == _KINDS["h1"]))
    columns |= surroundings.measures(around, size, columns["price"], columns["date"])
    columns |= surroundings.title_around(around, size)
    columns |= _page(around, size, long)
    columns |= prose.measures(around)
    columns |= repeats.measures(around)
    count = len(lines)
    wide = np.zeros((len(_NEAR) + 1, count + 2 * REACH))
    wide[:, REACH:-REACH] = [*(columns[name] for name in _NEAR), heading]
    beside = (wide[:, REACH + step : REACH + step + count] for step in _STEPS)
    return columns | dict(zip(_BESIDE, chain.from_iterable(beside), strict=True))


def _own(title: str, around: Around) -> dict[str, Column]:
    """Return the measures of the text of each line."""
    found = around.wording[0]
    own = dict(zip(COLUMNS, found.take(around.text, axis=0).T, strict=True))
    words, linked, links, bold, _ = around.counts
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


def _position(around: Around, size: Column, heading: Column, titles: Numbers) -> dict[str, Column]:
    """Measure the position of each line in its page, and the number of similar lines.

    ``titles`` are the lines in H1 elements.
    """
    count = len(size)
    index = np.arange(count)
    last = np.maximum.accumulate(np.where(heading > 0, index, -50))
    upto = size.cumsum()
    return {
        "characters before": (upto - size) / upto[-1],
        "lines before": index / count,
        "alike": np.log1p(np.bincount(around.kind)[around.kind]),
        "same": np.log(np.bincount(around.text)[around.text]),
        "depth": (around.depths[around.numbers] / 10)[around.index],
        "since heading": np.log1p(np.minimum(index - last, 50)),
        "after h1": np.sign(index - titles[0]) if titles.size else np.zeros(count),
    }


def _page(around: Around, size: Column, long: NDArray[np.bool_]) -> dict[str, Column]:
    """Measure the page as a whole; the same for all of its lines."""
    total, linked = size.sum(), around.counts[1]
    inside = {name: np.zeros(len(size), dtype=bool) for name in ("main", "article", "h1")}
    for place in around.above:
        if place.tag in inside:
            inside[place.tag][place.first : place.last] = True
    figures = {
        "page characters": np.log1p(total),
        "page lines": np.log1p(len(size)),
        "page linked": linked.sum() / total,
        "page long": size[long].sum() / total,
        **{f"page in {name}": size[each].sum() / total for name, each in inside.items()},
    }
    return surroundings.of_page(figures, len(size))
