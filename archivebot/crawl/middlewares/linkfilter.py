"""The base of middlewares that score links: a dropped link is recorded, and may be found again."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.crawl.scheduling.entries import LINK
from archivebot.crawl.spider import ArchiveSpider
from archivebot.models import Link


class LinkFilter(BaseSpiderMiddleware):
    """Scores each link by the evidence that the spider attached, or drops it with a reason.

    ``counted`` is the prefix of the stat that counts dropped links by reason.
    """

    counted: ClassVar[str]

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        assert isinstance(crawler.spider, ArchiveSpider)
        self.spider = crawler.spider

    @abstractmethod
    def score(self, request: Request, response: Response, link: Link) -> str | None:
        """Write the score of a link into the meta of its request; return the reason to drop it, or None."""

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Score a link and pass it on, or drop it; seeds, redirects and retries pass unchanged."""
        link = request.meta.pop(LINK, None)
        if response is None or link is None:
            return request
        reason = self.score(request, response, link)
        if reason is None:
            return request
        self.crawler.stats.inc_value(f"{self.counted}/{reason}")
        Dispatcher.of(self.crawler).refuse(request, reason)
        self.spider.forget(link)  # a better page may link to it again
        return None
