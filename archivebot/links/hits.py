"""HITS: hubs link to good authorities, and good hubs link to authorities.

Method: Kleinberg, "Authoritative sources in a hyperlinked environment", Journal of the ACM 46(5), 1999.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

import numpy as np

from archivebot.links.graph import LinkGraph, Numbers, Weights

# Kleinberg found about 20 rounds enough; close eigenvalues take more.
ROUNDS = 100
MOVEMENT = 1e-9

# The root set is the best pages of a search; each adds at most this many of the pages that link to it.
MOST_ROOTS = 200
MOST_LINKING = 50


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """The hub and the authority value of every node; the squares of each sum to 1, or all are 0."""

    hubs: Weights
    authorities: Weights


def hits(graph: LinkGraph, *, rounds: int = ROUNDS) -> Hits:
    """Return hubs and authorities of a graph; each edge counts with its weight.

    A round makes x(p) = sum of y(q) over q -> p, then y(p) = sum of x(q) over p -> q, each scaled.

    >>> from archivebot.links.graph import parse
    >>> found = hits(parse(["a x y", "b x"]))
    >>> found.authorities.round(3).tolist(), found.hubs.round(3).tolist()
    ([0.0, 0.0, 0.851, 0.526], [0.851, 0.526, 0.0, 0.0])
    """
    sources, targets, weights = graph.edges
    hubs, authorities = np.ones(len(graph)), np.zeros(len(graph))
    for _ in range(rounds):
        hubs_before = hubs
        authorities = _unit(_sums(targets, weights * hubs[sources], len(graph)))
        hubs = _unit(_sums(sources, weights * authorities[targets], len(graph)))
        if np.abs(hubs - hubs_before).max(initial=0) < MOVEMENT:
            break
    return Hits(hubs, authorities)


def base_set(graph: LinkGraph, root: Iterable[str], *, radius: int = 1) -> LinkGraph:
    """Return the part of a graph that HITS uses.

    It is made of the first 200 pages of ``root`` that are in the graph, all pages that they link to, and for
    each at most 50 pages that link to it; the same again for a larger ``radius``.

    >>> from archivebot.links.graph import parse
    >>> graph = parse(["a -> b", "b -> c", "c -> d", "z -> a"])
    >>> sorted(base_set(graph, ["a"]).urls), sorted(base_set(graph, ["a"], radius=2).urls)
    (['a', 'b', 'z'], ['a', 'b', 'c', 'z'])
    """
    known = (graph.numbers[url] for url in root if url in graph.numbers)
    nodes = np.array(list(islice(known, MOST_ROOTS)), dtype=np.int64)
    linking = graph.matrix.T.tocsr()
    for _ in range(radius):
        targets = graph.matrix[nodes].indices
        sources = [linking.indices[start:stop][:MOST_LINKING] for start, stop in _rows(linking.indptr, nodes)]
        nodes = np.unique(np.concatenate([nodes, targets, *sources]))
    return graph.among(nodes)


def _sums(nodes: Numbers, values: Weights, size: int) -> Weights:
    """Return the sum of the values at each node."""
    return np.bincount(nodes, values, size).astype(np.float64)


def _rows(starts: Numbers, nodes: Numbers) -> Iterable[tuple[int, int]]:
    return zip(starts[nodes].tolist(), starts[nodes + 1].tolist(), strict=True)


def _unit(values: Weights) -> Weights:
    length = float(np.linalg.norm(values))
    return values / length if length else values
