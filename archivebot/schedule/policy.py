"""The rules by which a budget of visits is divided."""

from __future__ import annotations

from enum import StrEnum


class Policy(StrEnum):
    """The rule by which a budget of visits is divided among pages."""

    CHANGES = "changes"  # sees most changes, and no page loses more than 10 % of its own to others
    FRESHNESS = "freshness"  # is up to date for the largest share of the time
    PROPORTIONAL = "proportional"  # visits in proportion to the changes
    ADAPTIVE = "adaptive"  # the intervals of Nutch
    FIXED = "fixed"  # visits all pages equally often
