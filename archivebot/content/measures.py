"""The measures of each line of a page: its own text, its position, its neighbours, the page."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from archivebot.content import prose, repeats, surroundings
from archivebot.content.lines import Line
from archivebot.content.prose import long_lines
from archivebot.content.surroundings import Around

Column = surroundings.Column
Codes = NDArray[np.uint32]
Starts = NDArray[np.int64]

_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?(?:€|kr|USD|EUR)\b")
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b|\bago\b")
_TAGS = ("p", "li", "div", "td", "th", "dt", "dd", "pre", "blockquote", "button", "label")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_KINDS = {tag: kind for kind, tag in enumerate((*_TAGS, *_HEADINGS))}

_SENTENCE_ENDS = np.array([ord(sign) for sign in '.!?…。”"'], dtype=np.uint32)

# Words of a line whose capitals are counted.
_FIRST = 20

# Maximum of characters of a line that may be a date or a price rather than mention one.
SHORT = 200

# Lines on each side of a line that are measured.
REACH = 3


def measures(lines: Sequence[Line], title: str, around: Around) -> dict[str, Column]:
    """Return the measures of the lines of a page, each a column with one value for each line.

    ``title`` is the title of the page in lower case; ``around`` belongs to the same lines. Lengths and counts
    are logarithms; shares lie between 0 and 1. There must be at least one line.
    """
    size = np.array([len(line.text) for line in lines], dtype=np.float64)
    linked = np.array([line.linked for line in lines], dtype=np.float64)
    columns = _own(lines, title, size, linked)
    tags = [line.place.tag for line in lines]
    kinds = np.array([_KINDS.get(tag, -1) for tag in tags])
    columns |= {f"<{tag}>": (kinds == kind).astype(np.float64) for tag, kind in _KINDS.items()}
    heading = (kinds >= len(_TAGS)).astype(np.float64)
    columns |= _position(lines, around, size, heading, tags)
    long = long_lines(lines)
    columns |= _around(lines, around, size, linked, long, columns)
    columns |= _page(around, size, linked, long)
    columns |= prose.measures(around, prose.running(lines, long))
    columns |= repeats.measures(lines)
    near = {name: columns[name] for name in ("characters", "linked", "sentence", "capitals")}
    for name, column in {**near, "heading": heading}.items():
        wide = np.zeros(len(column) + 2 * REACH)
        wide[REACH:-REACH] = column
        for step in range(1, REACH + 1):
            columns[f"{name} -{step}"] = wide[REACH - step : -REACH - step]
            columns[f"{name} +{step}"] = wide[REACH + step : len(wide) - REACH + step]
    return columns


def _own(lines: Sequence[Line], title: str, size: Column, linked: Column) -> dict[str, Column]:
    """Return the measures of the text of each line."""
    words, links, bold = np.array([(line.words, line.links, line.bold) for line in lines], dtype=np.float64).T
    texts = [line.text for line in lines]
    codes, starts = _codes(texts, size)
    digits, commas, *signs = _counted(codes, starts)
    owned, bars, bullets = (each > 0 for each in signs)
    columns = {
        "characters": np.log1p(size),
        "words": np.log1p(words),
        "linked": linked / size,
        "links": np.log1p(links),
        "bold": bold / size,
        "commas": commas / words,
        "word-length": size / words,
        "digits": digits / size,
        "copyright": owned,
        "bars": bars | bullets,
        "capitals": _capitals(codes, starts) / np.minimum(words, _FIRST),
    }
    most = 2 * len(title)
    first, last = codes[starts], codes[starts + size.astype(np.int64) - 1]
    return columns | {
        "sentence": np.isin(last, _SENTENCE_ENDS),
        "colon": last == ord(":"),
        "markup": first == ord("<"),
        "upper": np.array([text.isupper() for text in texts]),
        "lower": np.array([text.partition(" ")[0].islower() for text in texts]),
        "titular": np.array([3 < len(text) <= most and text.lower() in title for text in texts]),
        **_stated(texts, size, digits),
    }


def _stated(texts: Sequence[str], size: Column, digits: Column) -> dict[str, Column]:
    """Return which short texts state prices and dates; ``digits`` are the numbers of their digits."""
    price, date = np.zeros(len(texts)), np.zeros(len(texts))
    short = size < SHORT
    for index in np.flatnonzero(short & (digits > 0)).tolist():
        price[index] = _PRICE.search(texts[index]) is not None
        date[index] = _DATE.search(texts[index]) is not None
    for index in np.flatnonzero(short & (digits == 0)).tolist():
        date[index] = "ago" in texts[index] and _DATE.search(texts[index]) is not None
    return {"price": price, "date": date}


def _codes(texts: Sequence[str], size: Column) -> tuple[Codes, Starts]:
    """Return the characters of texts of lengths ``size``, one after the other, and the start of each text."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4")
    return codes, (np.cumsum(size) - size).astype(np.int64)


def _capitals(codes: Codes, starts: Starts) -> Column:
    """Return the number of capitalised words among the first words of each text."""
    first = np.concatenate(([True], codes[:-1] == ord(" ")))
    first[starts] = True
    at = np.flatnonzero(first)  # where the words start
    upto = np.searchsorted(at, starts)  # words before each text
    counts = np.diff(upto, append=len(at))
    early = np.arange(len(at)) - np.repeat(upto, counts) < _FIRST
    letters = codes[at]
    upper = letters - ord("A") < 26
    for index in np.flatnonzero(letters > 127):
        upper[index] = chr(letters[index]).isupper()
    return np.add.reduceat(upper & early, upto, dtype=np.float64)


def _counted(codes: Codes, starts: Starts) -> list[Column]:
    """Return the numbers of digits, commas, copyright signs, bars and bullets in each text."""
    signs = [codes - ord("0") < 10, *(codes == ord(sign) for sign in ",©|•")]
    return [np.add.reduceat(sign, starts, dtype=np.float64) for sign in signs]


def _position(
    lines: Sequence[Line], around: Around, size: Column, heading: Column, tags: Sequence[str]
) -> dict[str, Column]:
    """Measure the position of each line in its page, and the number of similar lines."""
    count = len(lines)
    index = np.arange(count)
    same = Counter(line.text for line in lines)
    last = np.maximum.accumulate(np.where(heading > 0, index, -50))
    title = tags.index("h1") if "h1" in tags else count
    return {
        "characters before": (np.cumsum(size) - size) / size.sum(),
        "lines before": index / count,
        "alike": np.log1p(np.bincount(around.kind)[around.kind]),
        "same": np.log(np.array([same[line.text] for line in lines])),
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
