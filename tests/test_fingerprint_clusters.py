"""Clusters by density are those of scikit-learn."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from sklearn.cluster import DBSCAN

from archivebot.fingerprint.clusters import NOISE, clusters
from archivebot.fingerprint.simhash import distance


def around(prints: list[int]) -> Callable[[int], list[int]]:
    """Return a search for the points within three bits of one."""
    return lambda point: [n for n, other in enumerate(prints) if distance(other, prints[point]) <= 3]


def by_search(prints: list[int], least: int) -> list[int]:
    return clusters(len(prints), around(prints), least)


def by_sklearn(prints: list[int], least: int, k: int = 3) -> tuple[list[int], set[int]]:
    distances = np.array([[distance(one, other) for other in prints] for one in prints])
    found = DBSCAN(eps=k, min_samples=least, metric="precomputed").fit(distances)
    return found.labels_.tolist(), set(found.core_sample_indices_.tolist())


def drifting(seed: int) -> list[int]:
    """Return stories that drift by a bit or two each time they are told, and some told once."""
    chance = random.Random(seed)
    prints = [chance.getrandbits(64) for _ in range(10)]
    for _ in range(6):
        story = chance.getrandbits(64)
        for _ in range(chance.randrange(2, 20)):
            story ^= sum(1 << bit for bit in chance.sample(range(64), chance.randrange(1, 4)))
            prints.append(story)
    chance.shuffle(prints)
    return prints


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("least", [2, 3, 4])
def test_the_clusters_are_those_of_scikit_learn(seed: int, least: int) -> None:
    prints = drifting(seed)
    ours, (theirs, cores) = by_search(prints, least), by_sklearn(prints, least)
    assert [label == NOISE for label in ours] == [label == NOISE for label in theirs]
    names = {(ours[core], theirs[core]) for core in cores}
    assert len(names) == len({a for a, _ in names}) == len({b for _, b in names}) == max(ours) + 1


def test_a_point_first_marked_noise_is_taken_in_by_a_later_core() -> None:
    border, core, inside = 0b0, 0b111, 0b111111
    prints = [border, core, inside, inside]
    assert by_search([border, 2**60 - 1, 2**61], least=3) == [NOISE] * 3
    assert by_search(prints, least=3) == [0, 0, 0, 0]
    assert by_search(prints, least=5) == [NOISE] * 4


def test_a_border_point_is_in_the_first_of_two_clusters() -> None:
    places = [0, 0, 0, 2, 4, 6, 8, 8, 8]

    def near(point: int) -> list[int]:
        return [n for n, place in enumerate(places) if abs(place - places[point]) <= 2]

    assert clusters(9, near, least=5) == [0, 0, 0, 0, 0, 1, 1, 1, 1]
    assert clusters(9, near, least=6) == [NOISE] * 9


def test_each_point_is_asked_for_once() -> None:
    asked: list[int] = []

    def near(point: int) -> list[int]:
        asked.append(point)
        return [other for other in range(20) if abs(other - point) <= 1]

    assert set(clusters(20, near, least=2)) == {0}
    assert sorted(asked) == list(range(20))
