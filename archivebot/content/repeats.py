"""Which lines of a page repeat earlier lines, and whether the repetition is next to them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from archivebot.content.lines import Line

Column = NDArray[np.float64]


def measures(lines: Sequence[Line]) -> dict[str, Column]:
    """Measure how lines repeat earlier ones.

    A refrain is near the line that it repeats. The same text for narrow screens, or in a slide, is elsewhere,
    with the lines around it repeated in the same order.
    """
    last: dict[str, int] = {}
    before = np.full(len(lines), -1)
    times = np.zeros(len(lines))
    beside = np.zeros(len(lines))
    for index, line in enumerate(lines):
        at = last.get(line.text)
        if at is not None:
            before[index] = at
            times[index] = times[at] + 1
            beside[index] = lines[at].place.parent is line.place.parent
        last[line.text] = index
    repeated = before >= 0
    follows = np.zeros(len(lines), dtype=bool)
    follows[1:] = repeated[1:] & (before[1:] == before[:-1] + 1)
    run = follows | np.concatenate((follows[1:], [False]))
    figures = {"said before": np.log1p(times), "said beside": beside, "said in a run": run}
    return {name: figure.astype(np.float64) for name, figure in figures.items()}
