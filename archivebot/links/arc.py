"""ARC: HITS in which a link counts more if the text around it mentions the topic.

Method: Chakrabarti, Dom, Gibson, Kleinberg, Raghavan, Rajagopalan, "Automatic resource compilation by
analyzing hyperlink structure and associated text", 1998.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from archivebot.links.graph import LinkGraph, Weights
from archivebot.links.hits import Hits, base_set, hits

RADIUS = 2

# Only the order of the first 15 must be stable, which it is after this many rounds.
ROUNDS = 5


def arc(graph: LinkGraph, *, rounds: int = ROUNDS) -> Hits:
    """Return hubs and authorities of a graph whose edges weigh 1 + n(t).

    n(t) counts the words of the topic in the text of the link. With W the matrix of weights (row:
    source), a round makes A = W^T H, then H = W A, each scaled.

    >>> from archivebot.links.graph import parse
    >>> arc(parse(["a -> x 1", "a -> y 3"])).authorities.round(3).tolist()
    [0.0, 0.316, 0.949]
    """
    return hits(graph, rounds=rounds)


def root_set(graph: LinkGraph) -> list[str]:
    """Return the pages whose links contain words of the topic, those with the most words first.

    >>> from archivebot.links.graph import parse
    >>> root_set(parse(["a -> x 1", "a -> y 2", "b -> y 3", "b -> z 2"]))
    ['y', 'z']
    """
    values = named(graph)
    return [graph.urls[node] for node in np.argsort(-values, kind="stable") if values[node]]


def named(graph: LinkGraph) -> Weights:
    """Return for each page the words of the topic in the links to it, of a graph weighted as for ARC.

    >>> from archivebot.links.graph import parse
    >>> named(parse(["a -> x 1", "a -> y 2", "b -> y 3"])).tolist()
    [0.0, 0.0, 3.0, 0.0]
    """
    _, targets, weights = graph.edges
    return np.bincount(targets, np.maximum(weights - 1, 0), len(graph)).astype(np.float64)


def augmented_set(graph: LinkGraph, root: Iterable[str]) -> LinkGraph:
    """Return the part of a graph that ARC uses: the base set of HITS, two links wide.

    >>> from archivebot.links.graph import parse
    >>> sorted(augmented_set(parse(["a -> b", "b -> c", "c -> d"]), ["a"]).urls)
    ['a', 'b', 'c']
    """
    return base_set(graph, root, radius=RADIUS)
