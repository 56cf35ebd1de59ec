"""Runs the stages of a page: all in one call, in the process that has the page parsed."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace

from archivebot.archive import is_readable, snapshot_of
from archivebot.archive.process.worker import Crashed
from archivebot.crawl.process import calls
from archivebot.crawl.process.session import ArchiveSession
from archivebot.crawl.reading.pages import shortened
from archivebot.exceptions import TooLarge
from archivebot.hypertext import Hypertext
from archivebot.markup.contenttype import content_type
from archivebot.models import Page, Snapshot

logger = logging.getLogger(__name__)


async def read_ahead(session: ArchiveSession, page: Page, url: str, asked: Mapping[str, bool]) -> Hypertext:
    """Read a page at its base URL and run its stages; see :func:`~archivebot.crawl.reading.pages.read_page`.

    The stages run in the same call, and :func:`staged` returns their result later. Raises StorageError; the
    subclass Crashed if the page kills processes. Raises TooLarge if they have too little memory for it.
    """
    snapshot = _bare(page)
    if is_readable(snapshot):
        work = calls.read_ahead
        found, ahead = await session.read_page(page.url, work, snapshot, url, asked, tuple(session.stages))
        session.keep_ahead(page, ahead)
        return found
    body, kind = shortened(page.body), content_type(page.headers)
    return await session.read_page(page.url, calls.read_links, body, kind, url, asked)


async def staged(session: ArchiveSession, item: Page | Snapshot) -> Snapshot:
    """Return a page with the results of all stages; a snapshot has them already.

    The first pipeline that asks runs all stages, because each call sends the page to a process. A page that
    may not be read is not sent. If the page kills processes that do nothing else, or takes more memory than
    they may have, it is given up and stored without blocks. Raises StorageError.
    """
    if isinstance(item, Snapshot):
        return item
    if not is_readable(snapshot_of(item)):
        return snapshot_of(item)
    found = session.take_ahead(item)
    if found is None:
        try:
            found = await session.read_page(item.url, calls.run_stages, _bare(item), tuple(session.stages))
        except (Crashed, TooLarge) as error:
            logger.error("%s could not be cut, its bytes are kept: %s", item.url, error)
            return Snapshot.uncut(item, f"not cut: {error}")
    return replace(found, page=replace(item, reason=found.page.reason))


def _bare(page: Page) -> Snapshot:
    """Return a page with only the data that its stages need."""
    return snapshot_of(replace(page, links=(), forms=(), wire=None))
