"""The Scrapy scheduler whose queue is the frontier in SQLite beside the archive."""

from __future__ import annotations

from scrapy import Request
from scrapy.core.scheduler import BaseScheduler
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

from archivebot.crawl.arguments import HasArguments
from archivebot.crawl.scheduling.dispatcher import Dispatcher


class FrontierScheduler(BaseScheduler):
    """Returns the best request first, loses none if the process is killed, ends when none is open."""

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FrontierScheduler:
        return cls(Dispatcher.of(crawler))

    def open(self, spider: HasArguments) -> Deferred[None]:  # type: ignore[override]  # no other spider has arguments
        return deferred_from_coro(self.dispatcher.open(spider))

    def close(self, reason: str) -> None:
        self.dispatcher.close(reason)

    def has_pending_requests(self) -> bool:
        return self.dispatcher.pending()

    def enqueue_request(self, request: Request) -> bool:
        self.dispatcher.enqueue(request)
        return True

    def next_request(self) -> Request | None:
        return self.dispatcher.next()
