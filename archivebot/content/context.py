"""The context of a line: the lines around it, in its elements, and of its kind in the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from archivebot.content.lines import Line
from archivebot.content.surroundings import LEVELS, SHARES, Around, Column, Ranges

Matrix = NDArray[np.float64]

# Lines considered before and after a line, and on both sides together for the wider range.
CLOSE = 4
WIDE = 12

# Share of the mean score of similar lines in the score of each. Without it, an article with a likely first
# half and a less likely second half was cut in two.
TOGETHER = 0.5

# Lines whose contexts are in memory at a time. Most pages have fewer; the 27,714 lines of a page of 2.7 MB
# took 110 MB at once.
MOST_ROWS = 1024

# Which of the bodies of running text is in the context of each line.
_BODY = SHARES.index(0.75)

# Means of a value over the context of a line.
MEANS = LEVELS + 8


@dataclass(frozen=True)
class Context:
    """The context of each line: ranges [first, last) of lines, a row for each range, and its kind.

    The ranges are the four elements around the line, the page, the lines close before it, close after it,
    and both, all lines before, all lines after, and the body of running text. Lines of one kind in one
    element are ``alike``. Longer lines have larger ``weights``.
    """

    first: Ranges
    last: Ranges
    kinds: NDArray[np.int64]
    alike: NDArray[np.int64]
    weights: Column

    @classmethod
    def of(cls, lines: Sequence[Line], around: Around) -> Context:
        count = len(lines)
        index = np.arange(count)
        before = np.maximum(index - CLOSE, 0), np.maximum(index, 1)
        behind = np.minimum(index + 1, count - 1), np.minimum(index + CLOSE + 1, count)
        both = np.maximum(index - WIDE, 0), np.minimum(index + WIDE + 1, count)
        page = np.zeros_like(index), np.full_like(index, count)
        start = np.zeros_like(index), np.maximum(index, 1)
        end = np.minimum(index + 1, count - 1), page[1]
        body = tuple(np.full(count, each[_BODY]) for each in around.bodies)
        spans = (page, before, behind, both, start, end, body)
        return cls(
            np.vstack([around.first, *(first for first, _ in spans)]),
            np.vstack([around.last, *(last for _, last in spans)]),
            around.kind,
            _numbered(around.kind, around.first[1], around.last[1]),
            np.sqrt(around.counts[0]) + 0.5,
        )

    def beside(self, values: Matrix) -> Matrix:
        """Return a row for each line: its values, and their weighted means over each range and the kind."""
        return np.concatenate(list(self.parts(values)))

    def parts(self, values: Matrix) -> Iterator[Matrix]:
        """Yield the rows of :meth:`beside`, at most MOST_ROWS at a time."""
        count, width = values.shape
        weighted = values * self.weights[:, None]
        sums = np.zeros((count + 1, width))
        weighted.cumsum(axis=0, out=sums[1:])
        alike = summed(self.kinds, weighted)
        for start in range(0, count, MOST_ROWS):
            rows = slice(start, start + MOST_ROWS)
            found = np.empty((min(MOST_ROWS, count - start), MEANS + 1, width))
            found[:, 0] = values[rows]
            inside = found[:, 1:-1]
            np.subtract(
                sums.take(self.last.T[rows], axis=0), sums.take(self.first.T[rows], axis=0), out=inside
            )
            found[:, -1] = alike.take(self.kinds[rows], axis=0)
            found[:, 1:] /= self._spans[rows, :, None]
            yield found.reshape(len(found), -1)

    def shares(self, slopes: Sequence[Matrix]) -> Matrix:
        """Return the slopes of the values from the slopes of their means: :meth:`beside` transposed."""
        count = len(self.weights)
        *ranges, alike = (slope / span[:, None] for slope, span in zip(slopes, self._spans.T, strict=True))
        ends = np.zeros((count + 1, alike.shape[1]))
        for first, last, slope in zip(self.first, self.last, ranges, strict=True):
            ends += summed(last, slope, count + 1) - summed(first, slope, count + 1)
        inside = np.cumsum(ends[::-1], axis=0)[::-1][1:]
        found: Matrix = (inside + summed(self.kinds, alike)[self.kinds]) * self.weights[:, None]
        return found

    def together(self, scores: Column) -> Column:
        """Pull the scores of similar lines towards their mean."""
        sums = np.bincount(self.alike, scores * self.weights) / np.bincount(self.alike, self.weights)
        drawn: Column = (1 - TOGETHER) * scores + TOGETHER * sums[self.alike]
        return drawn

    def apart(self, slopes: Column) -> Column:
        """Return the transposed of :meth:`together`, for slopes of its results."""
        sums = np.bincount(self.alike, slopes) / np.bincount(self.alike, self.weights)
        found: Column = (1 - TOGETHER) * slopes + TOGETHER * self.weights * sums[self.alike]
        return found

    @cached_property
    def _spans(self) -> Matrix:
        """The weights of each range, and of the kind; a row for each line."""
        sums = np.concatenate(([0.0], np.cumsum(self.weights)))
        ranges = sums.take(self.last.T) - sums.take(self.first.T)
        return np.column_stack((ranges, np.bincount(self.kinds, self.weights).take(self.kinds)))


def _numbered(*columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for each row; equal rows have the same number."""
    key = np.zeros_like(columns[0])
    for column in columns:
        key = key * (int(column.max()) + 1) + column
    numbers: NDArray[np.int64] = np.unique(key, return_inverse=True)[1]
    return numbers


def summed(groups: NDArray[np.int64], values: Matrix, count: int = 0) -> Matrix:
    """Sum the rows of each group.

    >>> summed(np.array([1, 0, 1]), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])).tolist()
    [[3.0, 4.0], [6.0, 8.0]]
    """
    width = values.shape[1]
    cells = (groups[:, None] * width + np.arange(width)).ravel()
    return np.bincount(cells, values.ravel(), count * width).reshape(-1, width).astype(np.float64, copy=False)
