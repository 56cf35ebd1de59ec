"""Clusters of sites: those of average linkage by definition, without a table of all pairs."""

from __future__ import annotations

import tracemalloc
from random import Random

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage

from archivebot.topic.clusters import clusters
from archivebot.topic.vectors import Vector, dot, unit


def sites(number: int, terms: int, seed: int) -> dict[str, Vector]:
    chance = Random(seed)
    return {
        f"{site:04}.org": unit({f"term{chance.randrange(terms)}": chance.random() + 0.01 for _ in range(6)})
        for site in range(number)
    }


def by_definition(vectors: dict[str, Vector], alike: float) -> set[tuple[str, ...]]:
    names = list(vectors)
    pairs = [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    distances = np.array([max(0.0, 1.0 - dot(vectors[a], vectors[b])) for a, b in pairs])
    numbers = fcluster(linkage(distances, method="average"), 1.0 - alike, criterion="distance")
    groups = {
        number: tuple(n for n, of in zip(names, numbers, strict=True) if of == number) for number in numbers
    }
    return set(groups.values())


@pytest.mark.parametrize("alike", [0.0, 0.1, 0.28, 0.5, 0.8])
@pytest.mark.parametrize("seed", range(5))
def test_they_are_those_of_average_linkage(alike: float, seed: int) -> None:
    vectors = sites(60, 40, seed)
    assert {cluster.sites for cluster in clusters(vectors, alike)} == by_definition(vectors, alike)


@pytest.mark.long
def test_memory_grows_with_the_sites_and_not_with_their_pairs() -> None:
    vectors = sites(3000, 9000, 1)
    tracemalloc.start()
    try:
        assert len(clusters(vectors)) < len(vectors)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < len(vectors) ** 2  # bytes: an eighth of a table of the cosines
