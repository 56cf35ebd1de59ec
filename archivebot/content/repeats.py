"""Which lines of a page repeat earlier lines, and whether the repetition is next to them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from archivebot.content.surroundings import Around

Column = NDArray[np.float64]


def measures(around: Around) -> dict[str, Column]:
    """Measure how lines repeat earlier ones.

    A refrain is near the line that it repeats. The same text for narrow screens, or in a slide, is elsewhere,
    with the lines around it repeated in the same order.
    """
    count = len(around.text)
    order = np.argsort(around.text, kind="stable")  # the lines of each text together, in order
    again = np.flatnonzero(around.text[order[1:]] == around.text[order[:-1]])
    before = np.full(count, -1)
    before[order[again + 1]] = order[again]
    repeated = before >= 0
    sizes = np.bincount(around.text)
    times = np.empty(count)
    times[order] = np.arange(count) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    outer = np.array([id(place.parent) for place in around.places])[around.index]
    beside = repeated & (outer[before] == outer)
    follows = np.zeros(count, dtype=bool)
    follows[1:] = repeated[1:] & (before[1:] == before[:-1] + 1)
    run = follows | np.concatenate((follows[1:], [False]))
    figures = {"said before": np.log1p(times), "said beside": beside, "said in a run": run}
    return {name: figure.astype(np.float64) for name, figure in figures.items()}
