"""Tunnels: runs of off-topic pages that a focused crawl passes to reach the topic again."""

from __future__ import annotations

import math

# The factor of a link's odds for each off-topic page in a row. Area on WebKB: 0.881 with 1, 0.886 with 0.95
# and 0.879 with 0.8; the link model already knows which pages lead to the topic.
DECAY = 0.95


def distance(before: int, relevant: bool | None) -> int:
    """Return the number of off-topic pages in a row including this page; ``before`` is the previous number.

    A page on topic ends the tunnel; a page that could not be judged neither ends nor lengthens it.

    >>> distance(2, relevant=True), distance(2, relevant=False), distance(2, relevant=None)
    (0, 3, 2)
    """
    if relevant is None:
        return before
    return 0 if relevant else before + 1


def decayed(distance: int, factor: float = DECAY) -> float:
    """Return the effect of a distance on the log-odds of a link, in nats: 0 or less.

    >>> decayed(0) == 0.0, round(decayed(2, factor=0.5), 4)
    (True, -1.3863)
    """
    return distance * math.log(factor)


def beyond(distance: int, depth: int | None) -> bool:
    """Return whether links of a page lie beyond a tunnel of ``depth`` off-topic pages; None has no end.

    >>> beyond(2, 2), beyond(3, 2), beyond(1, 0), beyond(99, None)
    (False, True, True, False)
    """
    return depth is not None and distance > depth
