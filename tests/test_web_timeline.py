"""The strip and the calendar of a page: what is foremost where several visits share a place."""

from __future__ import annotations

from dataclasses import replace

from archivebot import Archive, ArchiveConfig
from archivebot.models import Capture, Kind
from archivebot.web.timeline import BARS, WIDTH, Calendar, strip
from tests.factories import html, make_page


def captures(count: int, hours: float = 1) -> list[Capture]:
    """Return a visit every few hours, the first of a new page, the others unchanged."""
    with Archive.open(ArchiveConfig(uri="sqlite:///:memory:")) as archive:
        (first,) = (archive.add(archive.segment(make_page(html("x")))),)
    times = [make_page(day=number * hours / 24).captured_at for number in range(count)]
    return [
        replace(first, captured_at=when, kind=Kind.REVISIT if n else Kind.NEW) for n, when in enumerate(times)
    ]


def test_a_strip_has_no_more_marks_than_can_be_seen() -> None:
    found = strip(captures(10_000))
    assert len(found) == BARS
    assert sum(bar.count for bar in found) == 10_000
    assert found[-1].x + found[-1].width <= WIDTH


def test_of_visits_on_one_place_the_most_important_is_shown() -> None:
    visits = captures(10_000)
    visits[5000] = replace(visits[5000], kind=Kind.CHANGED, new_blocks=1, block_count=1)
    marks = [bar.mark for bar in strip(visits)]
    assert (marks.count("content"), marks.count("new")) == (1, 1)


def test_one_visit_is_one_mark() -> None:
    (bar,) = strip(captures(1))
    assert (bar.x, bar.mark) == (0, "new")


def test_a_calendar_has_the_months_with_visits_of_one_year() -> None:
    visits = captures(400, hours=24)
    calendar = Calendar.of(visits)
    assert (calendar.year, calendar.years) == (2027, [(2026, 365), (2027, 35)])
    assert [month.first.month for month in calendar.months] == [1, 2]
    assert len(Calendar.of(visits, "2026").months) == 12
    for other in ("1999", "x", "²"):
        assert Calendar.of(visits, other).year == 2027
