"""The main text of a page: those of its lines that are worth most together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from archivebot.content.lines import Line, Place
from archivebot.content.surroundings import Column

# Words from which a line that was said before is left out: pages hold the same text again for narrow
# screens and in their slides. F1 on the WCXB corpus, cross-validated, is 0.798 with all lines, 0.808
# with 2 or 3, 0.805 with 10.
LEAST_REPEATED = 3


def choose(likelihood: Column, words: Sequence[int]) -> NDArray[np.bool_]:
    """Choose the lines of highest likelihood for which the expected F1 over words is greatest.

    ``words`` counts the words of each line. One threshold for all pages would do worse: on the WCXB
    corpus, cross-validated and repeats kept, 0.766 with 0.5 and 0.770 with 0.4, against 0.778. At least
    one line is chosen where there is one. After Nan, Chai, Lee, Chieu, "Optimizing F-measure: a tale of
    two approaches", 2012, with the expectations of numerator and denominator in place of that of F1.

    >>> choose(np.array([0.9, 0.1, 0.6]), [100, 100, 30]).tolist()
    [True, False, True]
    >>> choose(np.array([0.01, 0.02]), [5, 5]).tolist(), choose(np.zeros(0), []).tolist()
    ([False, True], [])
    """
    chosen = np.zeros(len(likelihood), dtype=bool)
    if len(likelihood):
        order = np.argsort(-likelihood, kind="stable")
        sizes = np.asarray(words, dtype=np.float64)[order]
        right = np.cumsum(likelihood[order] * sizes)
        expected = right / np.maximum(np.cumsum(sizes) + right[-1], 1e-9)
        chosen[order[: int(expected.argmax()) + 1]] = True
    return chosen


def joined(lines: Iterable[str], chosen: Iterable[bool]) -> str:
    """Give the chosen lines one below the other, each of several words only once.

    >>> joined(["New", "A chair of oak", "New", "A chair of oak", "Menu"], [True, True, True, True, False])
    'New\\nA chair of oak\\nNew'
    """
    said: set[str] = set()
    kept = []
    for text, yes in zip(lines, chosen, strict=True):
        if yes and text not in said:
            kept.append(text)
            if len(text.split()) >= LEAST_REPEATED:
                said.add(text)
    return "\n".join(kept)


def ranges(
    places: Iterable[Place], lines: Sequence[Line], chosen: NDArray[np.bool_]
) -> list[tuple[int, int]]:
    """Give the source ranges of the largest elements of which every line is chosen, in order.

    A chosen line that stands loose beside others in one element is in no range.
    """
    missing = np.concatenate(([0], np.cumsum(~chosen))).tolist()
    found: list[tuple[int, int]] = []
    end = 0  # the line behind the last range
    for place in places:
        if end <= place.first < place.last and missing[place.first] == missing[place.last]:
            at = place.source
            if at and (not found or at[0] >= found[-1][1]):
                found.append(at)
                end = place.last
    return found
