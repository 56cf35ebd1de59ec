"""The stages of a page that read it: each is one call of the process that has the page parsed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import replace

from archivebot.archive import Archive, is_readable, snapshot_of
from archivebot.crawl.process.session import ArchiveSession
from archivebot.crawl.process.worker import Crashed
from archivebot.models import Page, Snapshot

logger = logging.getLogger(__name__)

Stage = Callable[[Archive, Snapshot], Snapshot]


async def staged(session: ArchiveSession, stage: Stage, item: Page | Snapshot, done: str) -> Snapshot:
    """Return a page with what a stage adds to it; ``done`` is the word for what the stage does.

    A page that may not be read does not travel. If processes die of it that have nothing else to do, it is
    given up: no later stage reads it, and it is stored as it came. Raises StorageError.
    """
    snapshot = item if isinstance(item, Snapshot) else snapshot_of(item)
    if not is_readable(snapshot):
        return snapshot
    page = snapshot.page
    without = replace(snapshot, page=replace(page, links=(), forms=()))  # they need not travel
    try:
        found = await session.read_page(page.url, run_stage, stage, without)
    except Crashed as error:
        logger.error("%s could not be %s, its bytes are kept: %s", page.url, done, error)
        return Snapshot.uncut(page, f"not {done}: {error}")
    return replace(found, page=replace(page, reason=found.page.reason))


def run_stage(archive: Archive, stage: Stage, snapshot: Snapshot) -> Snapshot:
    """Do a stage; whoever asks has the bytes of the page, so they do not travel back."""
    found = stage(archive, snapshot)
    return replace(found, page=replace(found.page, headers=(), body=b""))
