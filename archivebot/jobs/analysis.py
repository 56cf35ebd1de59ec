"""The analysis of a page of a WARC file, which may run in another process than the one that stores it.

Those processes import this module, so it must not import asyncio or Scrapy.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from archivebot.archive import Archive, ArchiveReader
from archivebot.exceptions import CorruptObject, NotArchived
from archivebot.models import Link, Outcome, Page, Snapshot

logger = logging.getLogger(__name__)

LinksOf = Callable[[ArchiveReader, Page], tuple[Link, ...]]

# A page analysed by an archive, and its main text if it has a fingerprint.
Analysed = tuple[Snapshot, str | None]


def no_links(archive: ArchiveReader, page: Page) -> tuple[Link, ...]:
    """Return no links, for callers that do not need them."""
    return ()


def analysed(archive: Archive, page: Page, links_of: LinksOf) -> Analysed:
    """Return a page with its links, analysed by an archive, without the bytes, which the caller has."""
    archive.follow(page)
    page = _linked(archive, page, links_of)
    snapshot, text = archive.analyse(page)
    archive.readings.forget_trees()  # only the tree of a page that is compared in a rare way is parsed again
    return replace(snapshot, page=replace(snapshot.page, headers=(), body=b"", wire=None)), text


def _linked(archive: ArchiveReader, page: Page, links_of: LinksOf) -> Page:
    """Return a page with its links; for a 304, the links of the archived page of that time.

    If the archived page is damaged, there are none.
    """
    if page.outcome is not Outcome.NOT_MODIFIED:
        return replace(page, links=links_of(archive, page))
    try:
        seen = archive.at(page.url, page.captured_at)
        if seen.captured_at <= page.captured_at:
            content = replace(archive.brought(seen).page(archive.body(seen)), outcome=Outcome.FETCHED)
            return replace(page, links=links_of(archive, content))
    except NotArchived:
        pass
    except CorruptObject as error:
        logger.error("%s is stored without the links of the page that it repeats: %s", page.url, error)
    return page
