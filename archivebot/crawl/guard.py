"""The guard: scope and trap rules over every request, from a spider or from anywhere else."""

from __future__ import annotations

import logging
from functools import lru_cache
from typing import Any

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from archivebot.crawl.dispatcher import Dispatcher
from archivebot.urls import Scope, trap

logger = logging.getLogger(__name__)


MAX_HOPS = 5  # redirects in a row; browsers stop at 20, real chains rarely pass 3


class Refused(IgnoreRequest):
    """A request that is not made, by our own rules; it leaves a stat and no capture."""


class Guard:
    """Scope, depth, traps and length as one question: why may this request not be made?"""

    def __init__(self, scope: Scope | None, deepest: int | None, longest: int) -> None:
        self.scope = scope
        self.deepest = deepest
        self.longest = longest
        self._refusal_of_url = lru_cache(maxsize=4096)(self._url)  # asked twice for each fetched URL

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Guard:
        spider = crawler.spider
        longest = crawler.settings.getint("URLLENGTH_LIMIT")
        return cls(getattr(spider, "scope", None), getattr(spider, "depth_limit", None), longest)

    def refusal(self, request: Request) -> str | None:
        """Give the name of the reason, or None."""
        if self.deepest is not None and request.meta.get("depth", 0) > self.deepest:
            return "depth"
        if request.meta.get("archive_hops", 0) > MAX_HOPS:
            return "redirect_chain"
        return self._refusal_of_url(request.url)

    def _url(self, url: str) -> str | None:
        if not url.startswith(("http://", "https://")):
            return "scheme"
        if self.longest and len(url) > self.longest:
            return "url_length"
        return (self.scope.refusal(url) if self.scope else None) or trap(url)


class _Guarding:
    """What both middlewares share: the guard, made when the spider is known, and its stats."""

    crawler: Crawler
    _guard: Guard | None = None

    def refusal(self, request: Request) -> str | None:
        """Return the reason against a request, counted as ``guard/<reason>``, or None.

        Seeds are the operator's own wish, and robots.txt is asked for before any page.
        """
        if request.meta.get("archive_seed") or request.meta.get("archive_robots"):
            return None
        self._guard = self._guard or Guard.from_crawler(self.crawler)
        reason = self._guard.refusal(request)
        if reason:
            logger.debug("Refused %s: %s", request.url, reason)
            self.crawler.stats.inc_value(f"guard/{reason}")
        return reason


class GuardSpiderMiddleware(_Guarding, BaseSpiderMiddleware):
    """Drop the links that may not be fetched before they are scheduled."""

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        reason = self.refusal(request)
        if not reason:
            return request
        Dispatcher.of(self.crawler).refuse(request, reason)
        if response is not None and response.meta.get("archive_seed") and "archive_hops" in request.meta:
            logger.warning(
                "The seed %s leads out of the scope: add %s to the seeds", response.url, request.url
            )
        return None

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        return item


class GuardDownloaderMiddleware(_Guarding):
    """Stop requests that came past the spider: a resumed queue, or rules changed meanwhile."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> GuardDownloaderMiddleware:
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        if reason := self.refusal(request):
            Dispatcher.of(self.crawler).turn_down(request, reason)
            raise Refused(reason)
