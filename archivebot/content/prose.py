"""The position of a line relative to the running text of its page: before, inside or after it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from archivebot.content.lines import Line
from archivebot.content.surroundings import Around, Ranges, within
from archivebot.content.wording import COLUMNS

Column = NDArray[np.float64]

# Shares of the running text of a page; the smallest element with such a share is the body of the text.
SHARES = (0.5, 0.75, 0.9)

# Maximum distance of running text in lines; larger distances are clipped.
_FAR = 50


@dataclass(frozen=True, slots=True)
class Body:
    """The lines [first, last) of the smallest element that holds a share of the running text."""

    first: int
    last: int

    @classmethod
    def of(cls, around: Around, prose: Column, shares: Sequence[float]) -> list[Body]:
        """Find the element for each share; ``prose`` counts the characters of running text of each line."""
        first, last = around.spans
        held, total, sizes = within(prose, first, last), prose.sum(), last - first
        found = []
        for share in shares:
            large = np.where(held >= share * total, sizes, len(prose) + 1)
            at = len(large) - 1 - int(large[::-1].argmin())
            found.append(cls(int(first[at]), int(last[at])))
        return found


def measures(around: Around, prose: Column) -> dict[str, Column]:
    """Measure the position of each line relative to the running text of the page."""
    count, total = len(prose), max(prose.sum(), 1.0)
    index = np.arange(count)
    runs = prose > 0
    upto = np.cumsum(prose)
    before = np.maximum.accumulate(np.where(runs, index, -_FAR))
    behind = np.minimum.accumulate(np.where(runs, index, count + _FAR)[::-1])[::-1]
    columns = {
        "prose before": (upto - prose) / total,
        "prose behind": (total - upto) / total,
        "since prose": np.log1p(np.minimum(index - before, _FAR)),
        "until prose": np.log1p(np.minimum(behind - index, _FAR)),
    }
    for share, body in zip(SHARES, Body.of(around, prose, SHARES), strict=True):
        inside = (index >= body.first) & (index < body.last)
        columns[f"in body {share}"] = inside.astype(np.float64)
        columns[f"behind body {share}"] = (index >= body.last).astype(np.float64)
        columns[f"share of body {share}"] = np.full(count, prose[inside].sum() / total)
    return columns


def long_lines(around: Around) -> NDArray[np.bool_]:
    """Return which lines are as long as running text."""
    long: NDArray[np.bool_] = around.wording[0][:, COLUMNS.index("long")] > 0
    return long.take(around.text)


def running(lines: Sequence[Line], long: NDArray[np.bool_]) -> Column:
    """Return the characters of running text of each line, without links.

    In a page without running text, all lines count.
    """
    size = np.array([len(line.text) - line.linked for line in lines], dtype=np.float64)
    prose = np.where(long, size, 0.0)
    return prose if prose.any() else size


def body_ranges(around: Around, prose: Column) -> tuple[Ranges, Ranges]:
    """Return for each line the range of lines of the body of the page."""
    [body] = Body.of(around, prose, SHARES[1:2])
    return np.full(len(prose), body.first), np.full(len(prose), body.last)
