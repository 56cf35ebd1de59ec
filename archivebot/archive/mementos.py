"""The mementos of a page: the visits that a server answered, nearest in time, and around one."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from datetime import UTC, datetime, timedelta
from heapq import merge
from itertools import chain, groupby

from archivebot.exceptions import NotArchived, Pruned
from archivebot.models import Capture, Kind, Outcome
from archivebot.storage.base import CaptureStore
from archivebot.storage.times import just_before
from archivebot.timestamps import end_of_second, timestamp
from archivebot.versioning.presence import placed

# Visits without an answer, or whose answer was not kept.
_WITHOUT = frozenset(
    (
        *(Outcome.ROBOTS_DENIED, Outcome.EXCLUDED, Outcome.TIMEOUT, Outcome.UNREACHABLE, Outcome.INCOMPLETE),
        *(Outcome.TOO_LARGE, Outcome.PROTOCOL_ERROR, Outcome.UNRESOLVED),
    )
)
_SECOND, _TICK = timedelta(seconds=1), timedelta(microseconds=1)
_LATEST = datetime.max.replace(tzinfo=UTC)


class Mementos:
    """The visits of each page that can be replayed, over one store."""

    def __init__(self, store: CaptureStore) -> None:
        self._store = store

    def nearest(self, url: str, when: datetime | None) -> Capture:
        """Return the memento nearest to a time, the earlier of two as near; without a time, the last.

        The mementos of the very second come first, whatever they are. Then those that show the page, or
        where it went; errors and walls only if there are no others. Raises NotArchived if there is none.
        """
        if when is not None:
            second = when.replace(microsecond=0)
            for capture in self.of(url, second, end_of_second(when), newest_first=True):
                return capture
        for shown in (True, False):
            found = [
                capture
                for capture in (self._one(url, shown, until=when), when and self._one(url, shown, since=when))
                if capture
            ]
            if found:
                return min(found, key=lambda each: abs(each.captured_at - (when or each.captured_at)))
        raise NotArchived(f"{url} has no capture that could be replayed")

    def _one(
        self, url: str, shown: bool, *, until: datetime | None = None, since: datetime | None = None
    ) -> Capture | None:
        """Return the last memento up to ``until``, or the first after ``since``."""
        for capture in self.of(url, since, until, newest_first=since is None):
            if not shown or capture.kind.has_content or capture.kind is Kind.REDIRECT:
                return capture
        return None

    def of(
        self,
        url: str,
        since: datetime | None = None,
        until: datetime | None = None,
        newest_first: bool = False,
        brief: bool = False,
    ) -> Iterator[Capture]:
        """Yield the mementos of a page in order, from ``since`` on and at or before ``until``.

        With ``brief`` they have neither headers nor exchanges, as those of :meth:`CaptureStore.captures`.
        """
        return filter(is_memento, self._store.captures(url, newest_first, until, just_before(since), brief))

    def before(self, url: str, when: datetime) -> Capture | None:
        """Return the last memento before a second, without headers."""
        last = when.replace(microsecond=0) - _TICK
        return next(self.of(url, until=last, newest_first=True, brief=True), None)

    def after(self, url: str, when: datetime) -> Capture | None:
        """Return the first memento after a second, without headers."""
        return next(self.of(url, since=when.replace(microsecond=0) + _SECOND, brief=True), None)

    def ends(self, url: str) -> tuple[Capture, Capture]:
        """Return the first and the last memento of a page, without headers; raises NotArchived for none."""
        first = next(self.of(url, brief=True), None)
        last = next(self.of(url, newest_first=True, brief=True), None)
        if first is None or last is None:
            raise NotArchived(f"{url} has no capture that could be replayed")
        return first, last

    def keyed(
        self,
        start: str,
        end: str,
        since: datetime | None = None,
        until: datetime | None = None,
        resumed: datetime | None = None,
        brief: bool = False,
    ) -> Iterator[Capture]:
        """Yield the mementos of the pages with a urlkey in [start, end), by urlkey, second, URL and time.

        Only mementos from ``since`` on and at or before ``until`` are yielded, and of the pages with the
        urlkey ``start`` only those from ``resumed`` on. With ``brief`` they have no headers.
        """
        for key, pages in groupby(self._store.urls(start, end), key=lambda page: page[0]):
            urls = [url for _, url in pages]
            first = max(filter(None, (since, resumed)), default=None) if key == start else since
            if len(urls) == 1:
                yield from self.of(urls[0], first, until, brief=brief)
            else:
                found = [capture for url in urls for capture in self.of(url, first, until, brief=brief)]
                yield from sorted(found, key=_place)

    def keyed_latest(
        self, start: str, end: str, since: datetime | None = None, until: datetime | None = None
    ) -> Iterator[Capture]:
        """Yield the same mementos as :meth:`keyed`, the last first."""
        found = [list(pages) for _, pages in groupby(self._store.urls(start, end), key=lambda page: page[0])]
        for pages in reversed(found):
            urls = (self.of(url, since, until, newest_first=True) for _, url in pages)
            yield from merge(*urls, key=_place, reverse=True)

    def keyed_around(
        self,
        when: datetime,
        start: str,
        end: str,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Iterator[Capture]:
        """Yield the same mementos as :meth:`keyed` of one urlkey, those of the nearest second first.

        Of two seconds as near the earlier one comes first.
        """
        second = when.replace(microsecond=0)
        last = end_of_second(second)
        first = min(last, _LATEST - _TICK) + _TICK
        before = self.keyed_latest(start, end, since, min(until or last, last))
        seconds = (reversed(list(same)) for _, same in groupby(before, key=lambda each: _place(each)[0]))
        after = self.keyed(start, end, max(since or first, first), until)
        yield from merge(chain.from_iterable(seconds), after, key=lambda each: abs(_place(each)[0] - second))

    def visits(self, url: str) -> list[Capture]:
        """Return all captures of a page, mementos or not, oldest first, without headers."""
        return list(placed(self._store.captures(url, brief=True)))

    def state(self, url: str) -> Hashable:
        """Return a value that changes with the captures of a page; see :meth:`CaptureStore.state`."""
        return self._store.state(url)

    def keyed_state(self, start: str, end: str) -> Hashable:
        """Return a value that changes with the captures of the pages with a urlkey in [start, end)."""
        return tuple((url, self._store.state(url)) for _, url in self._store.urls(start, end))


def _place(capture: Capture) -> tuple[datetime, str, datetime]:
    """Return the place of a capture in an index, whose times are seconds: the URLs of a second stay apart."""
    return capture.captured_at.replace(microsecond=0), capture.url, capture.captured_at


def is_memento(capture: Capture) -> bool:
    """Return whether a visit can be replayed: it has an answer, and the bytes that came with it are kept."""
    if capture.status is None or capture.outcome in _WITHOUT or capture.pruned:
        return False
    return capture.digest is not None or capture.outcome is not Outcome.NOT_MODIFIED


def chosen(captures: Iterator[Capture], wanted: Callable[[Capture], bool]) -> Capture | None:
    """Return the first capture that is ``wanted``, None for none.

    Raises Pruned if that capture was pruned, and NotArchived if an unresolved one comes first, lest another
    be taken for it.
    """
    for capture in captures:
        if capture.outcome is Outcome.UNRESOLVED:
            raise NotArchived(
                f"the capture of {capture.url} at {timestamp(capture.captured_at)} repeats bytes that are"
                " not in the archive: ingest the file that holds them, or give another time"
            )
        if wanted(capture):
            if capture.pruned:
                raise Pruned(
                    f"the capture at {timestamp(capture.captured_at)} was pruned: see scrapy history"
                )
            return capture
    return None
