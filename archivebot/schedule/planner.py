"""Which page is worth the next visit, learnt from the visits so far."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from archivebot.schedule.adaptive import YEAR, AdaptiveInterval
from archivebot.schedule.allocation import catching_visits, fresh_visits, sufficient_visits
from archivebot.schedule.policy import Policy
from archivebot.schedule.rate import Prior, Visit, likeliest_rate

# The figures below are shares of changes seen on history-dev, at budgets at which a fixed interval sees 60 %
# (of the first 60 days) and 40 % of them: benchmarks/recrawl.py --constants, which also holds each site out.

# Visits that count, the last of each page. 20, 100 and 200 are within 0.2 points of 50 at both budgets.
WINDOW = 50

# The number of changes that the rate of similar pages weighs as much as. 0.5, 1, 2 and 4 see .985, .994, .989
# and .988 at the first budget, .877, .856, .838 and .810 at the second.
WEIGHT = 2.0

# The share of its changes that a page may lose for others, compared with visiting all pages equally often. 0
# sees .604 and .405, 0.01 .984 and .838, 0.03 .977 and .878, 0.1 .982 and .895: a larger share costs little
# and helps if the budget is scarce. If every change of bytes counts (60 days), 0.01 sees .806 and .553, 0.1
# .866 and .674. The site furthest behind the fixed interval is 1.6 points behind with 0.1, 5 with 0.01.
LOSS = 0.1

_SWEEPS = 3  # through pages and their groups: each moves the rates of groups nearer to those of their pages
_ROUNDS = 10  # plans after one visit to each page on average, and most visits to each page between two plans
_LEAST = 1e-6  # days between two visits: a tenth of a second


@dataclass(frozen=True, slots=True)
class Watched:
    """A page: its site, its kind within the site, and how much a change of it is worth."""

    url: str
    site: str
    kind: str = ""
    weight: float = 1.0


class Planner:
    """Divides ``budget`` visits a day among pages; times are in days from any moment.

    A page without visits has the rate of the pages of its site and kind, then of its site, then of all pages,
    so that the budget is divided almost equally at first and by the rates later. A page counts as visited at
    time 0, unless :meth:`begin` names the time of its first visit.
    """

    def __init__(
        self,
        pages: Sequence[Watched],
        budget: float,
        policy: Policy = Policy.CHANGES,
        *,
        loss: float = LOSS,
        weight: float = WEIGHT,
        window: int = WINDOW,
    ) -> None:
        count = len(pages)
        self.pages, self.budget, self.policy = pages, budget, policy
        self.loss, self.weight, self.window = loss, weight, window
        # Without a budget the pages are compared with one visit a day to each.
        self.rates = np.full(count, budget / max(count, 1) if budget > 0 else 1.0)
        self.last = np.zeros(count)
        self._weights = np.array([page.weight for page in pages], dtype=np.float64)
        self._visits: list[list[Visit]] = [[] for _ in pages]
        self._gaps: list[list[float]] = [[] for _ in pages]  # of the visits that saw a change
        self._unchanged = np.zeros(count)  # days of the other gaps
        self._sites = _numbered([page.site for page in pages])
        self._kinds = _numbered([(page.site, page.kind) for page in pages])
        self._site_of_kind = np.zeros(int(self._kinds.max(initial=-1)) + 1, dtype=np.intp)
        self._site_of_kind[self._kinds] = self._sites
        self._expected = self.rates.copy()
        self._alive = np.ones(count, dtype=np.bool_)
        self._adaptive = AdaptiveInterval()
        self._intervals = np.full(count, count / budget if budget > 0 else YEAR)
        self._changed = np.zeros(count)
        self._due = self._intervals.copy()
        self._share = np.zeros(count)
        self._until = self._plans = 0  # visits until the next plan, plans so far

    def begin(self, index: int, when: float) -> None:
        """Set the time of the first visit to a page."""
        self.last[index] = self._changed[index] = when
        self._due[index] = when + self._intervals[index]

    def visited(self, index: int, when: float, *, changed: bool) -> None:
        """Learn from a visit to a page whether its content had changed since the visit before."""
        visits, gap = self._visits[index], max(when - float(self.last[index]), _LEAST)
        visits.append(Visit(gap, changed))
        if changed:
            self._gaps[index].append(gap)
        else:
            self._unchanged[index] += gap
        if len(visits) > self.window:
            self._forget(index, visits.pop(0))
        self.last[index] = when
        self.rates[index] = self._rate(index)
        if self.policy is not Policy.ADAPTIVE:
            share = float(self._share[index])
            self._due[index] = when + 1 / share if share > 0 else math.inf
            return
        if changed:
            self._changed[index] = when
        interval, wait = self._adaptive.after(
            float(self._intervals[index]), when - float(self._changed[index]), changed=changed
        )
        self._intervals[index], self._due[index] = interval, when + wait

    def remove(self, index: int) -> None:
        """Visit a page no more; the budget stays the same."""
        self._alive[index] = False
        self._due[index] = math.inf
        self._until = 0

    def next(self) -> int | None:
        """Return the page that is due first, None if no page gets visits.

        The budget is divided anew after as many visits as pages. Later the rates hardly move from one visit
        to the next, so that more visits pass.
        """
        if self.policy is not Policy.ADAPTIVE:
            if self._until <= 0:
                self.plan(1)
                self._plans += 1
                self._until = int(self._alive.sum()) * min(1 + self._plans // _ROUNDS, _ROUNDS)
            self._until -= 1
        if not np.isfinite(self._due).any():
            return None
        return int(self._due.argmin())

    def plan(self, sweeps: int = _SWEEPS) -> NDArray[np.float64]:
        """Return the visits a day of each page, after learning the rates of sites and kinds anew."""
        for _ in range(sweeps):
            self._learn()
        alive, weights = self._alive, self._weights[self._alive]
        rates, equal = self.rates[alive], self.budget / max(int(alive.sum()), 1)
        if self.budget <= 0 and self.policy is not Policy.ADAPTIVE:
            found = np.zeros_like(rates)
        elif self.policy is Policy.FRESHNESS:
            found = fresh_visits(rates, self.budget, weights)
        elif self.policy is Policy.PROPORTIONAL:
            found = catching_visits(rates, self.budget)
        elif self.policy is Policy.CHANGES:
            least = sufficient_visits(rates, equal, self.loss)
            found = catching_visits(rates, self.budget, least, weights)
        elif self.policy is Policy.ADAPTIVE:
            found = 1 / np.maximum(self._due - self.last, _LEAST)[alive]
        else:
            found = np.full_like(rates, equal)
        self._share = np.zeros_like(self.rates)
        self._share[alive] = found
        if self.policy is not Policy.ADAPTIVE:
            with np.errstate(divide="ignore"):
                self._due = np.where(alive, self.last + 1 / self._share, np.inf)
        return self._share

    def visits(self, index: int) -> Sequence[Visit]:
        """Return the visits to a page that count."""
        return self._visits[index]

    def expected(self, index: int) -> float:
        """Return the rate of the pages of the same site and kind."""
        return float(self._expected[index])

    def _learn(self) -> None:
        """Set the rate of each kind to the mean of its pages, and of each page by its kind and visits.

        The rate of all pages counts as a page of each site, and the rate of a site as a page of each kind.
        """
        if not len(self.rates):
            return
        overall = float(self.rates.mean())
        sites = _means(self.rates, self._sites, np.full(int(self._sites.max()) + 1, overall))
        self._expected = _means(self.rates, self._kinds, sites[self._site_of_kind])[self._kinds]
        for index in np.flatnonzero(self._alive).tolist():
            self.rates[index] = self._rate(index)

    def _forget(self, index: int, oldest: Visit) -> None:
        if oldest.changed:
            self._gaps[index].pop(0)
        else:
            self._unchanged[index] = max(self._unchanged[index] - oldest.gap, 0.0)

    def _rate(self, index: int) -> float:
        prior = Prior(float(self._expected[index]), self.weight)
        near = float(self.rates[index])
        return likeliest_rate(self._gaps[index], float(self._unchanged[index]), prior, near)


def _numbered(names: Sequence[Hashable]) -> NDArray[np.intp]:
    """Return the number of each name, from 0 in the order of their first place."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(name, len(numbers)) for name in names], dtype=np.intp)


def _means(
    values: NDArray[np.float64], groups: NDArray[np.intp], first: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the mean of each group of values; ``first`` has one more value for each group.

    >>> _means(np.array([2.0, 4.0, 9.0]), np.array([0, 0, 1]), np.array([3.0, 1.0])).tolist()
    [3.0, 5.0]
    """
    counts = np.bincount(groups, minlength=len(first))
    means: NDArray[np.float64] = (first + np.bincount(groups, values, len(first))) / (counts + 1)
    return means
