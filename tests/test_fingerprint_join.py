"""The join gives the pairs of single queries, each once."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest

from archivebot.fingerprint import join
from archivebot.fingerprint.join import cross_join, self_join
from archivebot.fingerprint.simhash import distance


def crowd(count: int) -> list[int]:
    """Return fingerprints of which many are near to some others, and some equal."""
    chance = random.Random(count)
    prints: list[int] = []
    while len(prints) < count:
        one = chance.getrandbits(64)
        prints += [
            one ^ sum(1 << bit for bit in chance.sample(range(64), chance.randrange(4))) for _ in "1234"
        ]
    return prints


PRINTS = crowd(600)
BORDERS = (0, 250, 250, 410, 600)
PARTS = [np.array(PRINTS[start:end], np.uint64) for start, end in pairwise(BORDERS)]


def joined(parts: list[np.ndarray]) -> list[tuple[int, ...]]:
    return [
        pair
        for pairs in self_join(parts)
        for pair in zip(*(numbers.tolist() for numbers in pairs), strict=True)
    ]


def test_the_join_gives_the_pairs_of_brute_force() -> None:
    single = [
        (one, other, distance(PRINTS[one], PRINTS[other]))
        for one in range(len(PRINTS))
        for other in range(one + 1, len(PRINTS))
        if distance(PRINTS[one], PRINTS[other]) <= 3
    ]
    assert len(single) > 300
    assert joined([np.array(PRINTS, np.uint64)]) == single
    assert sorted(joined(PARTS)) == single


def test_pairs_of_two_sets_in_small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = PARTS[0], np.array(crowd(100) + PRINTS[100:300], np.uint64)
    whole = cross_join(one, other)
    monkeypatch.setattr(join, "STEP", 7)
    small = cross_join(one, other)
    assert len(whole.first) > 200
    assert all(np.array_equal(a, b) for a, b in zip(whole, small, strict=True))
    expected = {
        (place, number, distance(first, second))
        for place, first in enumerate(one.tolist())
        for number, second in enumerate(other.tolist())
        if distance(first, second) <= 3
    }
    assert set(zip(*(numbers.tolist() for numbers in whole), strict=True)) == expected


def test_nothing_joins_with_nothing() -> None:
    nothing = np.zeros(0, np.uint64)
    assert joined([]) == joined([nothing]) == joined([nothing, PARTS[0][:1]]) == []
