"""Scrapy components that crawls under test load by name to look inside."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Self

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.statscollectors import StatsCollector

from archivebot.archive import Archive
from archivebot.crawl.process.session import ArchiveSession
from archivebot.exceptions import StorageError
from archivebot.models import Link, Page


class SlowStage:
    """A pipeline that takes its time, and notes in the stats how many bytes wait for it at most."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SlowStage:
        return cls(crawler)

    async def process_item(self, item: object) -> object:
        slot = self.crawler.engine.scraper.slot
        assert slot is not None
        self.crawler.stats.max_value("probe/bytes", slot.active_size)
        await asyncio.sleep(self.crawler.settings.getfloat("PROBE_PAUSE"))
        return item


class BrokenArchive:
    """A pipeline that makes the file of the archive refuse every page after the second."""

    def __init__(self, crawler: Crawler) -> None:
        self.file = crawler.settings["ARCHIVE_URI"].removeprefix("sqlite:///")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BrokenArchive:
        return cls(crawler)

    def open_spider(self) -> None:
        with closing(sqlite3.connect(self.file)) as database, database:
            database.execute(
                "CREATE TRIGGER full BEFORE INSERT ON capture WHEN (SELECT count(*) FROM capture) >= 2"
                " BEGIN SELECT RAISE(ABORT, 'disk full'); END"
            )

    def process_item(self, item: object) -> object:
        return item


class CountedReaders:
    """A pipeline that notes how many processes cut pages."""

    def __init__(self, crawler: Crawler) -> None:
        crawler.stats.set_value("probe/readers", len(ArchiveSession.of(crawler).readers))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CountedReaders:
        return cls(crawler)

    def process_item(self, item: object) -> object:
        return item


class KilledArchive:
    """A pipeline that kills the process of the archive when the third page comes."""

    def __init__(self, crawler: Crawler) -> None:
        self.session, self.pages = ArchiveSession.of(crawler), 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> KilledArchive:
        return cls(crawler)

    def process_item(self, item: object) -> object:
        self.pages += 1
        if self.pages == 3:
            os.kill(self.session.worker.pid, signal.SIGKILL)
        return item


class KilledByRevisit:
    """An extension that kills the process of the archive when the first 304 comes."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        crawler.signals.connect(self.received, signals.response_received)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> KilledByRevisit:
        return cls(crawler)

    def received(self, response: Response) -> None:
        if response.status == 304:
            os.kill(ArchiveSession.of(self.crawler).worker.pid, signal.SIGKILL)


def die(archive: Archive, *args: object) -> None:
    """Work of which the process dies that does it."""
    os.kill(os.getpid(), signal.SIGKILL)


def hang(archive: Archive, *args: object) -> None:
    """Work that comes to no end."""
    while True:
        time.sleep(60)


def process(archive: Archive) -> int:
    """Work that takes a while and tells who does it."""
    time.sleep(0.05)
    return os.getpid()


class WatchedSession(ArchiveSession):
    """A session that notes in the stats when it closes, and each item that comes later."""

    stats: StatsCollector

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Self:
        session = super().from_crawler(crawler)
        session.stats = crawler.stats
        crawler.signals.connect(session.item_scraped, signals.item_scraped)
        return session

    def item_scraped(self) -> None:
        if self.stats.get_value("probe/closed"):
            self.stats.inc_value("probe/late")

    async def close(self) -> None:
        self.stats.inc_value("probe/closed")
        await super().close()


class KillAfterStorage:
    """A pipeline that kills the process when the first page is stored, before anybody is told."""

    def process_item(self, item: object) -> object:
        os.kill(os.getpid(), signal.SIGKILL)
        return item


class Strain:
    """A pipeline that notes the longest stall of the event loop, and the most memory of each process.

    A stall is counted in CPU time of the loop's thread: on a busy machine it may stand still without cause.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.stats, self.session = crawler.stats, ArchiveSession.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Strain:
        return cls(crawler)

    def open_spider(self) -> None:
        self.watch = asyncio.ensure_future(self._watch())

    def process_item(self, item: object) -> object:
        self._measure()
        return item

    def close_spider(self) -> None:
        self.watch.cancel()
        self._measure()

    async def _watch(self) -> None:
        while True:
            before = time.thread_time()
            await asyncio.sleep(0.01)
            self.stats.max_value("probe/stall", time.thread_time() - before)
            self._measure()

    def _measure(self) -> None:
        readers = [reader.worker.pid for reader in self.session.readers._readers]
        for pid in (os.getpid(), self.session.worker.pid, *readers):
            status = Path(f"/proc/{pid}/status").read_text()
            if peak := re.search(r"VmHWM:\s+(\d+) kB", status):
                name = "crawl" if pid == os.getpid() else "reader" if pid in readers else "writer"
                self.stats.max_value(f"probe/memory/{name}", int(peak[1]) // 1024)


class Stalls:
    """An extension that notes for how long the event loop did nothing but one thing, in seconds of its CPU.

    What the machine does meanwhile for others does not count.
    """

    PAUSE = 0.02

    def __init__(self, stats: StatsCollector) -> None:
        self.stats = stats
        self.before = time.thread_time()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Stalls:
        probe = cls(crawler.stats)
        crawler.signals.connect(probe.opened, signals.spider_opened)
        return probe

    def opened(self) -> None:
        self.before = time.thread_time()
        self.tick()

    def tick(self) -> None:
        now = time.thread_time()
        self.stats.max_value("probe/longest_stall", round(now - self.before, 3))
        self.before = now
        asyncio.get_running_loop().call_later(self.PAUSE, self.tick)


class FailAfterStorage:
    """A pipeline before which the first page is stored, and after which nobody can tell."""

    failed = False

    def process_item(self, item: object) -> object:
        if not self.failed:
            self.failed = True
            raise StorageError("a process of the archive was killed by signal 9")
        return item


class CopyOfFrontier:
    """A pipeline that copies the frontier as it is when the first page comes."""

    copied = False

    def __init__(self, crawler: Crawler) -> None:
        self.file = Path(crawler.settings["ARCHIVE_URI"].removeprefix("sqlite:///"))

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CopyOfFrontier:
        return cls(crawler)

    def process_item(self, item: object) -> object:
        if not self.copied:
            self.copied = True
            with (
                closing(sqlite3.connect(self.file.with_suffix(".frontier.db"))) as frontier,
                closing(sqlite3.connect(self.file.with_suffix(".copy.db"))) as copy,
            ):
                frontier.backup(copy)
        return item


class Deleted:
    """A pipeline that deletes a file beside the archive when the third page is stored: all have opened it."""

    def __init__(self, crawler: Crawler) -> None:
        file = Path(crawler.settings["ARCHIVE_URI"].removeprefix("sqlite:///"))
        self.file, self.pages = file.with_suffix(crawler.settings["PROBE_DELETED"]), 0

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Deleted:
        probe = cls(crawler)
        crawler.signals.connect(probe.stored, signals.item_scraped)
        return probe

    def stored(self) -> None:
        self.pages += 1
        if self.pages == 3:
            self.file.unlink()

    def process_item(self, item: object) -> object:
        return item


def die_of_links(archive: Archive, page: Page) -> tuple[Link, ...]:
    """Find no links, and end the process at once if the page says so."""
    if b"deadly" in page.body:
        os.kill(os.getpid(), signal.SIGKILL)
    return ()
