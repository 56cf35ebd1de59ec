"""What is measured of each line of a page: its own text, its place, its neighbours, the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from archivebot.content import surroundings
from archivebot.content.lines import Line
from archivebot.content.surroundings import Around

Column = surroundings.Column

_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?(?:€|kr|USD|EUR)\b")
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b|\bago\b")
_TAGS = ("p", "li", "div", "td", "th", "dt", "dd", "pre", "blockquote", "button", "label")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_KINDS = {tag: kind for kind, tag in enumerate((*_TAGS, *_HEADINGS))}

_OWN = (
    *("characters", "words", "linked", "links", "bold", "sentence", "colon", "commas", "word-length"),
    *("capitals", "digits", "upper", "copyright", "bars", "price", "date", "titular", "lower"),
)

# Characters of a line up to which it may be a date or a price rather than tell of one.
SHORT = 200

# Characters from which a line is running text.
LONG = 80

# Lines on each side of a line that are measured.
REACH = 3


def measures(lines: Sequence[Line], title: str, around: Around) -> dict[str, Column]:
    """Give the measures of the lines of a page, each a column with one value for each line.

    ``title`` is the title of the page in lower case, ``around`` is of the same lines. Lengths and counts
    are logarithms; shares lie between 0 and 1. There must be at least one line.
    """
    own = np.array([_own(line, title) for line in lines], dtype=np.float64)
    size = own[:, 0].copy()
    linked = own[:, 2] * size
    own[:, [0, 1, 3]] = np.log1p(own[:, [0, 1, 3]])
    columns = dict(zip(_OWN, own.T, strict=True))
    tags = [line.place.tag for line in lines]
    kinds = np.array([_KINDS.get(tag, -1) for tag in tags])
    columns |= {f"<{tag}>": (kinds == kind).astype(np.float64) for tag, kind in _KINDS.items()}
    heading = (kinds >= len(_TAGS)).astype(np.float64)
    columns |= _position(lines, size, heading, tags)
    columns |= _around(lines, around, size, linked, columns)
    columns |= _page(around, size, linked)
    near = {name: columns[name] for name in ("characters", "linked", "sentence", "capitals")}
    for name, column in {**near, "heading": heading}.items():
        for step in range(1, REACH + 1):
            columns[f"{name} -{step}"] = np.concatenate((np.zeros(step), column))[: len(column)]
            columns[f"{name} +{step}"] = np.concatenate((column, np.zeros(step)))[step:]
    return columns


def _own(line: Line, title: str) -> tuple[float, ...]:
    """Give what a line says of itself, in the order of ``_OWN``."""
    text = line.text
    size = len(text)
    words = text.split()
    count = len(words)
    digits = sum(map(text.count, "0123456789"))
    return (
        size,
        count,
        line.linked / size,
        line.links,
        line.bold / size,
        text[-1] in '.!?…。”"',
        text[-1] == ":",
        text.count(",") / count,
        size / count,
        sum([word[0].isupper() for word in words[:20]]) / min(count, 20),
        digits / size,
        text.isupper(),
        "©" in text,
        "|" in text or "•" in text,
        digits > 0 and size < SHORT and _PRICE.search(text) is not None,
        size < SHORT and (digits > 0 or "ago" in text) and _DATE.search(text) is not None,
        size > 3 and text.lower() in title,
        words[0].islower(),
    )


def _position(lines: Sequence[Line], size: Column, heading: Column, tags: Sequence[str]) -> dict[str, Column]:
    """Measure where a line stands in its page, and how often the like of it does."""
    count = len(lines)
    index = np.arange(count)
    kinds = [line.place.kind for line in lines]
    alike, same = Counter(kinds), Counter(line.text for line in lines)
    last = np.maximum.accumulate(np.where(heading > 0, index, -50))
    title = tags.index("h1") if "h1" in tags else count
    return {
        "characters before": (np.cumsum(size) - size) / size.sum(),
        "lines before": index / count,
        "alike": np.log1p(np.array([alike[kind] for kind in kinds])),
        "same": np.log(np.array([same[line.text] for line in lines])),
        "depth": np.array([line.place.depth for line in lines]) / 10,
        "since heading": np.log1p(np.minimum(index - last, 50)),
        "after h1": np.sign(index - title) * (title < count),
    }


def _around(
    lines: Sequence[Line], around: Around, size: Column, linked: Column, own: Mapping[str, Column]
) -> dict[str, Column]:
    """Measure the elements around each line."""
    return {
        **surroundings.text_around(around, size, linked, size > LONG),
        **surroundings.counts_around(lines, around, own["price"], own["date"]),
        **surroundings.title_around(around, size),
    }


def _page(around: Around, size: Column, linked: Column) -> dict[str, Column]:
    """Measure the page as a whole; the same for all of its lines."""
    total = size.sum()
    figures = {
        "page characters": np.log1p(total),
        "page lines": np.log1p(len(size)),
        "page linked": linked.sum() / total,
        "page long": size[size > LONG].sum() / total,
    }
    for name in ("main", "article", "h1"):
        inside = np.zeros(len(size))
        for place in around.above:
            if place.tag == name:
                inside[place.first : place.last] = 1
        figures[f"page in {name}"] = size @ inside / total
    return {name: np.full(len(size), figure) for name, figure in figures.items()}
