"""How many visits a day each page gets of a budget."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Rates = NDArray[np.float64]

_STEPS = 48  # halvings; each root is then exact to 12 digits
_LARGEST = 700.0  # of a ratio: exp(-700) is the smallest that is not 0
_SMALLEST = 1e-12


def fresh_visits(rates: Rates, budget: float, weights: Rates | None = None) -> Rates:
    """Return the visits a day with which the archive is up to date for the largest share of the time.

    ``rates`` are changes a day, ``budget`` is the sum of the visits a day. Pages that change too often for
    the budget get no visit at all. Cho and Garcia-Molina, "Effective page refresh policies for web crawlers"
    (2003): at the optimum, one more visit to any visited page is worth the same.

    >>> fresh_visits(np.array([1.0, 2.0, 3.0, 4.0, 5.0]), 5.0).round(2).tolist()
    [1.15, 1.36, 1.35, 1.14, 0.0]
    """
    moving = rates > 0
    worth = (np.ones_like(rates) if weights is None else weights)[moving] / rates[moving]
    found = np.zeros_like(rates)
    found[moving] = _spent(rates[moving], worth, found[moving], budget)
    return found


def catching_visits(
    rates: Rates, budget: float, least: Rates | None = None, weights: Rates | None = None
) -> Rates:
    """Return the visits a day that see the most changes before the page changes again.

    A page gets no fewer than ``least`` visits a day, as far as the budget reaches. If all pages weigh the
    same, the rest is in proportion to their rates: of all allocations this one sees the most changes, because
    the worth of one more visit depends only on the changes between two visits.

    >>> catching_visits(np.array([1.0, 3.0]), 2.0).round(3).tolist()
    [0.5, 1.5]
    >>> catching_visits(np.array([1.0, 3.0]), 2.0, np.array([1.0, 0.0])).round(3).tolist()
    [1.0, 1.0]
    """
    floor = np.zeros_like(rates) if least is None else least
    if (needed := float(floor.sum())) >= budget:
        return floor * (budget / needed) if needed > 0 else floor
    moving = rates > 0
    worth = (np.ones_like(rates) if weights is None else weights)[moving]
    found = floor.copy()
    found[moving] = _spent(rates[moving], worth, floor[moving], budget - float(floor[~moving].sum()))
    return found


def sufficient_visits(rates: Rates, visits: float, loss: float) -> Rates:
    """Return the fewest visits a day that see as many changes as ``visits`` a day, less ``loss`` of them.

    ``loss`` is a share of all changes of the page. A page that hardly changes needs few visits to lose few
    changes; a page that changes often needs nearly as many as it had.

    >>> sufficient_visits(np.array([0.0, 0.001, 0.1, 1.0]), 1.0, 0.01).round(3).tolist()
    [0.0, 0.047, 0.823, 0.963]
    """
    found = np.zeros_like(rates)
    moving = rates > 0
    kept = seen_share(rates[moving] / visits) - loss
    # The share of changes that are seen falls from 1 to 0 as more changes happen between two visits.
    found[moving] = rates[moving] / _root(seen_share, kept)
    return found


def seen_share(changes: Rates) -> Rates:
    """Return the share of changes that are seen if so many happen on average between two visits.

    >>> seen_share(np.array([0.0, 1.0])).round(3).tolist()
    [1.0, 0.632]
    """
    safe = np.maximum(changes, _SMALLEST)
    return -np.expm1(-safe) / safe


# One more visit sees 1 - (1 + x) exp(-x) of the changes if x of them happen between two visits, which is
# 1 - exp(-y) with y = x - log(1 + x). From these points x is interpolated for a y, on logarithms.
_POINTS = np.linspace(np.log(1e-9), np.log(1e9), 8000)


def _logarithm(changes: Rates) -> Rates:
    """Return x - log(1 + x), by its series if the difference would lose all digits."""
    found: Rates = np.where(
        changes < 1e-4, changes**2 / 2 - changes**3 / 3, changes - np.log1p(np.maximum(changes, 1e-5))
    )
    return found


_LOGARITHMS = np.log(_logarithm(np.exp(_POINTS)))


def _spent(rates: Rates, worth: Rates, least: Rates, budget: float) -> Rates:
    """Return the visits a day that use up a budget, with one more visit to each page worth the same.

    ``worth`` is what a visit is worth that certainly sees a change. A page gets ``least`` visits if another
    is worth less than elsewhere.
    """
    if not len(rates) or budget <= 0:
        return least
    ratios = worth.max() / worth

    def visits(price: float) -> Rates:
        # The price is y of the page whose visits are worth most: its share of 1 may be too near to 1.
        share = np.minimum(ratios * -np.expm1(-price), 1.0)
        with np.errstate(divide="ignore"):
            height = np.where(ratios == 1, price, -np.log1p(-share))
        changes = np.exp(np.interp(np.log(np.maximum(height, 1e-300)), _LOGARITHMS, _POINTS))
        found: Rates = np.maximum(least, np.where(np.isinf(height), 0.0, rates / changes))
        return found

    low, high = float(_LOGARITHMS[0]), float(_LOGARITHMS[-1])
    for _ in range(_STEPS):
        middle = (low + high) / 2
        low, high = (middle, high) if visits(np.exp(middle)).sum() > budget else (low, middle)
    # Where a page is about to get no visits at all, its visits jump: it gets what is left of the budget.
    more, fewer = visits(np.exp(low)), visits(np.exp(high))
    left = float(budget - fewer.sum()) / max(float(more.sum() - fewer.sum()), _SMALLEST)
    found: Rates = fewer + min(max(left, 0.0), 1.0) * (more - fewer)
    return found


def _root(curve: Callable[[Rates], Rates], wanted: Rates) -> Rates:
    """Return where a falling curve over (0, infinity) has the wanted values, by halving the logarithm."""
    low, high = np.full_like(wanted, np.log(_SMALLEST)), np.full_like(wanted, np.log(_LARGEST))
    for _ in range(_STEPS):
        middle = (low + high) / 2
        above = curve(np.exp(middle)) < wanted
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.exp((low + high) / 2)
