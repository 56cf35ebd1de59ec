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
from archivebot.archive.process.readers import Readers
from archivebot.archive.process.worker import Worker
from archivebot.config import ArchiveConfig, CrawlConfig, FrontierConfig
from archivebot.crawl.extension import Extension
from archivebot.crawl.process.calls import Stage
from archivebot.exceptions import StorageError
from archivebot.models import Page, Snapshot

# Seconds to close the archive: SQLite copies its log into the file, 64 MB at most.
CLOSING = 5.0

# Maximum of pages between the spider and the first pipeline whose stages are done: more than exist at a time.
# A page that is never stored is evicted, and the stages of an evicted page can be run again.
MOST_AHEAD = 256

P = ParamSpec("P")
T = TypeVar("T")


class ArchiveSession(Extension):
    """Opens one Archive per crawl in a child process, runs its calls in order, closes it after the last item.

    Processes are used because parsing and compression in a thread would block the event loop. One process
    writes, because writes are serial anyway, and ``readers`` processes read pages. A call is a method of
    Archive or a function whose first argument is an Archive: ``await session.run(Archive.add, snapshot)``.
    Arguments and results are pickled. Scrapy's scraper slot limits the calls that wait: it stops fetching
    while too many bytes are not stored yet.

    ``stages`` are the functions that read pages: each pipeline adds its own, in the order of
    ``ITEM_PIPELINES``.
    """

    def __init__(self, config: ArchiveConfig, readers: int = 1, patience: float | None = None) -> None:
        self.config = config
        self.stages: list[Stage] = []
        self._ahead: dict[tuple[str, datetime], Snapshot] = {}
        self.worker = Worker("archivebot.archive.process.archivist", patience)
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
        """Run one call on the archive and return its result."""
        result: T = await self.worker.run((work, args, kwargs))
        return result

    async def read(self, work: Callable[Concatenate[Archive, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run one call that writes nothing, in parallel with others; see :class:`Readers`."""
        result: T = await self.readers.run((work, args, kwargs))
        return result

    async def read_page(
        self, url: str, work: Callable[Concatenate[Archive, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run one call as :meth:`read` does, in the process that read the page last."""
        result: T = await self.readers.run((work, args, kwargs), url)
        return result

    def keep_ahead(self, page: Page, found: Snapshot) -> None:
        """Keep the result of the stages of a page until its first pipeline asks for it."""
        self._ahead[page.url, page.captured_at] = found
        if len(self._ahead) > MOST_AHEAD:
            del self._ahead[next(iter(self._ahead))]

    def take_ahead(self, page: Page) -> Snapshot | None:
        """Return and remove the result kept for a page."""
        return self._ahead.pop((page.url, page.captured_at), None)

    async def close(self) -> None:
        """Finish what is queued and close the archive."""
        try:
            # SQLite merges its journal into the archive when the last process closes it, if that may write.
            self.readers.close()
            # The loss of the process was already reported to its callers.
            with suppress(StorageError, TimeoutError):
                await asyncio.wait_for(self.run(Archive.close), CLOSING)
        finally:
            self._end()

    def give_up(self) -> None:
        """Kill the processes; calls that wait for them raise StorageError."""
        self.worker.kill("was not done in time")
        self.readers.give_up()

    def _end(self) -> None:
        self.worker.hang_up()  # the processes end at the same time
        self.readers.close()
        self.worker.close()
