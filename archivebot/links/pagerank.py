"""PageRank: how often a surfer who follows links at random visits a page."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array, diags_array

from archivebot.links.graph import LinkGraph, Weights

DAMPING = 0.85
ROUNDS = 50
BASE = 6.0  # of the levels

# The iteration ends when the mean change of a page is below this value, and the order of the first pages, as
# many as anybody reads, is the same as in the previous round. An order alone is often the same by chance.
MOVEMENT = 1e-6
LEADING = 100


def pagerank(
    graph: LinkGraph,
    *,
    damping: float = DAMPING,
    towards: Mapping[str, float] | None = None,
    rounds: int = ROUNDS,
) -> Weights:
    """Return the rank of every node of a graph; the ranks sum to the number of nodes.

    PR(A) = (1 - d) + d * sum of PR(T) * w(T, A) / W(T), over the pages T that link to A, where W(T) is the
    sum of the weights of all links of T. With equal weights this is the formula of Brin and Page, "The
    anatomy of a large-scale hypertextual Web search engine", 1998. The rank of a page without links, or with
    links of weight 0 only, is distributed like (1 - d): over all pages equally, or in proportion to the
    weights of ``towards``.

    ``rounds`` is the maximum number of rounds.

    >>> from archivebot.links.graph import parse
    >>> triangle = parse(["a b c", "b c", "c a"])
    >>> pagerank(triangle, damping=0.5).round(6).tolist()
    [1.076923, 0.769231, 1.153846]
    >>> pagerank(triangle, damping=0.5, rounds=1).tolist()
    [1.0, 0.75, 1.25]
    >>> pagerank(parse(["a"])).tolist(), pagerank(parse([])).tolist()
    ([1.0], [])
    """
    if not len(graph):
        return np.zeros(0)
    sums = np.asarray(graph.matrix.sum(axis=1), dtype=np.float64)
    dangling = sums == 0
    shares = np.divide(1.0, sums, out=np.zeros_like(sums), where=~dangling)
    flow = csr_array((diags_array(shares) @ graph.matrix).T)
    spread = _spread(graph, towards)

    ranks = np.ones(len(graph))
    order = np.argsort(-ranks, kind="stable")[:LEADING]
    for _ in range(rounds):
        before, order_before = ranks, order
        given = spread * ((1 - damping) * len(graph) + damping * ranks[dangling].sum())
        ranks = given + damping * (flow @ ranks)
        order = np.argsort(-ranks, kind="stable")[:LEADING]
        moved = np.abs(ranks - before).sum() / len(graph)
        if moved < MOVEMENT and np.array_equal(order, order_before):
            break
    return ranks


def levels(ranks: Weights) -> Weights:
    """Return the logarithm of ranks to the base 6: 0 for the least rank, 1 - d, and 1 for six times as much.

    >>> levels(np.array([0.15, 0.9, 5.4])).round(6).tolist()
    [0.0, 1.0, 2.0]
    """
    return np.log(np.maximum(ranks / (1 - DAMPING), 1.0)) / math.log(BASE)


def _spread(graph: LinkGraph, towards: Mapping[str, float] | None) -> Weights:
    """Return the share of each page in the rank that links do not pass on."""
    weights = np.array([towards.get(url, 0.0) for url in graph.urls] if towards else [])
    total = weights.sum()
    return weights / total if total else np.full(len(graph), 1 / len(graph))
