"""The habits of a line in earlier versions of a page: it comes and goes, or it is a counter."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

# Maximum of earlier versions that are read.
MOST_VERSIONS = 8

# Minimum of earlier times that a line came or went: a paragraph that is removed and restored went once; of
# two alternating texts each line came and went twice.
LEAST_TURNS = 2

# Minimum of consecutive versions, including the latest, in which a counter shows different numbers.
LEAST_COUNTS = 4

# Maximum of characters of a counter.
MOST_CHARACTERS = 60

_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")

_LETTER = re.compile(r"[^\W\d_]")

Lines = Sequence[str]


def may_count(line: str) -> bool:
    """Return whether a line is short and has both words and numbers.

    >>> may_count("Seen 12 times"), may_count("12"), may_count("Seen")
    (True, False, False)
    """
    return len(line) <= MOST_CHARACTERS and bool(_DIGITS.search(line) and _LETTER.search(line))


class Habits:
    """The lines of the earlier versions of a page, oldest first, the latest last."""

    def __init__(self, versions: Sequence[Lines]) -> None:
        self._lines = [frozenset(lines) for lines in versions]
        self._shapes: list[dict[str, set[str]]] = []

    def alternates(self, line: str) -> bool:
        """Return whether a line has repeatedly come and gone in the earlier versions.

        >>> Habits([["a", "x"], ["a"], ["a", "x"]]).alternates("x"), Habits([["x"], ["a"]]).alternates("x")
        (True, False)
        """
        stood = [line in lines for lines in self._lines]
        return sum(then != later for then, later in pairwise(stood)) >= LEAST_TURNS

    def counts(self, line: str) -> bool:
        """Return whether a short line of words and numbers had other numbers in each of the latest versions.

        >>> Habits([["Seen 1"], ["Seen 2"], ["Seen 5"], ["Seen 7"]]).counts("Seen 9")
        True
        >>> Habits([["Since 1"], ["Since 2"], ["Since 2"], ["Since 3"]]).counts("Since 4")
        False
        """
        if not may_count(line):
            return False
        if not self._shapes:
            self._shapes = [_by_shape(lines) for lines in self._lines[-LEAST_COUNTS:]]
        shown = [shapes.get(_shape(line)) for shapes in self._shapes]
        return len(shown) == LEAST_COUNTS and all(a and b and not a & b for a, b in pairwise(shown))


def _shape(line: str) -> str:
    return _DIGITS.sub("0", line)


def _by_shape(lines: frozenset[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for line in lines:
        if len(line) <= MOST_CHARACTERS:
            found.setdefault(_shape(line), set()).add(line)
    return found
