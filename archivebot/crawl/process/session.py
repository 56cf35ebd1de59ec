"""The archive of one crawl, in processes of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import Concatenate, ParamSpec, Self, TypeVar

from scrapy import signals
from scrapy.crawler import Crawler

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig, CrawlConfig, FrontierConfig
from archivebot.crawl.extension import Extension
from archivebot.crawl.process.calls import Stage
from archivebot.crawl.process.readers import Readers
from archivebot.crawl.process.worker import Worker
from archivebot.exceptions import StorageError
from archivebot.models import Page, Snapshot

# Seconds that the archive gets to be closed: SQLite copies its log into the file, 64 MB at most.
CLOSING = 5.0

# Pages between the spider and the first pipeline whose stages are done: more than there are at a time. A page
# that nobody stores is pushed out, and the stages of a page that was can be done again.
MOST_AHEAD = 256

P = ParamSpec("P")
T = TypeVar("T")


class ArchiveSession(Extension):
    """Open one Archive per crawl in a child process, do its work in order, close it after the last item.

    A process, because parsing and compression would take the interpreter from the event loop as often
    as they had it; one that writes, because writes are serial anyway, and ``readers`` that cut pages.
    Work is a method of Archive or a function that takes one first, named by itself: ``await
    session.run(Archive.add, snapshot)``; arguments and results travel, so they must pickle. What waits
    for the processes is bounded by Scrapy's scraper slot, which stops fetching while too many bytes are
    unstored.

    ``stages`` are those that read pages: each pipeline adds its own, in the order of ``ITEM_PIPELINES``.
    """

    def __init__(self, config: ArchiveConfig, readers: int = 1, patience: float | None = None) -> None:
        self.config = config
        self.stages: list[Stage] = []
        self._ahead: dict[tuple[str, datetime], Snapshot] = {}
        self.worker = Worker("archivebot.crawl.process.archivist", patience)
        self._opening = self.worker.begin((os.getpid(), config))
        self.readers = Readers(config, readers, patience)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        settings = crawler.settings
        readers = CrawlConfig.from_settings(settings).readers
        patience = FrontierConfig.from_settings(settings).frontier_patience
        session = cls(ArchiveConfig.from_settings(settings), readers, patience)
        # Pipelines close before this signal, so no item can come after it.
        crawler.signals.connect(session.close, signals.spider_closed)
        return session

    async def opened(self) -> None:
        """Wait until the archive is open; raises StorageError if it cannot be opened."""
        try:
            await self.worker.answer(self._opening)
        except StorageError:
            self._end()
            raise

    async def run(self, work: Callable[Concatenate[Archive, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do one piece of work on the archive and give its result."""
        result: T = await self.worker.run((work, args, kwargs))
        return result

    async def read(self, work: Callable[Concatenate[Archive, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do one piece of work that writes nothing, beside all others; see :class:`Readers`."""
        result: T = await self.readers.run((work, args, kwargs))
        return result

    async def read_page(
        self, url: str, work: Callable[Concatenate[Archive, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Do one piece of work as :meth:`read` does, in the process that read the page last."""
        result: T = await self.readers.run((work, args, kwargs), url)
        return result

    def keep_ahead(self, page: Page, found: Snapshot) -> None:
        """Keep what the stages added to a page before its first pipeline asks."""
        self._ahead[page.url, page.captured_at] = found
        if len(self._ahead) > MOST_AHEAD:
            del self._ahead[next(iter(self._ahead))]

    def take_ahead(self, page: Page) -> Snapshot | None:
        """Return what was kept of a page, once."""
        return self._ahead.pop((page.url, page.captured_at), None)

    async def close(self) -> None:
        """Finish what is queued and close the archive."""
        try:
            # Whoever needed the process was told that it is gone.
            with suppress(StorageError, TimeoutError):
                await asyncio.wait_for(self.run(Archive.close), CLOSING)
        finally:
            self._end()

    def give_up(self) -> None:
        """End the processes, whatever they do; who waits for them gets StorageError."""
        self.worker.kill("was not done in time")
        self.readers.give_up()

    def _end(self) -> None:
        self.worker.hang_up()  # all processes end at the same time
        self.readers.close()
        self.worker.close()
