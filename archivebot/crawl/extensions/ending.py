"""Ends a crawl within seconds, even if servers or processes do not answer."""

from __future__ import annotations

import asyncio

from scrapy import signals
from scrapy.crawler import Crawler
from scrapy.utils.asyncio import AsyncioLoopingCall, create_looping_call
from twisted.internet.task import LoopingCall

from archivebot.crawl.compat.engine import is_ending
from archivebot.crawl.downloader import Downloader
from archivebot.crawl.extension import Extension
from archivebot.crawl.process.session import ArchiveSession
from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.interrupt import watch

# Seconds to finish a download, and then the same again to store its page.
GRACE = 5.0

TICK = 0.25


class Ending(Extension):
    """Enforces deadlines on everything under way, from the moment when the crawl begins to end.

    Requests that wait for the delay of their host are dropped at once, downloads after ``GRACE`` seconds, and
    the processes of the archive after twice that. If the storage failed, downloads are dropped at once, too.
    An unanswered request is not recorded: its lease returns to the frontier.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self._since: float | None = None
        self._ticks: AsyncioLoopingCall | LoopingCall = create_looping_call(self._look)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Ending:
        watch()  # here, because the reactor replaces the signal handlers when it starts
        ending = cls(crawler)
        crawler.signals.connect(ending.spider_opened, signals.spider_opened)
        crawler.signals.connect(ending.spider_closed, signals.spider_closed)
        return ending

    def spider_opened(self) -> None:
        """Begin to check whether the crawl is ending: Scrapy has no signal for that moment."""
        self._ticks.start(TICK, now=False)

    def spider_closed(self) -> None:
        """Stop checking: everything is done."""
        if self._ticks.running:
            self._ticks.stop()

    def _look(self) -> None:
        engine = self.crawler.engine
        downloader = engine.downloader
        if not is_ending(engine) or not isinstance(downloader, Downloader):
            return
        now = asyncio.get_running_loop().time()
        self._since = self._since or now
        downloader.drop_waiting()
        if now - self._since > GRACE or Dispatcher.of(self.crawler).failed:
            downloader.let_go()
        if now - self._since > 2 * GRACE:
            ArchiveSession.of(self.crawler).give_up()
