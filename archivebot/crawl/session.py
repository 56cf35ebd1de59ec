"""The archive of one crawl, in processes of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Concatenate, ParamSpec, Self, TypeVar

from scrapy import signals
from scrapy.crawler import Crawler

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig, whole
from archivebot.crawl.extension import Extension
from archivebot.crawl.readers import Readers
from archivebot.crawl.worker import Worker
from archivebot.exceptions import ArchiveError, StorageError, UsageError

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
    """

    def __init__(self, config: ArchiveConfig, readers: int = 1) -> None:
        self.config = config
        self.worker = Worker("archivebot.crawl.archivist")
        self._opening = self.worker.begin((os.getpid(), config))
        self.readers = Readers(config, readers)

    @classmethod
    def of(cls, crawler: Crawler) -> Self:
        """Give the session of a crawl when its archive is open; raises as :meth:`opened` does.

        Until somebody asks, Scrapy loads its downloader, which takes as long as the process to start.
        """
        session = super().of(crawler)
        session.opened()
        return session

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        readers = whole("ARCHIVE_READERS", crawler.settings, 1)
        if readers < 1:
            raise UsageError(f"ARCHIVE_READERS is {readers}: somebody has to cut the pages, so at least 1")
        session = cls(ArchiveConfig.from_settings(crawler.settings), readers)
        # Pipelines close before this signal, so no item can come after it.
        crawler.signals.connect(session.close, signals.spider_closed)
        return session

    def opened(self) -> None:
        """Wait until the archive is open; raises UsageError and StorageError where it cannot be."""
        try:
            self.worker.wait(self._opening)
        except ArchiveError:
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

    def ask(self, work: Callable[Concatenate[Archive, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do one short piece of work at once; the event loop stands still meanwhile."""
        result: T = self.worker.wait(self.worker.begin((work, args, kwargs)))
        return result

    async def close(self) -> None:
        """Finish what is queued and close the archive."""
        try:
            with suppress(StorageError):  # whoever needed the process was told that it is gone
                await self.run(Archive.close)
        finally:
            self._end()

    def _end(self) -> None:
        self.readers.close()
        self.worker.close()
