"""The archive of one crawl, and the one thread that works on it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from scrapy import signals
from scrapy.crawler import Crawler

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.crawl.extension import Extension

T = TypeVar("T")


class ArchiveSession(Extension):
    """Open one Archive per crawl, do all its work in order on one thread, close it after the last item.

    One thread, because an Archive is not thread-safe and because writes are serial anyway; it keeps
    parsing and compression off the event loop. What waits for the thread is bounded by Scrapy's
    scraper slot, which stops fetching while too many bytes are unstored.
    Raises StorageError where the archive cannot be opened.
    """

    def __init__(self, config: ArchiveConfig) -> None:
        self.config = config
        self._worker = ThreadPoolExecutor(1, "archive")
        self.archive = self._worker.submit(Archive.open, config).result()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ArchiveSession:
        session = cls(ArchiveConfig.from_settings(crawler.settings))
        # Pipelines close before this signal, so no item can come after it.
        crawler.signals.connect(session.close, signals.spider_closed)
        return session

    async def run(self, work: Callable[..., T], *args: object) -> T:
        """Do one piece of work on the archive's thread and give its result."""
        return await asyncio.get_running_loop().run_in_executor(self._worker, work, *args)

    def ask(self, work: Callable[..., T], *args: object) -> T:
        """Do one short piece of work at once; the event loop stands still meanwhile."""
        return self._worker.submit(work, *args).result()

    async def close(self) -> None:
        """Finish what is queued and close the archive."""
        await self.run(self.archive.close)
        self._worker.shutdown()
