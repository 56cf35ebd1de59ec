"""The schedule of an archive: how often each page changes, and when it is worth the next visit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

from archivebot.archive import ArchiveReader
from archivebot.exceptions import CorruptObject
from archivebot.jobs.addresses import was_private
from archivebot.jobs.damage import Damaged, fail
from archivebot.jobs.hints import Hints, read_hints
from archivebot.models import CRAWL, REQUISITE, Capture, Kind
from archivebot.schedule.planner import Planner, Watched
from archivebot.schedule.policy import Policy
from archivebot.schedule.rate import Estimate, Visit, estimate
from archivebot.timestamps import timestamp
from archivebot.urls import has_method, host_of
from archivebot.urls.pattern import pattern

DAY = 86400.0  # seconds

# Days until the next visit after the first visit without content. Each further such visit doubles them.
BACK_OFF = {
    Kind.FAILED: 1 / 24,
    Kind.UNRESOLVED: 1.0,
    Kind.EXCLUDED: 1.0,
    Kind.GONE: 1.0,
    Kind.NOT_FOUND: 1.0,
    Kind.REDIRECT: 7.0,
}
MOST_DAYS = 180.0

# A feed or a sitemap names the new pages of its site, so that a change of it is worth two changes of another
# page: its own, and the new page.
FEED_WEIGHT = 2.0


@dataclass(frozen=True, slots=True)
class ScheduledPage:
    """A page, how often its content changes, and its next visit with the reason.

    ``estimate`` is from the visits of the page alone; ``rate``, in changes a day, from these and from similar
    pages, None if its last visits brought no content. ``interval`` is in days, infinite if the page gets no
    visits.
    """

    url: str
    estimate: Estimate
    rate: float | None
    interval: float
    last: datetime
    why: str

    @property
    def next(self) -> datetime | None:
        """The time of the next visit; None if there is none within the calendar."""
        try:
            return self.last + timedelta(days=self.interval)
        except OverflowError:
            return None

    def is_due(self, now: datetime) -> bool:
        """Return whether the next visit is not later than a time; a last visit after it counts as none."""
        return self.next is not None and (self.next <= now or self.last > now)

    def overdue(self, now: datetime) -> float:
        """Return how often the interval has passed since the last visit."""
        return (now - self.last).total_seconds() / DAY / self.interval

    def record(self, now: datetime) -> dict[str, Any]:
        """Return the page as a record; rates are in changes a day, the interval is in days."""
        found = self.estimate
        return {
            "url": self.url,
            "visits": found.visits,
            "changes": found.changes,
            "rate": self.rate,
            "own_rate": _finite(found.rate),
            "low": found.low,
            "high": _finite(found.high),
            "interval": _finite(self.interval),
            "last": timestamp(self.last),
            "next": timestamp(self.next) if self.next else None,
            "due": self.is_due(now),
            "why": self.why,
        }


@dataclass(frozen=True, slots=True)
class Round:
    """The pages to visit now: ``due`` by how overdue they are, and ``new`` ones that were never visited.

    ``known`` are all pages of the archive but requisites. ``private`` are the hosts that crawls reached at a
    private address.
    """

    due: list[str]
    new: list[str]
    known: frozenset[str]
    private: frozenset[str]


class _Seen(NamedTuple):
    """What the schedule needs of a capture: the headers of 600,000 captures would take a gigabyte."""

    captured_at: datetime
    kind: Kind


@dataclass(frozen=True, slots=True)
class _Known:
    """The pages of an archive but requisites, with their captures, and what else these captures say."""

    pages: list[tuple[str, list[_Seen]]]
    hints: Hints
    private: frozenset[str]


def schedule(
    archive: ArchiveReader,
    budget: float | None = None,
    policy: Policy = Policy.CHANGES,
    collection: str = "",
    damaged: Damaged = fail,
) -> list[ScheduledPage]:
    """Return all pages of an archive but requisites, by the time of their next visit.

    ``budget`` is in visits a day; without it there are as many as pages. Pages whose last visits brought no
    content are visited less and less, whatever the budget is. A page that changed after its last visit, as a
    sitemap or a feed of its site states, is due.

    With a ``collection`` only its pages are returned. Raises UsageError if there is no such collection.
    A page that cannot be read is passed to ``damaged``.
    """
    covers = _covers(archive, collection)
    pages = _schedule(archive, _known(archive, damaged), budget, policy)
    return [page for page in pages if covers(page.url)]


def next_round(
    archive: ArchiveReader,
    budget: float | None = None,
    policy: Policy = Policy.CHANGES,
    collection: str = "",
    damaged: Damaged = fail,
) -> Round:
    """Return the pages that are due, and those that sitemaps and feeds name but that were never visited.

    With a ``collection`` only its pages are visited. Raises UsageError if there is no such collection.
    A page that cannot be read is passed to ``damaged``.
    """
    time = now()
    covers = _covers(archive, collection)
    read = _known(archive, damaged)
    pages = _schedule(archive, read, budget, policy)
    due = sorted((page for page in pages if page.is_due(time)), key=lambda page: -page.overdue(time))
    known = frozenset(page.url for page in pages)
    new = [url for url in read.hints.named if url not in known and covers(url)]
    return Round([page.url for page in due if covers(page.url)], new, known, read.private)


def _covers(archive: ArchiveReader, collection: str) -> Callable[[str], bool]:
    return archive.collections.named(collection).covers if collection else lambda url: True


def _known(archive: ArchiveReader, damaged: Damaged) -> _Known:
    """Read the captures of all pages up to now, without headers and exchanges but for the last of a page.

    A capture of a later time is from a clock that was ahead: the page would not be due until that time.
    The answer to a POST is left out: the body of its request is not kept, and a GET asks for another page.
    """
    time = now()
    known: list[tuple[str, list[_Seen]]] = []
    private: set[str] = set()

    def pages() -> Iterator[tuple[str, list[Capture]]]:
        for url in archive.visits.pages(None, partial(damaged, "a page")):
            try:
                captures = [] if has_method(url) else archive.mementos.visits(url)
            except CorruptObject as error:
                damaged(url, error)
                continue
            captures = [each for each in captures if each.captured_at <= time] or captures
            if captures and captures[-1].origin != REQUISITE:
                known.append((url, [_Seen(each.captured_at, each.kind) for each in captures]))
                is_crawled = any(each.origin == CRAWL for each in captures)
                if is_crawled and was_private(archive.visits.backwards(url, captures[-1].captured_at)):
                    private.add(host_of(url))
                yield url, captures

    hints = read_hints(archive, pages())
    return _Known(known, hints, frozenset(private))


def _schedule(
    archive: ArchiveReader, known: _Known, budget: float | None, policy: Policy
) -> list[ScheduledPage]:
    hints = known.hints
    there: list[tuple[Watched, list[_Seen]]] = []
    steady: dict[str, float] = {}
    found: list[ScheduledPage] = []
    for url, captures in known.pages:
        missed = _missed(captures)
        if missed:
            found.append(_away(url, captures, missed))
        elif (collection := archive.collections.of(url)) and collection.interval:
            steady[url] = collection.interval
            found.append(_steady(url, captures, collection.interval, collection.name))
        else:
            weight = FEED_WEIGHT if url in hints.lists else 1.0
            there.append((Watched(url, host_of(url), pattern(url) or "", weight), captures))
    left = float(len(there)) if budget is None else budget - sum(1 / days for days in steady.values())
    found.extend(_planned(there, max(left, 0.0), policy))
    found = [_hinted(page, hints) for page in found]
    return sorted(found, key=lambda page: (page.next is None, page.next or page.last, page.url))


def _hinted(page: ScheduledPage, hints: Hints) -> ScheduledPage:
    """Return a page with the interval to the change that a sitemap or a feed states, if that is sooner."""
    hint = hints.newer(page.url, page.last)
    if hint is None:
        return page
    interval = (hint.changed - page.last).total_seconds() / DAY
    why = f"changed {hint.changed:%Y-%m-%d %H:%M} by {hint.source}"
    return replace(page, interval=interval, why=why) if interval < page.interval else page


def _planned(
    there: Sequence[tuple[Watched, list[_Seen]]], budget: float, policy: Policy
) -> Iterator[ScheduledPage]:
    planner = Planner([page for page, _ in there], budget, policy)
    for index, (_, captures) in enumerate(there):
        visits = [capture for capture in captures if capture.kind.has_content]
        planner.begin(index, visits[0].captured_at.timestamp() / DAY)
        for capture in visits[1:]:
            when = capture.captured_at.timestamp() / DAY
            planner.visited(index, when, changed=capture.kind is Kind.CHANGED)
    shares = planner.plan()
    for index, (page, captures) in enumerate(there):
        share, seen = float(shares[index]), estimate(planner.visits(index))
        interval = 1 / share if share > 0 else math.inf
        why = _why(seen, planner.expected(index), interval, budget)
        rate = float(planner.rates[index])
        yield ScheduledPage(page.url, seen, rate, interval, captures[-1].captured_at, why)


def _why(known: Estimate, expected: float, interval: float, budget: float) -> str:
    if budget <= 0 and math.isinf(interval):
        return "the collections use up the budget"
    like = f"pages like it change every {days(1 / expected)}"
    if not known.visits:
        return f"visited once; {like}"
    seen = f"{known.changes} of {known.visits} visits saw a change; {like}"
    return seen if math.isfinite(interval) else f"{seen}; it changes too often for the budget"


def _missed(captures: Sequence[_Seen]) -> int:
    """Return the number of visits in a row, up to the last, that brought no content."""
    count = 0
    for capture in reversed(captures):
        if capture.kind.has_content:
            break
        count += 1
    return count


def _away(url: str, captures: Sequence[_Seen], missed: int) -> ScheduledPage:
    last = captures[-1]
    interval = min(BACK_OFF[last.kind] * 2.0 ** min(missed - 1, 30), MOST_DAYS)
    why = f"{last.kind} at the last visit, {missed} in a row without content"
    return ScheduledPage(url, estimate([]), None, interval, last.captured_at, why)


def _steady(url: str, captures: Sequence[_Seen], interval: float, collection: str) -> ScheduledPage:
    """Return a page that is visited at the interval of its collection."""
    visits = [capture for capture in captures if capture.kind.has_content]
    seen = estimate(
        [
            Visit((after.captured_at - before.captured_at).total_seconds() / DAY, after.kind is Kind.CHANGED)
            for before, after in pairwise(visits)
            if after.captured_at > before.captured_at
        ]
    )
    why = f"every {days(interval)} in collection {collection}"
    return ScheduledPage(url, seen, _finite(seen.rate), interval, captures[-1].captured_at, why)


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def now() -> datetime:
    """Return the time in UTC."""
    return datetime.now(UTC)


def days(value: float) -> str:
    """Return a number of days as it is shown.

    >>> days(0.0007), days(0.25), days(3.0), days(400.0), days(float("inf"))
    ('1 min', '6.0 h', '3.0 d', '400 d', 'never')
    """
    if math.isinf(value):
        return "never"
    if value < 1 / 24:
        return f"{max(round(value * 1440), 1)} min"
    if value < 1:
        return f"{value * 24:.1f} h"
    return f"{value:.1f} d" if value < 100 else f"{value:.0f} d"
