"""What archived sitemaps and feeds say about pages: which have changed, and which are new."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from archivebot.archive import ArchiveReader
from archivebot.exceptions import ArchiveError
from archivebot.hypertext.entries import entries
from archivebot.markup.contenttype import content_type
from archivebot.models import Capture
from archivebot.urls import host_of

_GZIP_TYPES = ("gzip", "octet-stream")  # of packed sitemaps


@dataclass(frozen=True, slots=True)
class Hint:
    """A change of a page that a sitemap or a feed states: when, and the URL of the sitemap or feed."""

    changed: datetime
    source: str


@dataclass
class Hints:
    """All hints by page; ``lists`` are the sitemaps and feeds, ``named`` all pages that these name.

    A sitemap or feed names pages of its own host only.
    """

    pages: dict[str, Hint] = field(default_factory=dict)
    named: dict[str, None] = field(default_factory=dict)
    lists: set[str] = field(default_factory=set)

    def newer(self, url: str, last: datetime) -> Hint | None:
        """Return the hint of a change after the last visit to a page, or None."""
        hint = self.pages.get(url)
        return hint if hint and hint.changed > last else None


def read_hints(archive: ArchiveReader, pages: Iterable[tuple[str, Sequence[Capture]]]) -> Hints:
    """Return the hints of the sitemaps and feeds among pages, from the last body of each.

    Each page comes with its captures, which need no headers. A time after the visit to the sitemap is no
    hint. A body that cannot be read is skipped.
    """
    found = Hints()
    for url, captures in pages:
        last = next((each for each in reversed(captures) if each.kind.has_content), None)
        if last is None or not _may_list(url, archive.visits.backwards(url, captures[-1].captured_at)):
            continue
        try:
            listed = entries(archive.body(last), url)
        except ArchiveError:
            continue  # scrapy verify reports it
        host = host_of(url)
        own = [entry for entry in listed if host_of(entry.url) == host and entry.url != url]
        if own:
            found.lists.add(url)
        for entry in own:
            found.named[entry.url] = None
            known = found.pages.get(entry.url)
            is_later = entry.changed and (known is None or entry.changed > known.changed)
            if entry.changed and is_later and entry.changed <= last.captured_at:
                found.pages[entry.url] = Hint(entry.changed, url)
    return found


def _may_list(url: str, captures: Iterable[Capture]) -> bool:
    """Return whether a page is declared as XML, or as a packed file at the address of a packed sitemap.

    Its captures come with the last first.
    """
    declared = next((content_type(each.headers) for each in captures if each.headers), "").lower()
    is_packed = url.endswith(".gz") and any(word in declared for word in _GZIP_TYPES)
    return "xml" in declared or is_packed
