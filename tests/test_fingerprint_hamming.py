"""Of two fingerprints within three bits some table has all bits equal."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations

import numpy as np

from archivebot.fingerprint.hamming import bands, layout


def masks(flipped: int) -> Iterator[int]:
    """Yield all patterns of so many ones among 64."""
    return (sum(1 << bit for bit in bits) for bits in combinations(range(64), flipped))


def test_the_layout_leaves_some_table_clean_whichever_three_bits_differ() -> None:
    patterns = np.fromiter(masks(3), np.uint64)
    table_masks = [sum(1 << bit for bit in bits) for bits in layout()]
    assert len(table_masks) == len(set(table_masks)) == 10
    assert len(patterns) == 41_664
    assert np.any([patterns & np.uint64(mask) == 0 for mask in table_masks], axis=0).all()


def test_a_layout_of_one_table_less_would_miss_something() -> None:
    patterns = np.fromiter(masks(3), np.uint64)
    clean = [patterns & np.uint64(sum(1 << bit for bit in bits)) == 0 for bits in layout()[1:]]
    assert not np.any(clean, axis=0).all()


def test_two_fingerprints_within_three_bits_share_a_band() -> None:
    chance = random.Random(4)
    one = chance.getrandbits(64)
    assert bands(one - 2**64) == bands(one)
    for mask in masks(3):
        assert any(a == b for a, b in zip(bands(one), bands(one ^ mask), strict=True))
