"""Evaluation: the same figures as scikit-learn, and folds that are even."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivebot.topic.evaluation import auc, average_precision, best_threshold, evaluate, folds

judged = st.lists(st.tuples(st.sampled_from([0.1, 0.3, 0.5, 0.9]), st.booleans()), min_size=2, max_size=30)


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(judged)
def test_figures_are_those_of_scikit_learn(pairs: list[tuple[float, bool]]) -> None:
    from sklearn import metrics

    scores, labels = map(list, zip(*pairs, strict=True))
    accepted = [score >= 0.5 for score in scores]
    found = evaluate(scores, scores, accepted, labels)
    assert found.precision == pytest.approx(metrics.precision_score(labels, accepted, zero_division=0))
    assert found.recall == pytest.approx(metrics.recall_score(labels, accepted, zero_division=0))
    assert found.brier == pytest.approx(metrics.brier_score_loss(labels, scores, pos_label=True))
    assert found.f1 == pytest.approx(metrics.f1_score(labels, accepted, zero_division=0))
    if len(set(labels)) == 2:
        assert found.auc == pytest.approx(metrics.roc_auc_score(labels, scores))
        assert found.average_precision == pytest.approx(metrics.average_precision_score(labels, scores))


def test_labels_of_one_kind_have_an_order_that_says_nothing() -> None:
    assert auc([0.1, 0.9], [True, True]) == 0.5
    assert average_precision([0.1, 0.9], [False, False]) == 0.0


@given(judged)
def test_no_score_is_a_better_threshold_than_the_best(pairs: list[tuple[float, bool]]) -> None:
    scores, labels = map(list, zip(*pairs, strict=True))

    def f1(threshold: float) -> float:
        return evaluate(scores, scores, [score >= threshold for score in scores], labels).f1

    best = f1(best_threshold(scores, labels))
    assert all(f1(score) <= best + 1e-12 for score in scores)


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(2, 5))
def test_folds_spread_each_label_evenly(labels: list[bool], number: int) -> None:
    found = folds(labels, number)
    for label in set(labels):
        sizes = Counter(fold for fold, own in zip(found, labels, strict=True) if own == label)
        counts = [sizes[fold] for fold in range(number)]
        assert max(counts) - min(counts) <= 1
