"""The activity of a site: how many of its pages were new, changed, removed or islanded in each period."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from operator import attrgetter

from archivebot.archive import ArchiveReader
from archivebot.exceptions import CorruptObject
from archivebot.models import REQUISITE, Capture, Kind
from archivebot.timestamps import timestamp

# A site that was visited for longer is shown by months, and longer than that by years.
DAYS, MONTHS = timedelta(days=92), timedelta(days=5 * 366)


@dataclass(frozen=True, slots=True)
class Period:
    """A day, month or year of a site (``2026-11``), and the number of pages to which each of these happened.

    A page is ``new`` at its first capture with content, ``changed`` at each capture with other content,
    ``removed`` when it is gone or redirects, and ``islanded`` when it is still there, but no page of the site
    links to it any more.
    """

    period: str
    new: int = 0
    changed: int = 0
    removed: int = 0
    islanded: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """What happened to a page of a site, and when; ``what`` is the name of a count of a :class:`Period`."""

    what: str
    url: str
    captured_at: datetime

    def record(self) -> dict[str, str]:
        """Return the event as a record."""
        return {"what": self.what, "url": self.url, "captured_at": timestamp(self.captured_at)}


def activity(archive: ArchiveReader, site: str) -> list[Period]:
    """Return the activity of the site of a URL, the periods in order; those without any are left out."""
    return list(_by_period(events(archive, site)))


def events(archive: ArchiveReader, site: str) -> list[Event]:
    """Return what happened to the pages of the site of a URL, the last first.

    A requisite is not a page. A page that cannot be read is left out.
    """
    found: list[Event] = []
    visits: dict[str, list[datetime]] = {}
    there: set[str] = set()
    for url in archive.visits.pages(site):
        try:
            captures = archive.captures(url)
        except CorruptObject:
            continue
        if captures and captures[-1].origin == REQUISITE:
            continue
        found.extend(_events(url, captures))
        visits[url] = [each.captured_at for each in captures if each.kind.has_content and each.links]
        told = [each for each in captures if each.kind.has_content or each.kind in (Kind.GONE, Kind.REDIRECT)]
        if told and told[-1].kind.has_content:
            there.add(url)
    found.extend(_islanded(archive, visits, there))
    return sorted(found, key=attrgetter("captured_at"), reverse=True)


def _events(url: str, captures: Sequence[Capture]) -> Iterator[Event]:
    """Yield what happened to a page; a page that is back counts as new."""
    is_there = False
    for capture in captures:
        if capture.kind.has_content:
            if not is_there:
                yield Event("new", url, capture.captured_at)
            elif capture.kind is Kind.CHANGED:
                yield Event("changed", url, capture.captured_at)
            is_there = True
        elif is_there and capture.kind in (Kind.GONE, Kind.REDIRECT):
            yield Event("removed", url, capture.captured_at)
            is_there = False


def _islanded(archive: ArchiveReader, visits: dict[str, list[datetime]], there: set[str]) -> Iterator[Event]:
    """Yield the pages of the site to which no page links, with the time at which the last link was missing.

    ``visits`` are the times at which each page was read. A link was removed at the first visit to its page
    after the link was seen last.
    """
    removed: defaultdict[str, list[datetime | None]] = defaultdict(list)
    for source, times in visits.items():
        for link in archive.links_from(source):
            if link.target in there and link.target != source:
                later = (when for when in times if when > link.last)
                removed[link.target].append(next(later, None) if source in there else link.last)
    for target, ends in removed.items():
        if None not in ends:
            yield Event("islanded", target, max(end for end in ends if end))


def _by_period(found: Sequence[Event]) -> Iterator[Period]:
    if not found:
        return
    span = found[0].captured_at - found[-1].captured_at
    form = "%Y-%m-%d" if span < DAYS else "%Y-%m" if span < MONTHS else "%Y"
    counts: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for event in found:
        counts[event.captured_at.strftime(form)][event.what] += 1
    for period, count in sorted(counts.items()):
        yield Period(period, **count)
