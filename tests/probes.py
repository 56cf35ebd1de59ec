"""Scrapy components that crawls under test load by name to look inside."""

from __future__ import annotations

import asyncio
import os
import signal

from scrapy import signals
from scrapy.crawler import Crawler

from archivebot.crawl.session import ArchiveSession
from archivebot.exceptions import StorageError
from archivebot.models import Capture, Snapshot


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
    """A pipeline that makes the archive fail to write from the third page on."""

    def __init__(self, crawler: Crawler) -> None:
        archive, stored = ArchiveSession.of(crawler).archive, 0
        add = archive.add

        def failing(snapshot: Snapshot) -> Capture:
            nonlocal stored
            stored += 1
            if stored > 2:
                raise StorageError("disk full")
            return add(snapshot)

        archive.add = failing  # type: ignore[method-assign]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BrokenArchive:
        return cls(crawler)

    def process_item(self, item: object) -> object:
        return item


class OrderWitness:
    """An extension that notes whether the archive was closed only after the last item."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        crawler.signals.connect(self.spider_opened, signals.spider_opened)
        crawler.signals.connect(self.item_scraped, signals.item_scraped)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> OrderWitness:
        return cls(crawler)

    def spider_opened(self) -> None:
        archive = ArchiveSession.of(self.crawler).archive
        close = archive.close

        def closing() -> None:
            self.crawler.stats.inc_value("probe/closed")
            close()

        archive.close = closing  # type: ignore[method-assign]

    def item_scraped(self) -> None:
        if self.crawler.stats.get_value("probe/closed"):
            self.crawler.stats.inc_value("probe/late")


class KillAfterStorage:
    """A pipeline that kills the process when the first page is stored, before anybody is told."""

    def process_item(self, item: object) -> object:
        os.kill(os.getpid(), signal.SIGKILL)
        return item
