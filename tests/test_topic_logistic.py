"""Logistic regression: the weights of scikit-learn, and parts that add up."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.topic.logistic import Logistic, fit, probability, squeezed


def test_weights_are_those_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression

    chance = random.Random(7)
    rows = [{"a": chance.gauss(0, 1), "b": chance.gauss(0, 3)} for _ in range(200)]
    labels = [row["a"] - row["b"] / 2 + chance.gauss(0, 1) > 0.3 for row in rows]
    found = fit(rows, labels, ("a", "b"), ridge=0.5)
    model = LogisticRegression(C=2.0, tol=1e-10, max_iter=1000).fit([[r["a"], r["b"]] for r in rows], labels)
    assert [found.weights["a"], found.weights["b"]] == pytest.approx(list(model.coef_[0]), abs=1e-4)
    assert found.bias == pytest.approx(model.intercept_[0], abs=1e-4)


def test_examples_that_a_line_parts_wholly_still_give_finite_weights() -> None:
    found = fit([{"a": 0.0}, {"a": 1.0}] * 5, [False, True] * 5, ("a",), ridge=0.01)
    assert 0 < found.weights["a"] < 1000
    assert found.log_odds({"a": 1.0}) > 0 > found.log_odds({"a": 0.0})


def test_one_label_alone_teaches_nothing() -> None:
    with pytest.raises(ValueError, match="both labels"):
        fit([{"a": 1.0}], [True], ("a",))


@given(st.dictionaries(st.sampled_from("abc"), st.floats(-9, 9)))
def test_the_parts_add_up_to_the_log_odds(features: dict[str, float]) -> None:
    model = Logistic(-1.0, {"a": 2.0, "b": -0.5})
    assert sum(model.parts(features).values()) == pytest.approx(model.log_odds(features))


@given(st.floats(-700, 700))
def test_probability_and_squeezing_keep_the_order_and_the_middle(value: float) -> None:
    assert 0.0 <= probability(value) <= probability(value + 1) <= 1.0
    assert probability(value) + probability(-value) == pytest.approx(1.0)
    assert squeezed(value) < squeezed(value + 1)
    assert math.copysign(1.0, squeezed(value)) == math.copysign(1.0, value)


def test_rare_and_nearly_parted_examples_are_learnt_without_overshooting() -> None:
    chance = random.Random(1)
    labels = [n % 40 == 0 for n in range(2000)]
    rows = [
        {"odds": chance.gauss(8 * label - 6, 1), "cosine": chance.gauss(0.3 * label, 0.05)}
        for label in labels
    ]
    found = fit(rows, labels, ("odds", "cosine"), ridge=0.01)
    right = sum((found.log_odds(row) > 0) == label for row, label in zip(rows, labels, strict=True))
    assert right >= 1990
    assert abs(found.bias) < 200
