"""Evaluation: the agreement of scores and decisions with labels, and folds for held-out examples."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The quality of decisions and scores, each from 0 to 1; counts are of examples.

    ``precision`` is 0 if nothing was accepted, and ``recall`` if nothing is relevant. ``auc`` and
    ``average_precision`` judge the order alone, ``brier`` the probabilities: 0 is best.
    """

    examples: int
    relevant: int
    precision: float
    recall: float
    f1: float
    auc: float
    average_precision: float
    brier: float


def evaluate(
    scores: Sequence[float], values: Sequence[float], accepted: Sequence[bool], labels: Sequence[bool]
) -> Evaluation:
    """Compare scores, probabilities and decisions with labels.

    >>> evaluate([2.2, 1.4, -2.2], [0.9, 0.8, 0.1], [True, True, False], [True, False, True]).precision
    0.5
    """
    hits = sum(took and label for took, label in zip(accepted, labels, strict=True))
    precision = hits / sum(accepted) if any(accepted) else 0.0
    recall = hits / sum(labels) if any(labels) else 0.0
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    order = auc(scores, labels), average_precision(scores, labels)
    return Evaluation(len(labels), sum(labels), precision, recall, f1, *order, brier(values, labels))


def brier(values: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the mean squared error of probabilities; 0 without any.

    Brier, "Verification of Forecasts Expressed in Terms of Probability", 1950, for one of two classes.

    >>> brier([1.0, 0.5], [True, False]), brier([], [])
    (0.125, 0.0)
    """
    errors = [(value - label) ** 2 for value, label in zip(values, labels, strict=True)]
    return sum(errors) / len(errors) if errors else 0.0


def auc(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the chance that a relevant example scores above another one; equal scores count half.

    The Mann-Whitney statistic by ranks; 0.5 if all labels are equal (Hanley, McNeil, "The Meaning
    and Use of the Area under a Receiver Operating Characteristic Curve", 1982).

    >>> auc([0.1, 0.4, 0.4, 0.8], [False, True, False, True])
    0.875
    """
    positives = sum(labels)
    negatives = len(labels) - positives
    if not positives or not negatives:
        return 0.5
    found = below = 0.0
    for hits, missed in _steps(scores, labels):
        below += missed * (found + hits / 2)
        found += hits
    return below / (positives * negatives)


def average_precision(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the mean of the precision at each relevant example, best score first; 0 if there is none.

    >>> average_precision([0.9, 0.8, 0.7], [True, False, True])
    0.8333333333333333
    """
    positives = sum(labels)
    found = taken = 0
    total = 0.0
    for hits, missed in _steps(scores, labels):
        found += hits
        taken += hits + missed
        total += hits * found / taken
    return total / positives if positives else 0.0


def _steps(scores: Sequence[float], labels: Sequence[bool]) -> list[tuple[int, int]]:
    """Return the numbers of (relevant, other) examples of each score, best score first."""
    counts: dict[float, list[int]] = defaultdict(lambda: [0, 0])
    for score, label in zip(scores, labels, strict=True):
        counts[score][not label] += 1
    return [(counts[score][0], counts[score][1]) for score in sorted(counts, reverse=True)]


def best_threshold(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """Return the threshold at which accepting gives the best F1, half way to the next lower score.

    >>> best_threshold([0.9, 0.5, 0.3, 0.1], [True, True, False, False])
    0.4
    """
    ordered = sorted(set(scores), reverse=True)
    positives = sum(labels)
    best, place = 0.0, 0
    found = taken = 0
    for index, (hits, missed) in enumerate(_steps(scores, labels)):
        found, taken = found + hits, taken + hits + missed
        if (f1 := 2 * found / (taken + positives)) > best:
            best, place = f1, index
    return (ordered[place] + ordered[min(place + 1, len(ordered) - 1)]) / 2


def folds(labels: Sequence[Hashable], number: int = 5) -> list[int]:
    """Return the fold of each example, from 0 to ``number`` - 1, with each label spread evenly.

    >>> folds([True, True, False, True, False], 2)
    [0, 1, 0, 0, 1]
    """
    seen: dict[Hashable, int] = defaultdict(int)
    given = []
    for label in labels:
        given.append(seen[label] % number)
        seen[label] += 1
    return given
