"""How often the content of a page changes, estimated from visits that saw a change or none."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# A likelihood ratio of exp(-1.92) bounds the true rate in 95 of 100 cases: half the 95 % quantile of the
# chi-squared distribution with one degree of freedom.
DROP = 1.920729

# If all visits saw the same, the likelihood has no maximum inside. The rate at which so many visits are all
# alike in 25 of 1,000 cases bounds it exactly.
ALIKE = 3.688879

# The longest gap of regular visits, of the shortest: a daily visit may come some minutes late.
REGULAR = 1.1

_STEPS = 60  # each halves an interval of logarithms, or is a step of Newton's method
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Visit:
    """A visit ``gap`` days after the visit before it, and whether the content had changed in between."""

    gap: float
    changed: bool


@dataclass(frozen=True, slots=True)
class Prior:
    """What is known before any visit: a ``rate`` in changes a day that weighs as much as ``changes`` changes.

    It is a gamma distribution whose mode is the rate; no visit leaves an estimate at the rate.
    """

    rate: float
    changes: float

    def __post_init__(self) -> None:
        if not (self.rate > 0 and self.changes > 0):
            raise ValueError(f"a prior needs a positive rate and weight, not {self.rate} and {self.changes}")


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rate in changes a day with its 95 % confidence bounds, from a number of visits that saw changes."""

    rate: float
    low: float
    high: float
    visits: int
    changes: int


def regular_rate(visits: int, changes: int, interval: float) -> float:
    """Return the changes a day of a page that was visited every ``interval`` days.

    Cho and Garcia-Molina, "Estimating frequency of change" (2003), section 4.2: less biased than the share of
    visits with a change, and finite if every visit saw one. Raises ValueError for impossible counts.

    >>> round(regular_rate(10, 5, 1.0), 3), round(regular_rate(10, 10, 1.0), 2), regular_rate(0, 0, 1.0)
    (0.647, 3.04, 0.0)
    """
    if not 0 <= changes <= visits or interval <= 0:
        raise ValueError(f"{changes} changes in {visits} visits every {interval} days")
    return abs(math.log((visits - changes + 0.5) / (visits + 0.5))) / interval


def likeliest_rate(
    changed: Sequence[float], unchanged: float, prior: Prior | None = None, near: float = 0.0
) -> float:
    """Return the changes a day under which irregular visits are likeliest.

    ``changed`` are the gaps in days of the visits that saw a change, ``unchanged`` is the sum of the other
    gaps. The search begins at ``near``. Without a prior the rate is 0 if no visit saw a change, and infinite
    if all did. Cho and Garcia-Molina (2003), section 5: the root of the derivative of the likelihood, which
    falls monotonically.

    >>> round(likeliest_rate([1.0] * 5, 5.0), 3), likeliest_rate([], 9.0), likeliest_rate([2.0], 0.0)
    (0.693, 0.0, inf)
    >>> likeliest_rate([], 0.0, Prior(0.25, 1.0)), round(likeliest_rate([], 12.0, Prior(0.25, 1.0)), 4)
    (0.25, 0.0625)
    """
    if prior is None and not changed:
        return 0.0
    if prior is None and unchanged <= 0:
        return math.inf
    weight, pull = (prior.changes, prior.changes / prior.rate) if prior else (0.0, 0.0)
    if not changed:
        return weight / (unchanged + pull)
    # Each term of the sum is less than 1 / rate, and at least that less the gap: this brackets the root.
    count = len(changed) + weight
    low, high = count / (sum(changed) + unchanged + pull), count / (unchanged + pull)
    rate = min(max(near, low), high)
    for _ in range(_STEPS):
        slope, value = -weight / rate**2, weight / rate - pull - unchanged
        for gap in changed:
            part = math.expm1(min(rate * gap, 700.0))
            value += gap / part
            slope -= gap * gap * (part + 1) / (part * part)
        low, high = (rate, high) if value > 0 else (low, rate)
        step = rate - value / slope
        following = step if low < step < high else math.sqrt(low * high)
        if abs(following - rate) <= _CLOSE * rate:
            return following
        rate = following
    return rate


def estimate(visits: Sequence[Visit]) -> Estimate:
    """Return the rate of a page by its visits alone, with bounds that hold in 95 of 100 cases.

    The rate is :func:`regular_rate` if the gaps are nearly equal, else :func:`likeliest_rate`.

    >>> found = estimate([Visit(1.0, True), Visit(1.0, False), Visit(2.0, True), Visit(3.0, False)])
    >>> round(found.rate, 2), round(found.low, 2), round(found.high, 2)
    (0.37, 0.06, 1.19)
    >>> estimate([Visit(10.0, False)])
    Estimate(rate=0.0, low=0.0, high=0.3688879, visits=1, changes=0)
    >>> round(estimate([Visit(1.0, True)] * 10).rate, 2)
    3.04
    """
    changed = [visit.gap for visit in visits if visit.changed and visit.gap > 0]
    unchanged = sum(visit.gap for visit in visits if not visit.changed)
    best = likeliest_rate(changed, unchanged)
    gaps = [visit.gap for visit in visits]
    is_regular = bool(gaps) and 0 < max(gaps) <= REGULAR * min(gaps)
    rate = regular_rate(len(gaps), len(changed), sum(gaps) / len(gaps)) if is_regular else best
    if not changed and not unchanged:
        return Estimate(rate, 0.0, math.inf, len(visits), 0)
    if not changed:
        return Estimate(rate, 0.0, ALIKE / unchanged, len(visits), 0)

    inside = math.isfinite(best)
    bottom = _likelihood(changed, unchanged, best) - DROP if inside else -ALIKE

    def depth(value: float) -> float:
        return _likelihood(changed, unchanged, value) - bottom

    least = 1e-9 / (sum(changed) + unchanged)
    top = best if inside else 1e3 / min(changed)
    low = _crossing(depth, least, top)
    high = _crossing(depth, best * (DROP + 1) * 1e3, best) if inside else math.inf
    return Estimate(rate, low, high, len(visits), len(changed))


def _likelihood(changed: Sequence[float], unchanged: float, rate: float) -> float:
    """Return the logarithm of the likelihood of visits at a rate."""
    return sum(math.log(-math.expm1(-rate * gap)) for gap in changed) - rate * unchanged


def _crossing(depth: Callable[[float], float], outside: float, inside: float) -> float:
    """Return the rate between two at which the depth is 0."""
    for _ in range(_STEPS):
        middle = math.sqrt(outside * inside)
        outside, inside = (middle, inside) if depth(middle) < 0 else (outside, middle)
    return math.sqrt(outside * inside)
