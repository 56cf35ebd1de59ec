"""The position of a line relative to the running text of its page: before, inside or after it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from archivebot.content.surroundings import SHARES, Around, of_page

Column = NDArray[np.float64]

# Maximum distance of running text in lines; larger distances are clipped.
_FAR = 50


def measures(around: Around) -> dict[str, Column]:
    """Measure the position of each line relative to the running text of the page."""
    prose = around.prose
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
    first, last = (each[:, None] for each in around.bodies)
    is_behind = index >= last
    inside = (index >= first) & ~is_behind
    for share, *rows in zip(SHARES, inside, is_behind, strict=True):
        names = f"in body {share}", f"behind body {share}"
        columns |= dict(zip(names, rows, strict=True))
    shares = zip(SHARES, (inside @ prose / total).tolist(), strict=True)
    return columns | of_page({f"share of body {share}": held for share, held in shares}, count)
