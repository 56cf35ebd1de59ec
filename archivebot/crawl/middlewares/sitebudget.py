"""Enforces the budget of a site: no request to a site that the crawl has left."""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from archivebot.crawl.arguments import DeepWebArguments
from archivebot.crawl.extensions.sitebudget import SiteBudget
from archivebot.crawl.refusals import Refused
from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.crawl.scheduling.entries import REQUISITE, ROBOTS


class SiteBudgetMiddleware:
    """Refuses requests to a site whose budget is spent; they are recorded as rejected, with the reason."""

    def __init__(self, crawler: Crawler, budget: SiteBudget) -> None:
        self.crawler, self.budget = crawler, budget

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> SiteBudgetMiddleware:
        if not isinstance(getattr(crawler.spider, "arguments", None), DeepWebArguments):
            raise NotConfigured
        return cls(crawler, SiteBudget.of(crawler))

    async def process_request(self, request: Request) -> None:
        if ROBOTS in request.meta or REQUISITE in request.meta:
            return
        if reason := await self.budget.spent(request.url):
            self.crawler.stats.inc_value(f"guard/{reason}")
            Dispatcher.of(self.crawler).turn_down(request, reason)
            raise Refused(reason)
        self.budget.fetch(request.url)
