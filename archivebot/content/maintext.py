"""The main text of a page: the set of lines with the greatest expected F1."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from archivebot.content.lines import Line, Place
from archivebot.content.surroundings import Column, Kind

# The model is overconfident: before its likelihoods are added up, their odds are raised to this power and
# multiplied by this factor. Word F1 on the WCXB corpus, cross-validated by site, is 0.814 with this
# correction and 0.812 without, on the articles of a reader mode 0.940 and 0.932; with a power of 0.5 or 0.7
# it is 0.813 and 0.939.
POWER = 0.6
FACTOR = 0.8

# Minimum of words of a line that is omitted if it repeats a line in an element of another kind. Word F1, as
# above, is 0.817 and 0.944 with this rule, 0.814 and 0.940 with all lines; if repetitions of the same kind
# are also omitted, it is 0.817 and 0.905.
LEAST_REPEATED = 3


def choose(likelihood: Column, words: Sequence[int]) -> NDArray[np.bool_]:
    """Return which lines to choose: those of highest likelihood, with the greatest expected word F1.

    ``words`` counts the words of each line. One threshold for all pages would do worse: on the WCXB corpus,
    cross-validated and repeats kept, 0.766 with 0.5 and 0.770 with 0.4, against 0.778. At least one line is
    chosen if there are any. After Nan, Chai, Lee, Chieu, "Optimizing F-measure: a tale of two approaches",
    2012, with the expectations of numerator and denominator in place of that of F1.

    >>> choose(np.array([0.9, 0.1, 0.6]), [100, 100, 30]).tolist()
    [True, False, True]
    >>> choose(np.array([0.01, 0.02]), [5, 5]).tolist(), choose(np.zeros(0), []).tolist()
    ([False, True], [])
    """
    chosen = np.zeros(len(likelihood), dtype=bool)
    if len(likelihood):
        order = np.argsort(-likelihood, kind="stable")
        sizes = np.asarray(words, dtype=np.float64)[order]
        right = np.cumsum(tempered(likelihood[order]) * sizes)
        expected = right / np.maximum(np.cumsum(sizes) + right[-1], 1e-9)
        chosen[order[: int(expected.argmax()) + 1]] = True
    return chosen


def tempered(likelihood: Column) -> Column:
    """Return calibrated likelihoods."""
    odds = FACTOR * (likelihood / np.maximum(1 - likelihood, 1e-9)) ** POWER
    found: Column = odds / (1 + odds)
    return found


def joined(lines: Iterable[Line], chosen: Iterable[bool]) -> str:
    """Return the chosen lines one below the other, with their line breaks and blank lines.

    >>> place = Place("pre", None, None, 0, 0)
    >>> code = [Line("a b", 2, place, laid_out="a\\n b"), Line("c", 1, place, parted=True)]
    >>> joined(code, [True, True]), joined(code, [False, True])
    ('a\\n b\\n\\nc', 'c')
    """
    kept = (f"\n{line.shown}" if line.parted else line.shown for line in _originals(lines, chosen))
    return "\n".join(kept).removeprefix("\n")


def _originals(lines: Iterable[Line], chosen: Iterable[bool]) -> Iterator[Line]:
    """Yield the chosen lines, except repetitions of a line in an element of another kind.

    Examples are the same text for narrow screens, and a pull quote. A refrain stays, and so does a heading
    that a table of contents lists.
    """
    kinds_of: dict[str, set[Kind]] = {}
    for line in compress(lines, chosen):
        if line.words < LEAST_REPEATED:
            yield line
            continue
        kinds, kind = kinds_of.setdefault(line.text, set()), line.place.kind
        if not kinds or kind in kinds:
            yield line
            if 2 * line.linked < len(line.text):
                kinds.add(kind)


def ranges(
    places: Iterable[Place], lines: Sequence[Line], chosen: NDArray[np.bool_]
) -> list[tuple[int, int]]:
    """Return the source ranges of the largest elements whose lines are all chosen, in order.

    A chosen line that shares its element with other lines is in no range.
    """
    missing = np.concatenate(([0], np.cumsum(~chosen))).tolist()
    found: list[tuple[int, int]] = []
    end = 0  # the line after the last range
    for place in places:
        if end <= place.first < place.last and missing[place.first] == missing[place.last]:
            at = place.source
            if at and (not found or at[0] >= found[-1][1]):
                found.append(at)
                end = place.last
    return found
