"""Logistic regression: combines several features into one log-odds by weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

ROUNDS = 50
CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Logistic:
    """Log-odds as a weighted sum of named features and a bias; the summands explain it."""

    bias: float
    weights: Mapping[str, float]

    def parts(self, features: Mapping[str, float]) -> dict[str, float]:
        """Return what each feature and the bias add to the log-odds; a feature left out adds nothing.

        >>> Logistic(-1.0, {"cosine": 2.0}).parts({"cosine": 0.75})
        {'bias': -1.0, 'cosine': 1.5}
        """
        weighed = {name: weight * features.get(name, 0.0) for name, weight in self.weights.items()}
        return {"bias": self.bias, **weighed}

    def log_odds(self, features: Mapping[str, float]) -> float:
        """Return the log-odds in nats, the sum of the parts."""
        return sum(self.parts(features).values())


def fit(
    rows: Sequence[Mapping[str, float]], labels: Sequence[bool], names: Sequence[str], ridge: float = 1.0
) -> Logistic:
    """Learn weights for the named features from labelled rows.

    Maximum likelihood with a penalty of ``ridge``/2 on the squared weights, not on the bias, by Newton's
    method; scikit-learn's LogisticRegression with C = 1/ridge (Hastie, Tibshirani, Friedman, "The
    Elements of Statistical Learning", 2009, 4.4). Raises ValueError unless both labels occur.
    """
    import numpy as np

    if len(set(map(bool, labels))) < 2:
        raise ValueError("both labels are needed to learn weights")
    x = np.array([[1.0, *(row.get(name, 0.0) for name in names)] for row in rows])
    y = np.array(labels, dtype=float)
    penalty = np.diag([0.0, *[ridge] * len(names)])
    beta = np.zeros(x.shape[1])

    def loss(point: Any) -> float:
        z = x @ point
        return float(np.logaddexp(0, z).sum() - y @ z + point @ penalty @ point / 2)

    for _ in range(ROUNDS):
        chance = 1.0 / (1.0 + np.exp(-np.clip(x @ beta, -30, 30)))
        slope = x.T @ (y - chance) - penalty @ beta
        curve = (x * (chance * (1.0 - chance))[:, None]).T @ x + penalty
        step = np.linalg.solve(curve, slope)
        # A full step can overshoot if the labels are nearly separable.
        while loss(beta + step) > loss(beta) and np.abs(step).max() > CLOSE:
            step /= 2
        beta += step
        if np.abs(step).max() < CLOSE:
            break
    bias, *weights = map(float, beta)
    return Logistic(bias, dict(zip(names, weights, strict=True)))


def probability(log_odds: float) -> float:
    """Return 1 / (1 + exp(-log_odds)) without overflow.

    >>> probability(0.0), probability(-1000.0), probability(1000.0)
    (0.5, 0.0, 1.0)
    """
    if log_odds >= 0:
        return 1.0 / (1.0 + math.exp(-log_odds))
    return math.exp(log_odds) / (1.0 + math.exp(log_odds))


def squeezed(log_odds: float) -> float:
    """Return sign(x) ln(1 + |x|).

    Naive Bayes counts dependent terms as independent, so its log-odds grow too fast with the length.

    >>> squeezed(0.0), round(squeezed(-100.0), 3)
    (0.0, -4.615)
    """
    return math.copysign(math.log1p(abs(log_odds)), log_odds)
