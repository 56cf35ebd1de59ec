"""Clusters of sites by topic: sites whose pages use the same rare words."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from archivebot.topic.background import of_world
from archivebot.topic.vectors import Vector, centroid, unit

# Number of terms of a site that count, and the minimum mean cosine of the sites of two clusters at which the
# clusters are joined. Of 60 sites of documentation of 13 kinds (60 pages of each), 0.88 are in a cluster in
# which most sites are of their kind, and the adjusted Rand index is 0.52; from 0.25 to 0.30 it is at least
# 0.46. With 100 or 400 terms it is at most 0.47, and with the weight itself in place of its root 0.43.
MOST_TERMS = 200
ALIKE = 0.28

SHOWN = 6  # terms that describe a cluster


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
    """Return the number of the cluster of each vector."""
    if len(vectors) < 2:
        return [0] * len(vectors)
    # Imported here: numpy and scipy take a third of a second.
    import numpy as np
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.sparse import coo_array
    from scipy.spatial.distance import squareform

    columns: dict[str, int] = {}
    cells = [
        (row, columns.setdefault(term, len(columns)), weight)
        for row, vector in enumerate(vectors)
        for term, weight in unit(vector).items()
    ]
    rows, places, weights = zip(*cells, strict=True)
    matrix = coo_array((weights, (rows, places)), shape=(len(vectors), len(columns))).tocsr()
    distances = np.clip(1.0 - (matrix @ matrix.T).toarray(), 0.0, 1.0)
    np.fill_diagonal(distances, 0.0)
    joined = linkage(squareform(distances, checks=False), method="average")
    return [int(number) for number in fcluster(joined, 1.0 - alike, criterion="distance")]
