"""The page budget: never more pages than the operator asked for, and exactly as many where they exist."""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler

from archivebot.crawl.guard import Refused

TOKEN = "archive_token"  # meta key of a request that holds a share of the budget


class PageBudget:
    """A number of shares: taken before a fetch, spent by an answer, given back by a failure.

    ``parked`` holds the requests that found no share left; one comes back with each share.
    """

    def __init__(self, pages: int | None) -> None:
        self.left = self.unspent = pages
        self.parked: list[Request] = []

    @property
    def spent(self) -> bool:
        """Whether every share became a page."""
        return self.unspent == 0

    def take(self, request: Request) -> bool:
        """Give the request a share, or park it; a request keeps its share through retries."""
        if self.left is None or TOKEN in request.meta:
            return True
        if self.left == 0:
            self.parked.append(request)
            return False
        self.left -= 1
        request.meta[TOKEN] = True
        return True

    def spend(self) -> None:
        """Count one answered page."""
        if self.unspent is not None:
            self.unspent -= 1

    def give_back(self, request: Request) -> Request | None:
        """Return the share of a request that got no answer; give a parked request to fetch instead."""
        if self.left is None or not request.meta.pop(TOKEN, False):
            return None
        self.left += 1
        return self.parked.pop(0).replace(dont_filter=True) if self.parked else None


class BudgetMiddleware:
    """Let a page request pass only with a share of the spider's budget."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> BudgetMiddleware:
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        if request.meta.get("archive_robots"):
            return
        budget = getattr(self.crawler.spider, "budget", None)
        if budget and not budget.take(request):
            raise Refused("page budget")
