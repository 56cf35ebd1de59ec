"""The stages of a page that read it: one call of the process that has the page parsed does them all."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

from archivebot.archive import Archive, is_readable, snapshot_of
from archivebot.crawl.process.session import ArchiveSession, Stage
from archivebot.crawl.process.worker import Crashed
from archivebot.models import Page, Snapshot

logger = logging.getLogger(__name__)


async def staged(session: ArchiveSession, item: Page | Snapshot) -> Snapshot:
    """Return a page with what the stages of the crawl add to it; a snapshot has gone through them.

    The first pipeline that asks has all of them done, since each call costs the page a journey. A page that
    may not be read does not travel. If processes die of it that have nothing else to do, it is given up and
    stored as it came. Raises StorageError.
    """
    if isinstance(item, Snapshot):
        return item
    snapshot = snapshot_of(item)
    if not is_readable(snapshot):
        return snapshot
    without = replace(snapshot, page=replace(item, links=(), forms=()))  # they need not travel
    try:
        found = await session.read_page(item.url, run_stages, tuple(session.stages), without)
    except Crashed as error:
        logger.error("%s could not be cut, its bytes are kept: %s", item.url, error)
        return Snapshot.uncut(item, f"not cut: {error}")
    return replace(found, page=replace(item, reason=found.page.reason))


def run_stages(archive: Archive, stages: Sequence[Stage], snapshot: Snapshot) -> Snapshot:
    """Do stages in order; whoever asks has the bytes of the page, so they do not travel back."""
    for stage in stages:
        snapshot = stage(archive, snapshot)
    return replace(snapshot, page=replace(snapshot.page, headers=(), body=b""))
