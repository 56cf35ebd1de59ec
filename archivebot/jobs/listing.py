"""The pages of an archive, each with its last capture."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from archivebot.archive import ArchiveReader
from archivebot.exceptions import CorruptObject
from archivebot.jobs.examples import archived_example
from archivebot.markup.contenttype import content_type
from archivebot.models import REQUISITE, Capture, Kind
from archivebot.timestamps import timestamp
from archivebot.topic.relevance import PageScorer


@dataclass(frozen=True, slots=True)
class Filter:
    """Which pages to list, by their last capture: its kind, its status, and its time at the earliest.

    A page without text is on no topic. ``requisites`` is whether to list the requisites of pages, too.
    """

    kind: Kind | None = None
    status: int | None = None
    since: datetime | None = None
    topic: PageScorer | None = None
    requisites: bool = False

    def admits(self, last: Capture) -> bool:
        """Return whether a last capture is to be listed; the topic is not looked at."""
        return (
            (self.requisites or last.origin != REQUISITE)
            and (self.kind is None or last.kind is self.kind)
            and (self.status is None or last.status == self.status)
            and (self.since is None or last.captured_at >= self.since)
        )

    def is_on_topic(self, archive: ArchiveReader, url: str) -> bool:
        """Return whether the content fetched last belongs to the topic."""
        if self.topic is None:
            return True
        page = archived_example(archive, url)
        return page is not None and self.topic.score(page.title, page.text).relevant


@dataclass(frozen=True, slots=True)
class ListedPage:
    """A page with its title, its last capture and the number of its versions."""

    last: Capture
    title: str
    versions: int

    def record(self) -> dict[str, object]:
        """Return the page as a record for ``--json`` and ``--csv``."""
        return {
            "url": self.last.url,
            "title": self.title,
            "captured_at": timestamp(self.last.captured_at),
            "status": self.last.status,
            "kind": self.last.kind.value,
            "versions": self.versions,
        }


def listed_pages(
    archive: ArchiveReader,
    only: Filter,
    damaged: Callable[[str, CorruptObject], None],
    site: str | None = None,
    after: str | None = None,
) -> Iterator[ListedPage]:
    """Yield the pages of an archive, or of the site of a URL, that a filter admits, sorted by urlkey.

    ``after`` is the URL of the last page read. A page that cannot be read is passed to ``damaged``.
    """
    for url in archive.visits.pages(site, partial(damaged, "a page"), after):
        try:
            last = archive.last(url)
            if last and only.admits(last) and only.is_on_topic(archive, url):
                yield ListedPage(last, _title(archive, url), archive.version_count(url))
        except CorruptObject as error:
            damaged(url, error)


def _title(archive: ArchiveReader, url: str) -> str:
    """Return the title of the content fetched last; empty if it has none, or is damaged."""
    if stored := archive.stored(url):
        capture, body = stored
        return archive.readings.title(body, content_type(capture.headers))
    return ""
