"""The visits of a page in time: the marks of a strip, and the days of a calendar."""

from __future__ import annotations

import re
from calendar import Calendar as Weeks
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property

from archivebot.archive import ArchiveReader
from archivebot.archive.mementos import is_memento
from archivebot.models import Capture, Kind
from archivebot.versioning.presence import gone_since
from archivebot.web.kept import Kept

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
_ORDER = {name: place for place, name in enumerate(MARKS)}

# Marks in a strip: as many as can be told apart on a screen of 1000 pixels.
WIDTH, BARS = 1000, 250
_TALLEST, _FLOOR = 36, 8

# A year or a range of years, and a month, as a reader asks for them.
_YEARS = re.compile(r"(\d{4})(?:-(\d{4}))?", re.ASCII)
_MONTH = re.compile(r"\d{1,2}", re.ASCII)

# Visits of the time lines that are kept, 200 bytes each.
KEPT = 200_000


@dataclass(frozen=True, slots=True)
class Visit:
    """A capture as a time line shows it; ``mark`` is one of :data:`MARKS`."""

    captured_at: datetime
    mark: str
    kind: Kind
    status: int | None
    number: int | None
    new_blocks: int
    block_count: int
    size: int
    note: str
    is_memento: bool


@dataclass(frozen=True, slots=True)
class Bar:
    """One mark of a strip: its place, its height, its kind, and how many visits it stands for."""

    x: float
    width: float
    height: float
    mark: str
    count: int


@dataclass(frozen=True, slots=True)
class Day:
    """A day of a calendar: its number, 0 for none of the month; its foremost visit, and how many it has."""

    number: int
    visit: Visit | None = None
    count: int = 0


@dataclass(frozen=True, slots=True)
class Month:
    """A month of a calendar: its first day, and its weeks."""

    first: datetime
    weeks: list[list[Day]]


class TimeLine:
    """All visits of a page, at least one, oldest first; ``gone_since`` as in the archive."""

    def __init__(self, visits: Sequence[Visit], gone_since: datetime | None = None) -> None:
        self.visits = visits
        self.gone_since = gone_since
        self._by_day: dict[tuple[int, int], dict[int, list[Visit]]] = {}
        for visit in visits:
            when = visit.captured_at
            month = self._by_day.setdefault((when.year, when.month), {})
            month.setdefault(when.day, []).append(visit)

    @cached_property
    def years(self) -> list[tuple[int, int]]:
        """The years with visits, each with their number."""
        return sorted(Counter(visit.captured_at.year for visit in self.visits).items())

    @cached_property
    def strip(self) -> list[Bar]:
        """The marks of a strip from the first visit to the last.

        Visits that fall on the same place are one mark, of the most important of them. A mark is as tall as
        the share of new blocks.
        """
        start, end = self.visits[0].captured_at, self.visits[-1].captured_at
        span = (end - start).total_seconds() or 1
        places: dict[int, list[Visit]] = {}
        for visit in self.visits:
            share = (visit.captured_at - start).total_seconds() / span
            places.setdefault(round(share * (BARS - 1)), []).append(visit)
        return [_bar(place, found) for place, found in places.items()]

    @cached_property
    def first_seen(self) -> dict[int, datetime]:
        """The times at which the versions were seen first, by their numbers."""
        return {visit.number: visit.captured_at for visit in reversed(self.visits) if visit.number}

    def chosen(self, year: str, month: str) -> tuple[int, int]:
        """Return the given year and month if they have visits, else the last with visits.

        ``year`` may be a range, as ``2009-2015``, of which the last year with visits is shown.
        """
        years = {number for number, _ in self.years}
        found = _YEARS.fullmatch(year)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        shown = max([each for each in years if first <= each <= last] or years)
        months = [number for of, number in self._by_day if of == shown]
        named = _MONTH.fullmatch(month)
        return shown, int(month) if named and int(month) in months else max(months)

    def months(self, year: int) -> list[Month]:
        """Return the months of a year with visits."""
        found = sorted(number for of, number in self._by_day if of == year)
        return [
            Month(
                datetime(year, month, 1),
                [
                    [_day(day, self._by_day[year, month].get(day, [])) for day in week]
                    for week in Weeks().monthdayscalendar(year, month)
                ],
            )
            for month in found
        ]

    def of_month(self, year: int, month: int) -> list[Visit]:
        """Return the visits of a month, the last first."""
        return [visit for day in self._by_day[year, month].values() for visit in day][::-1]


class TimeLines:
    """The time lines read last: to read 10,000 captures takes a quarter of a second."""

    def __init__(self) -> None:
        self._kept: Kept[tuple[Hashable, TimeLine]] = Kept(lambda kept: len(kept[1].visits), KEPT)

    def of(self, reader: ArchiveReader, url: str) -> TimeLine:
        """Return the time line of a page; it is read again when the captures of the page have changed."""
        state = reader.mementos.state(url)
        kept = self._kept.get(url)
        if kept and kept[0] == state:
            return kept[1]
        captures = reader.mementos.visits(url)
        line = TimeLine(list(map(visit_of, captures)), gone_since(captures))
        self._kept.put(url, (state, line))
        return line


@cache
def time_lines() -> TimeLines:
    """Return the time lines that this process has read."""
    return TimeLines()


def visit_of(capture: Capture) -> Visit:
    """Return a capture as a time line shows it."""
    return Visit(
        captured_at=capture.captured_at,
        mark=_MARK.get(capture.kind, "failed"),
        kind=capture.kind,
        status=capture.status,
        number=capture.number,
        new_blocks=capture.new_blocks,
        block_count=capture.block_count,
        size=capture.size,
        note=capture.location or capture.reason,
        is_memento=is_memento(capture),
    )


def _bar(place: int, visits: Sequence[Visit]) -> Bar:
    shown = _foremost(visits)
    part = min(shown.new_blocks / shown.block_count, 1) if shown.block_count else 0
    width = WIDTH / BARS
    return Bar(
        place * width, width - 1, round(_FLOOR + (_TALLEST - _FLOOR) * part, 1), shown.mark, len(visits)
    )


def _foremost(visits: Sequence[Visit]) -> Visit:
    return min(visits, key=lambda visit: _ORDER[visit.mark])


def _day(number: int, visits: Sequence[Visit]) -> Day:
    return Day(number, _foremost(visits), len(visits)) if visits else Day(number)
