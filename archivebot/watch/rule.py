"""A rule: the changes of pages that it wants to know."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from archivebot.kinds import Label, SiteChange

# The kinds of changes after which a page has content that can be looked at.
SHOWN = frozenset((SiteChange.NEW, SiteChange.CHANGED, SiteChange.TOUCHED, SiteChange.BACK))


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of a number: a maximum, a minimum, and the maximum share by which it may change."""

    above: float | None = None
    below: float | None = None
    share: float | None = None

    def crossed(self, before: float | None, after: float | None) -> list[tuple[str, str]]:
        """Return the bounds that a number crossed, each with a description; a number may be missing.

        >>> Bounds(above=10, below=5).crossed(7, 4), Bounds(below=5).crossed(4, 3)
        ([('below', '4 is below 5')], [])
        >>> Bounds(share=0.1).crossed(100, 112), Bounds(share=0.1).crossed(None, 3)
        ([('share', 'changed by 12 %')], [])
        """
        if after is None:
            return []
        found = []
        if self.above is not None and after > self.above and (before is None or before <= self.above):
            found.append(("above", f"{_exact(after)} is above {_exact(self.above)}"))
        if self.below is not None and after < self.below and (before is None or before >= self.below):
            found.append(("below", f"{_exact(after)} is below {_exact(self.below)}"))
        if self.share is not None and before is not None and abs(after - before) > self.share * abs(before):
            by = f"by {abs(after - before) / abs(before):.0%}".replace("%", " %") if before else "from 0"
            found.append(("share", f"changed {by}"))
        return found


def _exact(number: float) -> str:
    """Return a number with all its digits, a whole number without a decimal point."""
    return repr(number).removesuffix(".0")


@dataclass(frozen=True, slots=True)
class Rule:
    """Which pages a rule watches, which changes of them it reports, and the outputs that get its alerts.

    All conditions must hold; of a list one entry suffices. ``size`` is the minimum number of words that were
    added or removed. ``persist`` is the number of captures in a row that must show the change.
    """

    name: str
    patterns: tuple[re.Pattern[str], ...]
    changes: frozenset[SiteChange]
    labels: frozenset[Label] = frozenset()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    numbers: Mapping[str, Bounds] = field(default_factory=dict, hash=False)
    size: int = 0
    persist: int = 1
    send: tuple[str, ...] = ()

    def watches(self, url: str) -> bool:
        """Return whether the rule applies to a page."""
        return any(pattern.fullmatch(url) for pattern in self.patterns)

    @property
    def has_conditions(self) -> bool:
        """Whether the rule looks at the content of a change."""
        return bool(self.labels or self.added or self.removed or self.fields or self.numbers or self.size)

    def wants(self, kind: SiteChange) -> bool:
        """Return whether changes of a kind may match.

        A change of furniture may change a field, or a block whose label is a label of furniture.
        """
        furniture = self.fields or self.numbers or any(label.is_furniture for label in self.labels)
        if kind is SiteChange.TOUCHED and SiteChange.CHANGED in self.changes and furniture:
            return True
        return kind in self.changes and (kind in SHOWN or not self.has_conditions)
