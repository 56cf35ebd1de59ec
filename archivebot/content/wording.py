"""The measures of a line that depend on its text alone; they are remembered, so that a text is read once."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from threading import Lock

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[np.float64]
Codes = NDArray[np.uint32]
Starts = NDArray[np.int64]

# The columns of the measures of a text.
COLUMNS = (
    "size",
    "digits",
    "commas",
    "copyright",
    "bars",
    "capitals",
    "sentence",
    "colon",
    "markup",
    "upper",
    "lower",
    "price",
    "date",
    "long",
)

# Number of texts whose measures are remembered: the versions of a page have most lines in common, and a large
# table has 12,000 of them. They take 10 MB.
REMEMBERED = 1 << 15

# Maximum of characters of the texts that are remembered.
MOST_REMEMBERED = 1 << 22

# Minimum bytes of UTF-8 of a line of running text: a Chinese character counts as three letters.
LONG = 80

# Maximum of characters of a line that may be a date or a price rather than mention one.
SHORT = 200

# Words of a line whose capitals are counted.
FIRST = 20

# Maximum of words in a line whose words are features: they identify a button or a caption, not a paragraph.
MOST_WORDS = 12
_MOST_CHARACTERS = 150

_WORDS = re.compile(r"[^\W\d_]+")
_ASCII_WORDS = re.compile("[a-z]+")  # finds the same words in lower-case ASCII, and is faster
_PRICE = re.compile(r"[$€£¥₹]\s?\d|\d\s?(?:€|kr|USD|EUR)\b")
_DATE = re.compile(r"\b(?:19|20)\d\d\b|\b\d{1,2}[/.]\d{1,2}[/.]\d{2,4}\b|\bago\b")
_SENTENCE_ENDS = frozenset('.!?…。”"')


class Wording:
    """The measures of texts, a row for each, and their words if they are short."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}
        self._table = np.empty((REMEMBERED, len(COLUMNS)))
        self._words: list[frozenset[str]] = []
        self._characters = 0
        self._lock = Lock()

    def measured(self, texts: Sequence[str]) -> tuple[Matrix, list[frozenset[str]]]:
        """Return a row of measures for each of some different texts, and the words of each.

        >>> rows, words = Wording().measured(["Only $5, today.", "Only"])
        >>> dict(zip(COLUMNS, rows[0].tolist()))["price"], rows[:, 0].tolist(), sorted(words[0])
        (1.0, [15.0, 4.0], ['only', 'today'])
        """
        if len(texts) > REMEMBERED or sum(map(len, texts)) > MOST_REMEMBERED:
            return _measured(texts), [line_words(text) for text in texts]
        with self._lock:
            at = self._at(texts)
            return self._table[at], [self._words[row] for row in at]

    def _at(self, texts: Sequence[str]) -> list[int]:
        """Return the rows of texts, and add those that are missing."""
        new = [text for text in texts if text not in self._rows]
        characters = self._characters + sum(map(len, new))
        if len(self._rows) + len(new) > REMEMBERED or characters > MOST_REMEMBERED:
            self._rows.clear()
            self._words.clear()
            new = list(texts)
            characters = sum(map(len, new))
        self._characters = characters
        if new:
            start = len(self._rows)
            self._table[start : start + len(new)] = _measured(new)
            self._rows.update(zip(new, range(start, start + len(new)), strict=True))
            self._words += map(line_words, new)
        return [self._rows[text] for text in texts]


@cache
def remembered() -> Wording:
    """Return the measures that this process remembers."""
    return Wording()


def line_words(text: str) -> frozenset[str]:
    """Return the words of a short line; a long one has none.

    >>> sorted(line_words("Add to Cart (2)"))
    ['add', 'cart', 'to']
    """
    if len(text) > _MOST_CHARACTERS:
        return frozenset()
    found = (_ASCII_WORDS if text.isascii() else _WORDS).findall(text.lower())
    return frozenset(found) if len(found) <= MOST_WORDS else frozenset()


def _measured(texts: Sequence[str]) -> Matrix:
    """Return the measures of different texts, none of which is empty."""
    size = np.array(list(map(len, texts)), dtype=np.float64)
    codes, starts = _codes(texts, size)
    digits = np.add.reduceat(codes - ord("0") < 10, starts, dtype=np.float64)
    counted = list(zip(texts, digits.tolist(), strict=True))
    columns = (
        size,
        digits,
        [text.count(",") for text in texts],
        ["©" in text for text in texts],
        ["|" in text or "•" in text for text in texts],
        _capitals(codes, starts),
        [text[-1] in _SENTENCE_ENDS for text in texts],
        [text[-1] == ":" for text in texts],
        [text[0] == "<" for text in texts],
        [text.isupper() for text in texts],
        [text.partition(" ")[0].islower() for text in texts],
        [count > 0 and len(text) < SHORT and bool(_PRICE.search(text)) for text, count in counted],
        [
            (count > 0 or "ago" in text) and len(text) < SHORT and bool(_DATE.search(text))
            for text, count in counted
        ],
        [(len(text) if text.isascii() else len(text.encode())) > LONG for text in texts],
    )
    return np.array(columns, dtype=np.float64).T


def _codes(texts: Sequence[str], size: NDArray[np.float64]) -> tuple[Codes, Starts]:
    """Return the characters of texts of lengths ``size``, one after the other, and the start of each text."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), "<u4")
    return codes, (np.cumsum(size) - size).astype(np.int64)


def _capitals(codes: Codes, starts: Starts) -> NDArray[np.float64]:
    """Return the number of capitalised words among the first words of each text."""
    first = np.concatenate(([True], codes[:-1] == ord(" ")))
    first[starts] = True
    at = np.flatnonzero(first)  # where the words start
    upto = np.searchsorted(at, starts)  # words before each text
    counts = np.diff(upto, append=len(at))
    early = np.arange(len(at)) - np.repeat(upto, counts) < FIRST
    letters = codes[at]
    upper = letters - ord("A") < 26
    for index in np.flatnonzero(letters > 127):
        upper[index] = chr(letters[index]).isupper()
    return np.add.reduceat(upper & early, upto, dtype=np.float64)
