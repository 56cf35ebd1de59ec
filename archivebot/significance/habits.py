"""What the earlier versions of a page tell of a line: that it comes and goes, or counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

# Earlier versions that are looked at.
MOST_VERSIONS = 8

# Times that a line has to have come or gone before: a paragraph that was taken out and is put back has
# once, of two texts that take turns each line has twice.
LEAST_TURNS = 2

# Versions in a row, the latest among them, in each of which a counter has to show another number.
LEAST_COUNTS = 4

# Characters up to which a line can be a counter.
MOST_CHARACTERS = 60

_DIGITS = re.compile(r"\d+(?:[.,:]\d+)*")

_LETTER = re.compile(r"[^\W\d_]")

Lines = Sequence[str]


def may_count(line: str) -> bool:
    """Return whether a line is short, and of words as well as numbers.

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
        """Return whether a line has come and gone, or gone and come, before now.

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
