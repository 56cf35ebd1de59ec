"""Budgets of visits, as users write them."""

from __future__ import annotations

import re
from math import inf

from archivebot.exceptions import UsageError

_BUDGET = re.compile(r"(\d+(?:\.\d+)?)(?:/(minute|hour|day|week))?")
_A_DAY = {"minute": 1440.0, "hour": 24.0, "day": 1.0, "week": 1 / 7}


def read_budget(text: str) -> float:
    """Return the visits a day of a budget; raises UsageError for other texts.

    >>> read_budget("12/hour"), read_budget("500"), read_budget("7/week")
    (288.0, 500.0, 1.0)
    >>> read_budget("0/day")
    Traceback (most recent call last):
    archivebot.exceptions.UsageError: the budget is '0/day': give visits, as 500/day or 20/hour
    """
    found = _BUDGET.fullmatch(text.strip())
    if not found or not 0 < float(found[1]) < inf:
        raise UsageError(f"the budget is {text!r}: give visits, as 500/day or 20/hour")
    return float(found[1]) * _A_DAY[found[2] or "day"]
