"""IPageRank: PageRank of a surfer who prefers links to a topic.

Method: Li, Zhao, Yu, "Design and Realization of Focused Web Crawler", about 2002.
"""

from __future__ import annotations

from archivebot.links.graph import LinkGraph, Weights
from archivebot.links.pagerank import DAMPING, ROUNDS, pagerank


def ipagerank(
    graph: LinkGraph,
    *,
    damping: float = DAMPING,
    rounds: int = ROUNDS,
) -> Weights:
    """Return the rank of every node of a graph whose edges weigh RW; the ranks sum to the number of nodes.

    IPR(A) = (1 - d) + d * sum of IPR(T) * RW(T, A) / (sum of RW over all links of T), over the pages T that
    link to A. A page whose links all weigh 0 passes its rank on to all pages equally, like a page without
    links. ``damping`` and ``rounds`` are as in :func:`~archivebot.links.pagerank.pagerank`.

    >>> from archivebot.links.graph import parse
    >>> ipagerank(parse(["a -> b 1", "a -> c 0", "b -> a 1", "c -> a 0"])).round(3).tolist()
    [1.395, 1.395, 0.209]
    """
    return pagerank(graph, damping=damping, rounds=rounds)
