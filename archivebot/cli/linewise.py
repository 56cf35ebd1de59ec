"""The difference of two texts line by line, with the words that changed within a line."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from archivebot.significance.linediff import changed
from archivebot.terminal import ADDED, PLAIN, REMOVED, Piece
from archivebot.text import words
from archivebot.versioning import worddiff
from archivebot.versioning.align import dice
from archivebot.versioning.worddiff import word_changes

# The share of words that an edited line keeps; with fewer it is removed, and another line is added.
LEAST_ALIKE = 0.5

# Maximum of pairs of lines that are compared between two unchanged lines; further lines are not paired.
MOST_PAIRS = 2_500

# Unchanged lines that are shown before and after a change.
CONTEXT = 1

_STYLES = {worddiff.EQUAL: PLAIN, worddiff.REMOVED: REMOVED, worddiff.ADDED: ADDED}
_MARKS = {worddiff.EQUAL: "{}", worddiff.REMOVED: "[-{}-]", worddiff.ADDED: "{{+{}+}}"}

Row = tuple[int | None, int | None]


def linewise(before: str, after: str) -> Iterator[list[Piece]]:
    """Yield the lines to print, each as pieces with their styles.

    A line of both texts begins with blanks, an edited line with ``~``, others with ``-`` or ``+``. Lines far
    from any change are left out. Two texts of one line each are one edited line without a sign.

    >>> lines = linewise("Home\\nTerns\\n8 left", "Home\\nGulls\\n9 left")
    >>> ["".join(text for text, _ in line) for line in lines]
    ['    Home', '  - Terns', '  + Gulls', '  ~ [-8-]{+9+} left']
    >>> ["".join(text for text, _ in line) for line in linewise("open on Monday", "open on Friday")]
    ['    open on [-Monday-]{+Friday+}']
    """
    old, new = before.splitlines(), after.splitlines()
    if len(old) == len(new) == 1:
        yield _edited("    ", old[0], new[0])
        return
    rows = list(_rows(old, new))
    is_same = [i is not None and j is not None and old[i] == new[j] for i, j in rows]
    hidden = False
    for at, (i, j) in enumerate(rows):
        if is_same[at] and all(is_same[max(at - CONTEXT, 0) : at + CONTEXT + 1]):
            hidden = True
            continue
        if hidden:
            yield [("    ...", PLAIN)]
        hidden = False
        if i is not None and j is not None:
            yield [(f"    {new[j]}", PLAIN)] if is_same[at] else _edited("  ~ ", old[i], new[j])
        elif i is not None:
            yield [(f"  - {old[i]}", REMOVED)]
        elif j is not None:
            yield [(f"  + {new[j]}", ADDED)]
    if hidden:
        yield [("    ...", PLAIN)]


def _edited(begin: str, before: str, after: str) -> list[Piece]:
    pieces = [(_MARKS[what].format(text), _STYLES[what]) for what, text in word_changes(before, after)]
    return [(begin, PLAIN), *pieces]


def _rows(before: Sequence[str], after: Sequence[str]) -> Iterator[Row]:
    """Yield the lines of both texts in order, those in one row that are the same or edited."""
    removed, added = (set(side) for side in changed(before, after))
    i = j = 0
    while i < len(before) or j < len(after):
        first, start = i, j
        while i < len(before) and i in removed:
            i += 1
        while j < len(after) and j in added:
            j += 1
        yield from _paired(before, range(first, i), after, range(start, j))
        if i < len(before) and j < len(after):
            yield i, j
            i, j = i + 1, j + 1


def _paired(before: Sequence[str], old: range, after: Sequence[str], new: range) -> Iterator[Row]:
    """Yield the lines of a stretch, edited lines paired so that they are most alike in sum."""
    pairs = _best(before, old, after, new) if len(old) * len(new) <= MOST_PAIRS else []
    i, j = old.start, new.start
    for one, other in [*pairs, (old.stop, new.stop)]:
        yield from ((index, None) for index in range(i, one))
        yield from ((None, index) for index in range(j, other))
        if one < old.stop:
            yield one, other
        i, j = one + 1, other + 1


def _best(before: Sequence[str], old: range, after: Sequence[str], new: range) -> list[tuple[int, int]]:
    """Return the pairs of edited lines, in order (Needleman, Wunsch, 1970)."""
    left, right = ([Counter(words(text[i])) for i in lines] for text, lines in ((before, old), (after, new)))
    alike = [[found if (found := dice(a, b)) >= LEAST_ALIKE else 0.0 for b in right] for a in left]
    best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i in reversed(range(len(old))):
        for j in reversed(range(len(new))):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], alike[i][j] + best[i + 1][j + 1])
    pairs, i, j = [], 0, 0
    while i < len(old) and j < len(new):
        if alike[i][j] and best[i][j] == alike[i][j] + best[i + 1][j + 1]:
            pairs.append((old[i], new[j]))
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1
    return pairs
