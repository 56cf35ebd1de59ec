"""Clusters of sites by topic: sites whose pages use the same rare words."""

from __future__ import annotations

import heapq
import math
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from archivebot.topic.background import of_world
from archivebot.topic.vectors import Vector, centroid, unit

# Number of terms of a site that count, and the minimum mean cosine of the sites of two clusters at which the
# clusters are joined. Of 60 sites of documentation of 13 kinds (60 pages of each), 0.88 are in a cluster in
# which most sites are of their kind, and the adjusted Rand index is 0.52; from 0.25 to 0.30 it is at least
# 0.46. With 100 or 400 terms it is at most 0.47, and with the weight itself in place of its root 0.43.
MOST_TERMS = 200
ALIKE = 0.28

SHOWN = 6  # terms that describe a cluster

ROUNDING = 1e-9  # difference below which two cosines are equal


@dataclass(frozen=True, slots=True)
class Cluster:
    """Sites with a common topic, and the terms that describe it, the best first."""

    sites: tuple[str, ...]
    terms: tuple[str, ...]


@dataclass(slots=True)
class SiteTerms:
    """The terms of a site, gathered page by page."""

    pages: int = 0
    weights: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, counts: Vector) -> None:
        """Add the terms of a page; each page counts the same."""
        self.pages += 1
        for term, weight in unit(counts).items():
            self.weights[term] += weight

    def vector(self) -> Vector:
        """Return the best terms of the site, of length 1.

        The weight of a term is the root of its mean share of a page times its weight in the background.
        """
        weights = {
            term: math.sqrt(weight / self.pages * of_world(term)) for term, weight in self.weights.items()
        }
        return unit(dict(heapq.nlargest(MOST_TERMS, weights.items(), key=lambda item: item[1])))


def clusters(vectors: Mapping[str, Vector], alike: float = ALIKE) -> list[Cluster]:
    """Return the clusters of sites, the largest first.

    Average linkage of cosine distances (Sokal, Michener, "A statistical method for evaluating systematic
    relationships", 1958): two clusters are joined while the mean cosine of their sites is at least ``alike``.

    >>> sea, sky = {"tide": 1.0, "reef": 0.2}, {"star": 1.0}
    >>> [cluster.sites for cluster in clusters({"a": sea, "b": sky, "c": {"tide": 1.0}})]
    [('a', 'c'), ('b',)]
    >>> clusters({"a": sea})[0].terms, clusters({})
    (('tide', 'reef'), [])
    """
    sites = sorted(site for site, vector in vectors.items() if vector)
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for site, number in zip(sites, _numbers([vectors[site] for site in sites], alike), strict=True):
        groups[number].append(site)
    found = [Cluster(tuple(group), _leading([vectors[site] for site in group])) for group in groups.values()]
    return sorted(found, key=lambda cluster: (-len(cluster.sites), cluster.sites))


def _leading(vectors: Sequence[Vector]) -> tuple[str, ...]:
    mean = centroid(vectors)
    return tuple(heapq.nsmallest(SHOWN, mean, key=lambda term: (-mean[term], term)))


def _numbers(vectors: Sequence[Vector], alike: float) -> list[int]:
    """Return the number of the cluster of each vector.

    The mean cosine of two clusters is the product of their means, so no table of cosines is needed. A chain
    leads from a cluster to its nearest one, and so on; two that are nearest to each other are joined
    (Murtagh, "A survey of recent advances in hierarchical clustering algorithms", 1983).
    """
    if not vectors:
        return []
    import numpy as np  # imported here: it takes a fifth of a second

    matrix = _matrix(vectors)
    postings = matrix.T.tocsr()
    members = [[number] for number in range(len(vectors))]
    numbers, sizes = np.arange(len(vectors)), np.ones(len(vectors))
    waiting = np.ones(len(vectors), dtype=bool)  # the clusters that may still be joined
    chain: list[int] = []
    while chain or waiting.any():
        if not chain:
            chain.append(int(waiting.argmax()))
        last = chain[-1]
        mean = matrix[members[last]].sum(axis=0) / sizes[last]
        used = np.flatnonzero(mean)
        cosines = np.bincount(numbers, mean[used] @ postings[used], len(vectors)) / sizes
        cosines[~waiting] = cosines[last] = -np.inf
        nearest = int(cosines.argmax())
        if cosines[nearest] < alike - ROUNDING:
            waiting[chain.pop()] = False
        elif len(chain) > 1 and cosines[chain[-2]] > cosines[nearest] - ROUNDING:
            into = chain[-2]
            del chain[-2:]
            numbers[members[last]] = into
            members[into] += members[last]
            sizes[into] += sizes[last]
            waiting[last] = False
        else:
            chain.append(nearest)
    return [int(number) for number in numbers]


def _matrix(vectors: Sequence[Vector]) -> Any:
    """Return a sparse matrix with a row of length 1 for each vector."""
    from scipy.sparse import csr_array

    columns: dict[str, int] = {}
    weights, places, ends = array("d"), array("q"), array("q", [0])
    for vector in map(unit, vectors):
        weights.extend(vector.values())
        places.extend(columns.setdefault(term, len(columns)) for term in vector)
        ends.append(len(places))
    return csr_array((weights, places, ends), shape=(len(vectors), len(columns)))
