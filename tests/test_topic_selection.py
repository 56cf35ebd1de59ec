"""Feature selection: the worked figures of the literature, and SciPy's chi-square."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency

from archivebot.topic.selection import (
    BEST,
    SCORES,
    chi_square,
    expected_cross_entropy,
    information_gain,
    right_half,
    scored,
    select,
)

CHEAP, DINNER, THE = (3, 1, 0, 6), (0, 1, 3, 6), (3, 7, 0, 0)
counts = st.tuples(*[st.integers(0, 50)] * 4).filter(any)


def entropy(*numbers: float) -> float:
    total = sum(numbers)
    return -sum(n / total * math.log(n / total) for n in numbers if n)


def gain(a: float, b: float, c: float, d: float) -> float:
    """Information gain of a class and its complement."""
    return information_gain(a, b, c, d) + information_gain(b, a, d, c)


@pytest.mark.parametrize(("table", "score"), [(CHEAP, 6.4286), (DINNER, 90 / 189), (THE, 0.0)])
def test_chi_square_of_the_ten_mails(table: tuple[int, int, int, int], score: float) -> None:
    assert chi_square(*table) == pytest.approx(score, abs=5e-5)


@pytest.mark.parametrize(("table", "nats"), [(CHEAP, 0.3859), (DINNER, 0.0380), (THE, 0.0)])
def test_information_gain_of_the_ten_mails(table: tuple[int, int, int, int], nats: float) -> None:
    assert gain(*table) == pytest.approx(nats, abs=5e-5)


def test_information_gain_in_bits() -> None:
    assert gain(*CHEAP) / math.log(2) == pytest.approx(0.5568, abs=5e-5)


@given(st.tuples(*[st.integers(1, 50)] * 4))
def test_chi_square_is_that_of_scipy(table: tuple[int, int, int, int]) -> None:
    a, b, c, d = table
    assert chi_square(*table) == pytest.approx(chi2_contingency([[a, b], [c, d]], correction=False)[0])


@given(counts)
def test_the_two_halves_make_information_gain(table: tuple[int, int, int, int]) -> None:
    assert right_half(*table) + expected_cross_entropy(*table) == pytest.approx(information_gain(*table))


@given(counts)
def test_gain_is_the_entropy_that_the_term_removes(table: tuple[int, int, int, int]) -> None:
    a, b, c, d = table
    n = a + b + c + d
    left = sum((x + y) / n * entropy(x, y) for x, y in ((a, b), (c, d)) if x + y)
    assert gain(*table) == pytest.approx(entropy(a + c, b + d) - left, abs=1e-9)


@given(counts)
def test_every_score_is_a_number_for_every_table(table: tuple[int, int, int, int]) -> None:
    assert all(math.isfinite(score(*table)) for score in SCORES.values())


@pytest.mark.parametrize("name", SCORES)
def test_a_term_that_says_nothing_scores_0(name: str) -> None:
    assert SCORES[name](2, 4, 3, 6) == pytest.approx(0.0, abs=1e-12)


def test_words_count_each_time_and_documents_once() -> None:
    classes = {"a": [["x", "x", "x", "y"]], "b": [["x"], ["z"]]}
    assert scored(classes)["x"] == pytest.approx(2 * chi_square(3, 1, 1, 1))
    assert scored(classes, by_document=True)["x"] == pytest.approx(2 * chi_square(1, 1, 0, 1))
    assert scored({label: [{"x": 3}, {"y": 1}] for label in "ab"})["x"] == 0.0


def test_the_best_terms_come_first_and_5000_are_kept() -> None:
    classes = {"a": [["reef"] * 5, ["boat"]], "b": [["shop"] * 5, ["boat"]]}
    assert select(classes) == ["reef", "shop", "boat"]
    assert select(classes, best=1) == ["reef"]
    many = {"a": [[f"a{n}" for n in range(BEST)]], "b": [["b"]]}
    assert len(select(many)) == BEST == 5000
