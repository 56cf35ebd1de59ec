"""Rates of simulated pages, the division of a budget, and the planner that learns while it visits."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from archivebot.schedule.allocation import Rates, catching_visits, fresh_visits, seen_share, sufficient_visits
from archivebot.schedule.planner import Planner, Watched
from archivebot.schedule.policy import Policy
from archivebot.schedule.rate import Prior, Visit, estimate, likeliest_rate, regular_rate

RATES = st.lists(st.floats(0.01, 50.0), min_size=2, max_size=6)


def poisson(rate: float, gaps: list[float], chance: random.Random) -> list[Visit]:
    """Return visits to a page that changes at random moments."""
    return [Visit(gap, chance.random() < -math.expm1(-rate * gap)) for gap in gaps]


@pytest.mark.parametrize("rate", [0.05, 0.5, pytest.param(3.0, marks=pytest.mark.long)])
def test_the_bounds_hold_for_random_changes_at_irregular_visits(rate: float) -> None:
    chance = random.Random(20261124)
    held = 0
    for _ in range(400):
        gaps = [chance.uniform(0.1, 3.0) for _ in range(30)]
        found = estimate(poisson(rate, gaps, chance))
        held += found.low <= rate <= found.high
    assert held >= 0.92 * 400  # 95 % are expected; 92 % is nearly three standard deviations below


@pytest.mark.parametrize("rate", [0.1, 0.7, 2.0])
def test_the_regular_estimator_is_nearly_unbiased(rate: float) -> None:
    chance = random.Random(20261124)
    found = []
    for _ in range(600):
        visits = poisson(rate, [1.0] * 50, chance)
        found.append(regular_rate(50, sum(visit.changed for visit in visits), 1.0))
    error = float(np.std(found)) / math.sqrt(len(found))
    assert abs(float(np.mean(found)) - rate) < 3 * error + 0.03 * rate


@given(st.lists(st.tuples(st.floats(0.01, 30.0), st.booleans()), min_size=1, max_size=40))
def test_no_other_rate_is_likelier(pairs: list[tuple[float, bool]]) -> None:
    changed = [gap for gap, has_changed in pairs if has_changed]
    unchanged = sum(gap for gap, has_changed in pairs if not has_changed)
    prior = Prior(0.3, 2.0)
    best = likeliest_rate(changed, unchanged, prior)

    def likelihood(rate: float) -> float:
        seen = sum(math.log(-math.expm1(-rate * gap)) for gap in changed)
        return seen - rate * unchanged + prior.changes * (math.log(rate) - rate / prior.rate)

    assert all(likelihood(best) >= likelihood(best * factor) - 1e-9 for factor in (0.5, 0.99, 1.01, 2.0))


def test_impossible_counts_and_priors_are_refused() -> None:
    with pytest.raises(ValueError, match="3 changes in 2 visits"):
        regular_rate(2, 3, 1.0)
    with pytest.raises(ValueError, match="positive"):
        Prior(0.0, 1.0)


@pytest.mark.long
@settings(deadline=None, max_examples=25)
@given(RATES, st.floats(0.2, 20.0))
def test_the_freshness_is_that_of_the_convex_optimum(rates: list[float], budget: float) -> None:
    known = np.array(rates)

    def freshness(visits: Rates) -> float:
        return float(seen_share(known / np.maximum(visits, 1e-9)).mean())

    found = fresh_visits(known, budget)
    peer = minimize(
        lambda visits: -freshness(visits),
        np.full(len(known), budget / len(known)),
        method="SLSQP",
        bounds=[(0, budget)] * len(known),
        constraints={"type": "eq", "fun": lambda visits: visits.sum() - budget},
    )
    assert found.sum() == pytest.approx(budget, rel=1e-3)
    assert freshness(found) >= -peer.fun - 0.01 * abs(peer.fun)


@settings(deadline=None, max_examples=25)
@given(RATES, st.floats(0.2, 20.0), st.floats(0.0, 1.0))
def test_the_changes_seen_are_those_of_the_convex_optimum(
    rates: list[float], budget: float, share: float
) -> None:
    known = np.array(rates)
    least = np.full(len(known), share * budget / len(known))

    def seen(visits: Rates) -> float:
        return float((known * seen_share(known / np.maximum(visits, 1e-9))).sum())

    found = catching_visits(known, budget, least)
    peer = minimize(
        lambda visits: -seen(visits),
        np.full(len(known), budget / len(known)),
        method="SLSQP",
        bounds=[(low, budget) for low in least],
        constraints={"type": "eq", "fun": lambda visits: visits.sum() - budget},
    )
    assert found.sum() == pytest.approx(budget, rel=1e-3)
    assert np.all(found >= least * 0.999)
    assert seen(found) >= -peer.fun - 0.01 * abs(peer.fun)


@given(RATES, st.floats(0.1, 30.0), st.floats(0.001, 0.2))
def test_a_page_loses_no_more_than_it_may(rates: list[float], visits: float, loss: float) -> None:
    known = np.array(rates)
    before, after = seen_share(known / visits), seen_share(known / sufficient_visits(known, visits, loss))
    assert np.allclose(after, before - loss, atol=1e-6) or np.all(after[before <= loss] >= 0)


def test_a_budget_that_the_least_visits_exceed_is_divided_by_them() -> None:
    found = catching_visits(np.array([1.0, 1.0]), 1.0, np.array([3.0, 1.0]))
    assert found.tolist() == [0.75, 0.25]
    assert catching_visits(np.zeros(2), 1.0).tolist() == [0.0, 0.0]
    assert fresh_visits(np.zeros(2), 1.0).tolist() == [0.0, 0.0]


def visited(planner: Planner, changes: dict[int, float], days: int) -> None:
    """Visit all pages once a day; a page changes each time so many days have passed."""
    for day in range(1, days + 1):
        for index, every in changes.items():
            planner.visited(index, float(day), changed=day % every == 0)


@pytest.mark.parametrize("policy", [Policy.CHANGES, Policy.PROPORTIONAL, Policy.ADAPTIVE])
def test_a_page_that_changes_more_gets_more_visits(policy: Policy) -> None:
    planner = Planner([Watched("http://a.example/", "a"), Watched("http://b.example/", "b")], 2.0, policy)
    visited(planner, {0: 2, 1: 20}, 20)
    found = planner.plan()
    assert found[0] > 1.2 * found[1] > 0
    if policy is not Policy.ADAPTIVE:
        assert found.sum() == pytest.approx(2.0, rel=1e-3)


def test_a_page_without_visits_has_the_rate_of_its_kind_and_then_of_its_site() -> None:
    pages = [Watched(f"http://a.example/news/{number}", "a", "news") for number in range(4)]
    pages += [Watched(f"http://a.example/about/{number}", "a", "about") for number in range(4)]
    pages += [
        Watched("http://a.example/news/x", "a", "news"),
        Watched("http://a.example/about/x", "a", "about"),
    ]
    planner = Planner(pages, 10.0)
    visited(planner, {**dict.fromkeys(range(4), 2), **dict.fromkeys(range(4, 8), 50)}, 30)
    planner.plan()
    assert planner.rates[8] > 5 * planner.rates[9]


def test_a_feed_gets_more_visits_than_a_page_with_the_same_changes() -> None:
    pages = [Watched("http://a.example/", "a"), Watched("http://a.example/feed", "a", weight=2.0)]
    planner = Planner(pages, 0.5, Policy.FRESHNESS)
    visited(planner, {0: 3, 1: 3}, 12)
    found = planner.plan()
    assert found[1] > found[0]


def test_a_removed_page_is_visited_no_more() -> None:
    for policy in Policy:
        planner = Planner([Watched("http://a.example/", "a"), Watched("http://b.example/", "b")], 2.0, policy)
        planner.remove(0)
        assert planner.next() == 1
        planner.remove(1)
        assert planner.next() is None
        assert Planner([], 1.0, policy).next() is None
