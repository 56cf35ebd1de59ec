"""What the processes of a crawl do with their archive, beside the methods of Archive.

They import this module to do it, so it must not import Scrapy, which takes longer than all else they need.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from archivebot.archive import Archive
from archivebot.crawl.reading.pages import read_page
from archivebot.forms.record import FormRecord
from archivebot.hypertext import Hypertext
from archivebot.markup.contenttype import content_type
from archivebot.models import Page, Snapshot
from archivebot.urls import host_of

# What reads a page and adds something to it.
Stage = Callable[[Archive, Snapshot], Snapshot]


def read_links(
    archive: Archive, body: bytes, content_type: str, url: str, asked: Mapping[str, bool]
) -> Hypertext:
    """Read a page at its base URL; the process keeps it parsed for the stages."""
    return read_page(archive.readings.of(body, content_type), url, **asked)


def read_ahead(
    archive: Archive, snapshot: Snapshot, url: str, asked: Mapping[str, bool], stages: Sequence[Stage]
) -> tuple[Hypertext, Snapshot]:
    """Read a page at its base URL, and do the stages with it."""
    page = snapshot.page
    found = read_links(archive, page.body, content_type(page.headers), url, asked)
    return found, run_stages(archive, snapshot, stages)


def run_stages(archive: Archive, snapshot: Snapshot, stages: Sequence[Stage]) -> Snapshot:
    """Do stages in order; whoever asks has the bytes of the page, so they do not travel back."""
    for stage in stages:
        snapshot = stage(archive, snapshot)
    return replace(snapshot, page=replace(snapshot.page, headers=(), body=b""))


def keep_forms(archive: Archive, page: Page, since: datetime) -> int:
    """Keep the forms of a page; give how many query forms of its site there are now."""
    site = host_of(page.url)
    archive.forms.add(site, page.url, page.forms, page.captured_at)
    return query_forms(archive, site, since)


def query_forms(archive: Archive, site: str, since: datetime) -> int:
    """Count the distinct query forms of a site that were seen since a time."""
    seen = (kept.form for kept in archive.forms.all(site) if kept.last >= since)
    return sum(FormRecord.read(form).decision.multi_field for form in seen)
