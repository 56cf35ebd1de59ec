"""The lines that two versions of a text do not share, by position and wording."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import compress, count
from operator import ne

# Maximum of searches for unique lines in a stretch between common lines, before repeated lines are paired by
# their order. Of 2541 pairs of real versions none has another result with more searches; without a maximum a
# hostile page would take quadratic time.
ROUNDS = 3

Stretch = tuple[int, int, int, int]
Pair = tuple[int, int]


def changed(before: Sequence[str], after: Sequence[str]) -> tuple[list[int], list[int]]:
    """Return the indices of the lines only in ``before``, and of the lines only in ``after``.

    A line that moved past others is in both lists. After Cohen's patience diff: lines that occur once in each
    text are fixed points, and the stretches between them are compared recursively.

    >>> changed(["Home", "Terns", "Home", "End"], ["Home", "Terns", "Gulls", "Home", "End"])
    ([], [2])
    >>> changed(["a", "b", "c"], ["b", "c", "a"]), changed([], ["a"])
    (([0], [2]), ([], [0]))
    """
    if before == after:
        return [], []
    kept_before, kept_after = bytearray(len(before)), bytearray(len(after))
    for old, new, size in _kept(before, after):
        kept_before[old : old + size] = kept_after[new : new + size] = b"\1" * size
    return _missing(kept_before), _missing(kept_after)


def _missing(kept: bytearray) -> list[int]:
    return [index for index, yes in enumerate(kept) if not yes]


def _kept(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the runs (before, after, size) of unchanged lines."""
    waiting = [(0, len(before), 0, len(after), 0)]
    while waiting:
        first, last, start, end, rounds = waiting.pop()
        size = _alike(before[first:last], after[start:end])
        yield first, start, size
        first, start = first + size, start + size
        size = _alike(before[first:last][::-1], after[start:end][::-1])
        last, end = last - size, end - size
        yield last, end, size
        if first == last or start == end:
            continue
        stretch = first, last, start, end
        pairs = _unique(before, after, stretch) if rounds < ROUNDS else []
        if not pairs:
            yield from ((old, new, 1) for old, new in _rising(_in_turn(before, after, stretch)))
            continue
        for old, new in [*_rising(pairs), (last, end)]:
            waiting.append((first, old, start, new, rounds + 1))
            if old < last:
                yield old, new, 1
            first, start = old + 1, new + 1


def _alike(before: Sequence[str], after: Sequence[str]) -> int:
    """Return the number of lines with which both texts begin."""
    return next(compress(count(), map(ne, before, after)), min(len(before), len(after)))


def _unique(before: Sequence[str], after: Sequence[str], stretch: Stretch) -> list[Pair]:
    """Pair the lines that occur once on each side of a stretch."""
    sides = _places(before, *stretch[:2]), _places(after, *stretch[2:])
    return [
        (old[0], new[0])
        for text, old in sides[0].items()
        if len(old) == 1 and (new := sides[1].get(text)) and len(new) == 1
    ]


def _in_turn(before: Sequence[str], after: Sequence[str], stretch: Stretch) -> list[Pair]:
    """Pair equal lines of a stretch, the first with the first and so on."""
    places = _places(after, *stretch[2:])
    found = _places(before, *stretch[:2])
    return sorted(
        pair for text, old in found.items() for pair in zip(old, places.get(text, ()), strict=False)
    )


def _places(lines: Sequence[str], first: int, last: int) -> dict[str, list[int]]:
    places: defaultdict[str, list[int]] = defaultdict(list)
    for index, line in enumerate(lines[first:last], first):
        places[line].append(index)
    return places


def _rising(pairs: list[Pair]) -> list[Pair]:
    """Keep the longest run of pairs that are in order on both sides (Fredman, 1975)."""
    tops: list[int] = []
    ends: list[int] = []
    previous: list[int] = []
    for index, (_, new) in enumerate(pairs):
        pile = bisect_left(tops, new)
        previous.append(ends[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [new]
        ends[pile : pile + 1] = [index]
    at = ends[-1] if ends else -1
    run = []
    while at >= 0:
        run.append(pairs[at])
        at = previous[at]
    return run[::-1]
