"""The interval of a page that grows while it stays the same and shrinks when it changes, as in Nutch."""

from __future__ import annotations

from dataclasses import dataclass

MINUTE, YEAR = 1 / 1440, 365.0  # days


@dataclass(frozen=True, slots=True)
class AdaptiveInterval:
    """The rule of Apache Nutch's AdaptiveFetchSchedule with its default values; intervals are in days.

    After a change the interval shrinks by a fifth, else it grows by two fifths. If the content is older than
    the interval, the interval becomes its age, and the next visit comes earlier by three tenths of that age.
    """

    shrink: float = 0.2
    grow: float = 0.4
    sync: float = 0.3
    least: float = MINUTE
    most: float = YEAR

    def after(self, interval: float, age: float, *, changed: bool) -> tuple[float, float]:
        """Return the next interval, and the days until the next visit.

        ``age`` is how long ago the content was seen to change for the last time, in days.

        >>> AdaptiveInterval().after(10.0, 0.0, changed=True)
        (8.0, 8.0)
        >>> AdaptiveInterval().after(10.0, 10.0, changed=False)
        (14.0, 11.0)
        >>> AdaptiveInterval().after(10.0, 40.0, changed=False)
        (40.0, 28.0)
        """
        interval *= 1 - self.shrink if changed else 1 + self.grow
        age = max(age, 0.0)
        interval = min(max(interval, age, self.least), self.most)
        return interval, max(interval - age * self.sync, self.least)
