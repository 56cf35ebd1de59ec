"""SimHash: what the bits mean, what they cost in distance."""

from __future__ import annotations

import random
from math import acos, pi, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivebot.fingerprint.features import feature_hash
from archivebot.fingerprint.simhash import (
    MIN_WORDS,
    distance,
    simhash,
    text_simhashes,
)

STORY = " ".join(f"word{number % 97} and{number}" for number in range(400))


def by_the_book(weights: dict[str, float]) -> int:
    """Count 64 counters one by one; a counter at zero gives a zero."""
    counters = [0.0] * 64
    for feature, weight in weights.items():
        value = feature_hash(feature)
        for bit in range(64):
            counters[bit] += weight if value >> bit & 1 else -weight
    return sum(1 << bit for bit, counter in enumerate(counters) if counter > 0)


@settings(deadline=None)
@given(st.dictionaries(st.text(min_size=1, max_size=4), st.integers(1, 400), max_size=6))
def test_the_bits_are_the_signs_of_weighted_counters(weights: dict[str, int]) -> None:
    assert simhash(weights) == by_the_book(weights)
    assert simhash([feature for feature, weight in weights.items() for _ in range(weight)]) == simhash(
        weights
    )


def test_the_order_of_features_is_irrelevant_and_one_feature_gives_its_hash() -> None:
    features = STORY.split()
    shuffled = random.Random(3).sample(features, len(features))
    assert simhash(features) == simhash(shuffled) == simhash(iter(shuffled))
    assert simhash(["archive"]) == simhash({"archive": 0.5}) == feature_hash("archive")


def test_a_tie_is_a_zero() -> None:
    one, other = feature_hash("one"), feature_hash("other")
    assert simhash(["one", "other"]) == one & other
    assert simhash({"one": 2, "other": 1}) == one


@pytest.mark.parametrize(
    ("cosine", "expected", "tolerance"), [(0.99, 2.9, 0.4), (0.95, 6.47, 0.5), (0.9, 9.2, 0.5)]
)
def test_the_distance_is_the_angle(cosine: float, expected: float, tolerance: float) -> None:
    chance = random.Random(11)
    found = []
    for pair in range(500):
        size = chance.randrange(200, 401)
        changed = round(size * (1 - cosine))  # of n features of weight 1, m others give the cosine 1 - m/n
        shared = [f"{pair} {number}" for number in range(size - changed)]
        one, other = ([*shared, *(f"{side} {pair} {n}" for n in range(changed))] for side in "ab")
        found.append(distance(simhash(one), simhash(other)))
    assert 64 * acos(cosine) / pi == pytest.approx(expected, abs=0.05)
    assert np.mean(found) == pytest.approx(expected, abs=tolerance)


def test_both_halves_carry_information() -> None:
    chance = random.Random(5)
    prints = [simhash([str(chance.random()) for _ in range(31)]) for _ in range(2000)]
    assert all(value >> 32 != value & 0xFFFFFFFF for value in prints)
    bits = np.array([[value >> bit & 1 for bit in range(64)] for value in prints])
    assert 0.45 < bits.mean(axis=0).min() <= bits.mean(axis=0).max() < 0.55
    related = np.corrcoef(bits.T) - np.eye(64)
    assert np.abs(related).max() < 5 / sqrt(len(prints))


def test_the_distance_counts_bits() -> None:
    assert distance(0b1110, 0b0100) == 2
    chance = random.Random(1)
    for _ in range(10_000):
        one, other = chance.getrandbits(64), chance.getrandbits(64)
        loop = sum((one >> bit & 1) != (other >> bit & 1) for bit in range(64))
        assert distance(one, other) == loop


def test_a_text_too_short_has_no_fingerprint() -> None:
    words = STORY.split()
    shorter, long_enough = text_simhashes([" ".join(words[: MIN_WORDS - 1]), " ".join(words[:MIN_WORDS])])
    assert shorter is None
    assert long_enough is not None


def test_the_features_of_a_text_are_pairs_of_words() -> None:
    words = STORY.split()
    backwards, twice = " ".join(reversed(words)), f"{STORY} {STORY}"
    assert distance(fingerprint(STORY), fingerprint(backwards)) > 15
    assert distance(fingerprint(STORY), fingerprint(twice)) <= 3
    assert fingerprint(STORY.upper()) == fingerprint(STORY.replace(" ", "\n\t, ")) == fingerprint(STORY)


def fingerprint(text: str) -> int:
    [found] = text_simhashes([text])
    assert found is not None
    return found


def test_one_changed_word_of_a_story_stays_near_and_another_story_is_far() -> None:
    other = " ".join(f"term{number % 89} or{number}" for number in range(400))
    assert distance(fingerprint(STORY), fingerprint(STORY.replace("and200 ", "but "))) <= 3
    assert distance(fingerprint(STORY), fingerprint(other)) > 15


def test_many_texts_give_what_each_gives() -> None:
    texts = [STORY, "short", STORY + " é", "北京大学" * 20, ""]
    assert text_simhashes(texts) == [found for text in texts for found in text_simhashes([text])]
    assert [found is None for found in text_simhashes(texts)] == [False, True, False, False, True]


def test_stored_fingerprints_keep_their_value() -> None:
    # A changed value calls for another SIMHASH_VERSION.
    assert f"{fingerprint(STORY):016x}" == "bb9b2a75802d6057"
