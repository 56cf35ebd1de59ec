"""One crawl for several processes: scrapy-redis' scheduler with leases instead of pops.

Stock scrapy-redis removes a request when it hands it out, so a killed worker loses it. It writes requests
with pickle, returns equal priorities in the order of their bytes, and calls Scrapy with arguments that are
deprecated since 2.14.
"""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.utils.defer import deferred_from_coro
from twisted.internet.defer import Deferred

from archivebot.crawl.arguments import HasArguments
from archivebot.crawl.scheduling import serializer
from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.crawl.scheduling.entries import SCORE, key_of
from archivebot.exceptions import UsageError
from archivebot.frontier import SeenCache

try:
    from scrapy_redis.dupefilter import RFPDupeFilter
    from scrapy_redis.queue import Base
    from scrapy_redis.scheduler import Scheduler
except ImportError as error:
    raise UsageError("a crawl on Redis needs scrapy-redis: pip install scrapy-redis") from error


class LeaseQueue(Base):  # type: ignore[misc]  # scrapy-redis has no types
    """scrapy-redis' queue over the frontier: a pop is a lease, which the stored page settles."""

    def __init__(self, spider: HasArguments) -> None:
        super().__init__(None, spider, "", serializer)
        self.dispatcher = Dispatcher.of(spider.crawler)

    def __len__(self) -> int:
        return int(self.dispatcher.pending())

    def push(self, request: Request) -> None:
        self.dispatcher.enqueue(request)

    def pop(self, timeout: int = 0) -> Request | None:
        return self.dispatcher.next()


class SeenFilter(RFPDupeFilter):  # type: ignore[misc]  # scrapy-redis has no types
    """Prevents this worker from sending Redis the same URL with the same score twice.

    The frontier, not a filter, decides whether a URL is new to the crawl.
    """

    def __init__(self) -> None:
        super().__init__(None, "")
        self.sent = SeenCache()

    def request_seen(self, request: Request) -> bool:
        score = request.meta.get(SCORE, request.priority)
        return not self.sent.add(f"{score!r} {key_of(request)}")

    def clear(self) -> None:
        self.sent.clear()


class LeaseScheduler(Scheduler):  # type: ignore[misc]  # scrapy-redis has no types
    """scrapy-redis' scheduler with late acknowledgement; its only connection is that of the frontier."""

    def __init__(self) -> None:
        super().__init__(None, persist=True, dupefilter=SeenFilter())

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LeaseScheduler:
        return cls()

    def open(self, spider: HasArguments) -> Deferred[None]:
        return deferred_from_coro(self._open(spider))

    async def _open(self, spider: HasArguments) -> None:
        self.spider = spider
        await Dispatcher.of(spider.crawler).open(spider)
        self.queue = LeaseQueue(spider)

    def enqueue_request(self, request: Request) -> bool:
        if not request.dont_filter and self.df.request_seen(request):
            return False
        self.queue.push(request)
        return True

    def next_request(self) -> Request | None:
        request: Request | None = self.queue.pop()
        return request

    def close(self, reason: str) -> None:
        Dispatcher.of(self.spider.crawler).close(reason)
