"""The functions that the processes of a crawl call on their archive, beside the methods of Archive.

The processes import this module, so it must not import Scrapy, which takes longer than all other imports.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from archivebot.archive import Archive
from archivebot.crawl.reading.pages import read_page
from archivebot.forms.record import FormRecord
from archivebot.http import freshness
from archivebot.hypertext import Hypertext
from archivebot.markup.contenttype import content_type
from archivebot.models import REQUISITE, Outcome, Page, Snapshot
from archivebot.urls import site_of

# Outcomes of a visit to which the server answered with content, or that it has not changed.
SHOWS_CONTENT = frozenset((Outcome.FETCHED, Outcome.NOT_MODIFIED))

# A stage: reads a page and adds something to its snapshot.
Stage = Callable[[Archive, Snapshot], Snapshot]


def read_links(
    archive: Archive, body: bytes, content_type: str, url: str, asked: Mapping[str, bool]
) -> Hypertext:
    """Read a page at its base URL; the process keeps the parsed page for the stages."""
    return read_page(archive.readings.of(body, content_type), url, **asked)


def read_ahead(
    archive: Archive, snapshot: Snapshot, url: str, asked: Mapping[str, bool], stages: Sequence[Stage]
) -> tuple[Hypertext, Snapshot]:
    """Read a page at its base URL, and run the stages on it."""
    page = snapshot.page
    found = read_links(archive, page.body, content_type(page.headers), url, asked)
    return found, run_stages(archive, snapshot, stages)


def validators(archive: Archive, url: str) -> tuple[bool, str | None, str | None]:
    """Return whether the archive has pages of the host of a URL, and ETag and Last-Modified of the page."""
    return (True, *archive.validators(url)) if any(archive.pages(limit=1, site=url)) else (False, None, None)


def is_fresh(archive: Archive, url: str) -> bool:
    """Return whether the last capture of a requisite shows content that is fresh by its own headers."""
    last = archive.last(url)
    if last is None or last.origin != REQUISITE or last.outcome not in SHOWS_CONTENT:
        return False
    return freshness.is_fresh(last.headers, last.captured_at, datetime.now(UTC))


def run_stages(archive: Archive, snapshot: Snapshot, stages: Sequence[Stage]) -> Snapshot:
    """Run stages in order; the caller has the bytes of the page, so they are not sent back."""
    for stage in stages:
        snapshot = stage(archive, snapshot)
    return replace(snapshot, page=replace(snapshot.page, headers=(), body=b""))


def keep_forms(archive: Archive, page: Page, since: datetime) -> int:
    """Store the forms of a page; return the number of query forms of its site."""
    site = site_of(page.url)
    archive.forms.add(site, page.url, page.forms, page.captured_at)
    return query_forms(archive, site, since)


def query_forms(archive: Archive, site: str, since: datetime) -> int:
    """Return the number of distinct query forms of a site seen since a time."""
    seen = (kept.form for kept in archive.forms.all(site) if kept.last >= since)
    return sum(FormRecord.read(form).decision.multi_field for form in seen)
