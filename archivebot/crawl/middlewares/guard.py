"""The guard: applies scope and trap rules to every request, whatever its origin."""

from __future__ import annotations

import logging
from functools import lru_cache
from weakref import WeakKeyDictionary

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import CannotResolveHostError
from scrapy.http import Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from archivebot.config import CrawlConfig
from archivebot.crawl.extensions.addresses import PublicAddresses, named_hosts
from archivebot.crawl.refusals import PRIVATE, PrivateAddress, Refused
from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.crawl.scheduling.entries import REQUISITE, ROBOTS
from archivebot.urls import Scope, host_of, is_private, joined, trap

logger = logging.getLogger(__name__)


MAX_HOPS = 5  # redirects in a row; browsers stop at 20, real chains rarely pass 3

_GUARDS: WeakKeyDictionary[Crawler, Guard] = WeakKeyDictionary()


class Guard:
    """Checks scope, depth, traps, length and addresses: why may this request not be made?

    A page requisite may have any depth, and be out of scope.

    ``named`` are the hosts that may have private addresses; None allows all.
    """

    def __init__(
        self, scope: Scope | None, deepest: int | None, longest: int, named: frozenset[str] | None = None
    ) -> None:
        self.scope = scope
        self.deepest = deepest
        self.longest = longest
        self.named = named
        self._refusal_of_url = lru_cache(maxsize=4096)(self._url)  # called twice for each fetched URL

    @classmethod
    def of(cls, crawler: Crawler) -> Guard:
        """Return the guard of a crawl, which both middlewares share; the crawler must have its spider."""
        if crawler not in _GUARDS:
            _GUARDS[crawler] = cls.from_crawler(crawler)
        return _GUARDS[crawler]

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> Guard:
        spider = crawler.spider
        longest = crawler.settings.getint("URLLENGTH_LIMIT")
        anywhere = CrawlConfig.from_settings(crawler.settings).private_addresses
        named = None if anywhere else named_hosts(crawler)
        return cls(getattr(spider, "scope", None), getattr(spider, "depth_limit", None), longest, named)

    def refusal(self, request: Request) -> str | None:
        """Return the name of the reason against a request, or None."""
        if request.meta.get("archive_hops", 0) > MAX_HOPS:
            return "redirect_chain"
        if REQUISITE in request.meta:
            return self._unsafe(request.url)
        if self.deepest is not None and request.meta.get("depth", 0) > self.deepest:
            return "depth"
        return self._refusal_of_url(request.url)

    def _url(self, url: str) -> str | None:
        return self._unsafe(url) or (self.scope.refusal(url) if self.scope else None) or trap(url)

    def _unsafe(self, url: str) -> str | None:
        if not url.startswith(("http://", "https://")):
            return "scheme"
        if self.longest and len(url) > self.longest:
            return "url_length"
        if self.is_private(url):
            return PRIVATE
        return None

    def is_private(self, url: str) -> bool:
        """Return whether the host of a URL is a private address that the operator did not name."""
        if self.named is None:
            return False
        host = host_of(joined("", url) or url)
        return is_private(host) and host not in self.named


class _Guarding:
    """The common part of both middlewares."""

    crawler: Crawler

    def refusal(self, request: Request) -> str | None:
        """Return the reason against a request, counted as ``guard/<reason>``, or None.

        Seeds are allowed because the operator chose them, robots.txt because it is read before any page.
        Their addresses are checked, too: the seeds of some crawls come from the archive.
        """
        guard = Guard.of(self.crawler)
        if request.meta.get("archive_seed") or request.meta.get(ROBOTS):
            reason = PRIVATE if guard.is_private(request.url) else None
        else:
            reason = guard.refusal(request)
        if reason:
            self.count(request, reason)
        return reason

    def count(self, request: Request, reason: str) -> None:
        """Count and log a refusal."""
        logger.debug("Refused %s: %s", request.url, reason)
        self.crawler.stats.inc_value(f"guard/{reason}")


class GuardSpiderMiddleware(_Guarding, BaseSpiderMiddleware):
    """Drops links that may not be fetched, before they are scheduled."""

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


class GuardDownloaderMiddleware(_Guarding):
    """Stops requests that did not pass the spider: from a resumed queue, or after a change of rules."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> GuardDownloaderMiddleware:
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        if reason := self.refusal(request):
            if reason == PRIVATE:
                raise PrivateAddress(host_of(request.url))  # process_exception records it
            Dispatcher.of(self.crawler).turn_down(request, reason)
            raise Refused(reason)

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Record that a host turned out to be private, by its robots.txt or when its name was looked up."""
        host = host_of(request.url)
        addresses = self.crawler.get_extension(PublicAddresses)
        unresolved = isinstance(exception, CannotResolveHostError)
        refused = unresolved and addresses is not None and host in addresses.refused
        if refused:
            self.count(request, PRIVATE)
        if (refused or isinstance(exception, PrivateAddress)) and not request.meta.get(ROBOTS):
            Dispatcher.of(self.crawler).turn_down(request, PRIVATE)
        if refused:
            raise PrivateAddress(host)
