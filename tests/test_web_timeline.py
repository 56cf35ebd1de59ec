"""The time line of a page: what is foremost where several visits share a place, and when it is read again."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from archivebot import Archive, ArchiveConfig
from archivebot.models import Kind
from archivebot.versioning.keep import Keep
from archivebot.web.timeline import BARS, WIDTH, TimeLine, TimeLines, Visit
from tests.factories import URL, html, make_page


def visits(count: int, hours: float = 1, changed: int = -1) -> list[Visit]:
    """Return a visit every few hours: the first of a new page, the others unchanged, but for one."""
    kinds = [Kind.NEW] + [Kind.REVISIT] * (count - 1)
    marks = ["new"] + ["none"] * (count - 1)
    if changed >= 0:
        kinds[changed], marks[changed] = Kind.CHANGED, "content"
    times = [make_page(day=number * hours / 24).captured_at for number in range(count)]
    return [
        Visit(when, mark, kind, 200, 1, 1, 4, 9, "", is_memento=True)
        for when, mark, kind in zip(times, marks, kinds, strict=True)
    ]


def test_a_strip_has_no_more_marks_than_can_be_seen() -> None:
    found = TimeLine(visits(10_000)).strip
    assert len(found) == BARS
    assert sum(bar.count for bar in found) == 10_000
    assert found[-1].x + found[-1].width <= WIDTH


def test_of_visits_on_one_place_the_most_important_is_shown() -> None:
    marks = [bar.mark for bar in TimeLine(visits(10_000, changed=5000)).strip]
    assert (marks.count("content"), marks.count("new")) == (1, 1)


def test_one_visit_is_one_mark() -> None:
    (bar,) = TimeLine(visits(1)).strip
    assert (bar.x, bar.mark) == (0, "new")


def test_a_calendar_has_the_months_with_visits_of_one_year() -> None:
    line = TimeLine(visits(400, hours=24))
    assert line.years == [(2026, 365), (2027, 35)]
    assert [month.first.month for month in line.months(2027)] == [1, 2]
    assert len(line.months(2026)) == 12
    assert line.chosen("", "") == line.chosen("1999", "x") == line.chosen("²", "7") == (2027, 2)
    assert line.chosen("2026", "7") == (2026, 7)
    days = [visit.captured_at.day for visit in line.of_month(2027, 2)]
    assert days == [4, 3, 2, 1]


def test_a_time_line_is_kept_until_there_is_something_new(tmp_path: Path) -> None:
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")
    lines = TimeLines()
    with Archive.open(config) as archive, Archive.reader(ArchiveConfig(uri=config.uri)) as reader:
        archive.add(archive.segment(make_page(html("a"), 5)))
        archive.sync()
        first = lines.of(reader, URL)
        assert lines.of(reader, URL) is first
        archive.add(archive.segment(make_page(html("b"), 6)))  # later: seen at once
        assert len(lines.of(reader, URL).visits) == 2
        archive.add(archive.segment(make_page(html("c"), 1)))  # earlier: seen when it is durable
        archive.sync()
        assert [visit.captured_at.day for visit in lines.of(reader, URL).visits] == [2, 6, 7]


def test_a_time_line_shows_what_was_pruned_since_it_was_read(tmp_path: Path) -> None:
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")
    lines = TimeLines()
    with Archive.open(config) as archive, Archive.reader(config) as reader:
        for day in range(3):
            archive.add(archive.segment(make_page(html(f"day {day}"), day)))
        assert [visit.is_memento for visit in lines.of(reader, URL).visits] == [True] * 3
        archive.prune(URL, Keep.parse("ends"), datetime.now(UTC))
        assert [visit.is_memento for visit in lines.of(reader, URL).visits] == [True, False, True]
