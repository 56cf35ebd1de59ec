"""The visits of a page in time: the marks of a strip, and the days of a calendar."""

from __future__ import annotations

from calendar import Calendar as Weeks
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Self

from archivebot.models import Capture, Kind

# What a reader wants to tell apart, the most important first.
MARKS = {
    "new": "first seen",
    "content": "content changed",
    "gone": "gone, or never there",
    "furniture": "only furniture changed",
    "redirect": "led elsewhere",
    "failed": "failed or excluded",
    "none": "unchanged",
}
_MARK = {
    Kind.NEW: "new",
    Kind.CHANGED: "content",
    Kind.TOUCHED: "furniture",
    Kind.REVISIT: "none",
    Kind.REDIRECT: "redirect",
    Kind.GONE: "gone",
    Kind.NOT_FOUND: "gone",
}
_ORDER = list(MARKS)

# Marks in a strip: as many as can be told apart on a screen of 1000 pixels.
WIDTH, BARS = 1000, 250
_TALLEST, _FLOOR = 36, 8


@dataclass(frozen=True, slots=True)
class Bar:
    """One mark of a strip: its place, its height, its kind, and the visit that it leads to."""

    x: float
    width: float
    height: float
    mark: str
    capture: Capture
    count: int


@dataclass(frozen=True, slots=True)
class Day:
    """A day of a calendar: its number, 0 for none of the month; its mark, its visits."""

    number: int
    mark: str = ""
    count: int = 0
    capture: Capture | None = None


@dataclass(frozen=True, slots=True)
class Month:
    """A month of a calendar: its first day, and its weeks."""

    first: datetime
    weeks: list[list[Day]]


@dataclass(frozen=True, slots=True)
class Calendar:
    """One year of visits: its months with visits, its visits, and how many each year has."""

    year: int
    years: list[tuple[int, int]]
    months: list[Month]
    captures: list[Capture]

    @classmethod
    def of(cls, captures: Sequence[Capture], year: str = "") -> Self:
        """Return the calendar of a year, of the last one with visits unless ``year`` has some."""
        years = Counter(capture.captured_at.year for capture in captures)
        shown = int(year) if year.isdecimal() and int(year) in years else max(years)
        found = [capture for capture in captures if capture.captured_at.year == shown]
        by_day: dict[tuple[int, int], list[Capture]] = {}
        for capture in found:
            by_day.setdefault((capture.captured_at.month, capture.captured_at.day), []).append(capture)
        months = [
            Month(
                datetime(shown, month, 1),
                [
                    [_day(day, by_day.get((month, day), [])) for day in week]
                    for week in Weeks().monthdayscalendar(shown, month)
                ],
            )
            for month in sorted({month for month, _ in by_day})
        ]
        return cls(shown, sorted(years.items()), months, found)


def mark(capture: Capture) -> str:
    """Return the mark of a visit."""
    return _MARK.get(capture.kind, "failed")


def strip(captures: Sequence[Capture]) -> list[Bar]:
    """Return the marks of a strip from the first visit to the last.

    Visits that fall on the same place are one mark, of the most important of them. A mark is as tall as the
    share of the page's bytes in changed blocks.
    """
    start, end = captures[0].captured_at, captures[-1].captured_at
    span = (end - start).total_seconds() or 1
    places: dict[int, list[Capture]] = {}
    for capture in captures:
        share = (capture.captured_at - start).total_seconds() / span
        places.setdefault(round(share * (BARS - 1)), []).append(capture)
    width = WIDTH / BARS
    bars = []
    for place, found in places.items():
        shown = _foremost(found)
        part = shown.new_blocks / shown.block_count if shown.block_count else 0
        height = _FLOOR + (_TALLEST - _FLOOR) * min(part, 1)
        bars.append(Bar(place * width, max(width - 1, 1), round(height, 1), mark(shown), shown, len(found)))
    return bars


def _foremost(captures: Sequence[Capture]) -> Capture:
    return min(captures, key=lambda capture: _ORDER.index(mark(capture)))


def _day(number: int, captures: Sequence[Capture]) -> Day:
    if not captures:
        return Day(number)
    shown = _foremost(captures)
    return Day(number, mark(shown), len(captures), shown)
