"""The index of fingerprints finds what brute force finds, in every layout."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Iterator
from itertools import combinations

import numpy as np
import pytest

from archivebot.exceptions import UsageError
from archivebot.fingerprint import hamming
from archivebot.fingerprint.hamming import HammingIndex, Match, bands, layout
from archivebot.fingerprint.simhash import distance, signed

LAYOUTS = [4, 10, 16, 20]


def masks(flipped: int) -> Iterator[int]:
    """Yield all patterns of so many ones among 64."""
    return (sum(1 << bit for bit in bits) for bits in combinations(range(64), flipped))


def planted(chance: random.Random, count: int) -> list[int]:
    """Return random fingerprints, each second one a change of the one before by up to four bits."""
    prints: list[int] = []
    while len(prints) < count:
        one = chance.getrandbits(64)
        mask = sum(1 << bit for bit in chance.sample(range(64), chance.randrange(5)))
        prints += [one, one ^ mask]
    return prints


def brute_force(prints: list[int], query: int, k: int) -> list[Match]:
    return [Match(n, distance(one, query)) for n, one in enumerate(prints) if distance(one, query) <= k]


def probing(ordered: list[int], query: int, k: int) -> set[int]:
    """Look up the query and all its neighbours in sorted fingerprints."""
    found = set()
    for flipped in range(k + 1):
        for mask in masks(flipped):
            place = bisect_left(ordered, query ^ mask)
            if place < len(ordered) and ordered[place] == query ^ mask:
                found.add(query ^ mask)
    return found


def test_the_neighbours_of_a_fingerprint_are_counted() -> None:
    counts = [sum(1 for _ in masks(flipped)) for flipped in range(4)]
    assert counts == [1, 64, 2_016, 41_664]
    assert np.cumsum(counts).tolist() == [1, 65, 2_081, 43_745]


@pytest.mark.parametrize("tables", LAYOUTS)
def test_a_layout_leaves_some_table_clean_whichever_three_bits_differ(tables: int) -> None:
    patterns = np.fromiter(masks(3), np.uint64)
    table_masks = [sum(1 << bit for bit in bits) for bits in layout(tables)]
    assert len(table_masks) == len(set(table_masks)) == tables
    assert len(patterns) == 41_664
    assert np.any([patterns & np.uint64(mask) == 0 for mask in table_masks], axis=0).all()


@pytest.mark.parametrize("tables", LAYOUTS)
def test_a_layout_of_one_table_less_would_miss_something(tables: int) -> None:
    patterns = np.fromiter(masks(3), np.uint64)
    clean = [patterns & np.uint64(sum(1 << bit for bit in bits)) == 0 for bits in layout(tables)[1:]]
    assert not np.any(clean, axis=0).all()


def test_there_are_no_other_layouts() -> None:
    with pytest.raises(UsageError, match="no layout of 5 tables"):
        HammingIndex(tables=5)


@pytest.mark.parametrize("tables", LAYOUTS)
@pytest.mark.parametrize("k", [0, 1, 2, 3])
def test_the_index_finds_what_brute_force_finds(tables: int, k: int) -> None:
    chance = random.Random(tables)
    prints = planted(chance, 300)
    index = HammingIndex(prints, tables=tables)
    for query in prints:
        assert index.near(query, k) == brute_force(prints, query, k)


def test_the_index_finds_what_probing_finds() -> None:
    prints = planted(random.Random(7), 1000)
    index = HammingIndex(prints)
    for query in prints[:8:2]:
        assert {prints[match.number] for match in index.near(query)} == probing(sorted(prints), query, 3)


@pytest.mark.parametrize("tables", LAYOUTS)
def test_any_three_changed_bits_are_found(tables: int) -> None:
    chance = random.Random(tables)
    prints = [chance.getrandbits(64) for _ in range(5000)]
    index = HammingIndex(prints, tables=tables)
    for mask in chance.sample(list(masks(3)), 300):
        number = chance.randrange(5000)
        assert Match(number, 3) in index.near(prints[number] ^ mask)


def test_what_is_added_is_found_while_it_waits_and_after(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hamming, "WAITING", 8)
    prints = planted(random.Random(9), 600)
    index = HammingIndex(prints[:100])
    for number, fingerprint in enumerate(prints[100:], 100):
        assert index.add(fingerprint) == number
        if number % 37 == 0:
            assert index.near(fingerprint) == brute_force(prints[: number + 1], fingerprint, 3)
    assert len(index) == 600
    assert [index.near(query) for query in prints] == [brute_force(prints, query, 3) for query in prints]
    assert len(index._segments) <= 4


def test_equal_and_crowded_fingerprints_are_all_found() -> None:
    prints = [5] * 100 + [6] * 50 + [2**64 - 1]
    assert HammingIndex(prints).near(5) == brute_force(prints, 5, 3)


def test_three_bits_are_the_most() -> None:
    with pytest.raises(UsageError, match="within 0 to 3 bits, not within 4"):
        HammingIndex([1]).near(1, 4)


def test_four_tables_compare_with_as_many_as_theory_says() -> None:
    chance = np.random.default_rng(1)
    prints = chance.integers(0, 2**64, 1 << 20, np.uint64)
    index = HammingIndex(prints)
    draw = random.Random(2)
    changes = [
        (number, int(prints[number]) ^ sum(1 << bit for bit in draw.sample(range(64), 3)))
        for number in draw.sample(range(1 << 20), 300)
    ]
    assert all(Match(number, 3) in index.near(query) for number, query in changes)
    strangers = chance.integers(0, 2**64, 1000, np.uint64).tolist()
    assert np.mean([index.compared(query) for query in strangers]) == pytest.approx(64, rel=0.05)


def test_two_fingerprints_within_three_bits_share_a_band() -> None:
    chance = random.Random(4)
    one = chance.getrandbits(64)
    assert bands(signed(one)) == bands(one)
    for mask in masks(3):
        assert any(a == b for a, b in zip(bands(one), bands(one ^ mask), strict=True))
