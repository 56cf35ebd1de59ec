"""robots.txt by RFC 9309: rules per host, kept for a day; an unreadable file forbids everything."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from scrapy.utils.sitemap import sitemap_urls_from_robots

from archivebot.config import PaceConfig
from archivebot.crawl.reading.convert import REDIRECTS, address_after, outcome_of_response, reason_of
from archivebot.crawl.refusals import Interrupted, PrivateAddress, RobotsDenied
from archivebot.crawl.retry import RetryPolicy, asked_by, pause
from archivebot.crawl.scheduling.entries import ROBOTS, SITEMAPS
from archivebot.crawl.scheduling.pace import HostPace
from archivebot.http.robotstxt import UNREACHABLE, RobotsTxt
from archivebot.models import Outcome
from archivebot.urls import host_of

logger = logging.getLogger(__name__)

MAX_REDIRECTS = 5  # https://www.rfc-editor.org/rfc/rfc9309#section-2.3.1.2
# The RFC requires at least 500 KiB; of 2,100 real files one is longer, 1.3 MiB. The worst case of this size,
# 110,000 rules or as many lines that name archivebot, takes 0.7 s.
MAX_BYTES = 1536 * 1024
MAX_SITEMAPS = 100  # that a robots.txt names
MAX_HOSTS = 10_000  # hosts whose rules are kept; about 100 MB at the usual few KB each
SILENT = RobotsTxt()  # the rules of a host without robots.txt


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of one host for archivebot: without robots.txt all is allowed, with a fault nothing.

    ``asked`` is the Retry-After header that came with the fault.
    """

    robots: RobotsTxt = SILENT
    fault: str = ""
    asked: str = ""
    sitemaps: tuple[str, ...] = ()

    @classmethod
    def parse(cls, body: bytes, token: str, url: str = "") -> Rules:
        """Read a robots.txt for a product token, and the absolute URLs of the sitemaps that it names."""
        body = body[:MAX_BYTES]
        sitemaps = sitemap_urls_from_robots(body, url or None)
        return cls(RobotsTxt.parse(body, token), sitemaps=tuple(islice(sitemaps, MAX_SITEMAPS)))

    def refusal(self, url: str) -> str | None:
        """Return the reason why the URL may not be fetched, or None."""
        if self.fault:
            return f"{UNREACHABLE}{self.fault}"
        return None if self.robots.allows(url) else "disallowed by robots.txt"


class RobotsMiddleware:
    """Checks robots.txt before each page request, and raises RobotsDenied if it forbids the page.

    Rules are fetched again after ``expiry`` seconds, an unreachable robots.txt after ``patience``. A
    Crawl-delay is passed to HostPace, limited to ``longest_delay``.
    """

    def __init__(
        self, crawler: Crawler, token: str, expiry: float, patience: float, longest_delay: float
    ) -> None:
        self.crawler = crawler
        self.token = token
        self.expiry = expiry
        self.patience = patience
        self.longest_delay = longest_delay
        self.retries = RetryPolicy.from_settings(crawler.settings)
        self.clock: Callable[[], float] = time.monotonic
        self._known: dict[str, tuple[Rules, float]] = {}
        self._asking: dict[str, asyncio.Task[Rules]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsMiddleware:
        settings = crawler.settings
        if not settings.getbool("ROBOTSTXT_OBEY"):
            raise NotConfigured("ROBOTSTXT_OBEY is off")
        config = PaceConfig.from_settings(settings)
        return cls(
            crawler,
            token=settings["ROBOTSTXT_USER_AGENT"],
            expiry=config.robots_expiry,
            patience=config.robots_patience,
            longest_delay=config.crawl_delay_max,
        )

    async def process_request(self, request: Request) -> None:
        if request.meta.get(ROBOTS):
            return
        rules = await self.rules(request.url)
        request.meta[SITEMAPS] = rules.sitemaps
        if reason := rules.refusal(request.url):
            self.crawler.stats.inc_value("robots/denied")
            if rules.fault:
                self.crawler.stats.inc_value("robots/unreachable")
            raise RobotsDenied(reason)

    async def rules(self, url: str) -> Rules:
        """Return the rules for a URL's host and port, fetched once for all requests that wait for them."""
        parts = urlsplit(url)
        origin = f"{parts.scheme}://{parts.netloc}"
        known = self._known.get(origin)
        if known and known[1] > self.clock():
            return known[0]
        if origin not in self._asking:
            self._asking[origin] = asyncio.create_task(self._learn(origin))
        return await asyncio.shield(self._asking[origin])

    async def _learn(self, origin: str) -> Rules:
        try:
            rules = await self._fetch(origin)
        finally:
            del self._asking[origin]
        if len(self._known) >= MAX_HOSTS:
            del self._known[next(iter(self._known))]
        self._known[origin] = rules, self.clock() + (self.patience if rules.fault else self.expiry)
        self._set_pace(origin, rules)
        return rules

    def _set_pace(self, origin: str, rules: Rules) -> None:
        pace, host = self.crawler.get_extension(HostPace), urlsplit(origin).hostname
        delay = min(rules.robots.crawl_delay, self.longest_delay)
        if pace and host and delay > 0:
            pace.crawl_delays[host] = delay
            self.crawler.stats.set_value(f"robots/crawl_delay/{host}", delay)
            logger.info("Crawl-delay of %s: %g seconds", host, delay)

    async def _fetch(self, origin: str) -> Rules:
        """Fetch the rules, with as many retries as a page: one lost answer must not close a whole host."""
        attempt = 1
        while (rules := await self._try(origin)).fault and attempt <= self.retries.times:
            if not await pause(self.crawler.engine, self.retries.backoff(attempt, rules.asked)):
                raise Interrupted("the crawl ended before robots.txt was read")
            attempt += 1
        if rules.fault:
            logger.error("robots.txt of %s is unreachable, so nothing is fetched: %s", origin, rules.fault)
        return rules

    async def _try(self, origin: str) -> Rules:
        self.crawler.stats.inc_value("robots/requests")
        try:
            response = await self._follow(f"{origin}/robots.txt")
        except Interrupted:  # the waiting pages are neither allowed nor denied
            raise
        except PrivateAddress as error:
            if error.host == host_of(origin):  # so the pages are there, too
                raise
            return Rules(fault=str(error))
        except Exception as error:  # any failure to read the file means the same
            return Rules(fault=reason_of(error))
        self.crawler.stats.inc_value(f"robots/status/{response.status}")
        if response.status == 429 or response.status >= 500:
            return Rules(fault=f"status {response.status}", asked=asked_by(response))
        if response.status // 100 != 2:
            return Rules()
        if outcome_of_response(response) in (Outcome.INCOMPLETE, Outcome.TOO_LARGE):
            return Rules(fault=f"it is {outcome_of_response(response)}")
        return Rules.parse(response.body, self.token, response.url)

    async def _follow(self, url: str) -> Response:
        """Return the first answer that is not a redirect, or the last of MAX_REDIRECTS hops."""
        for _ in range(MAX_REDIRECTS + 1):
            response = await self.crawler.engine.download_async(self._request(url))
            if response.status not in REDIRECTS or not response.headers.get("Location"):
                break
            url = address_after(response) or ""
        return response

    @staticmethod
    def _request(url: str) -> Request:
        return Request(url, callback=NO_CALLBACK, priority=1000, meta={ROBOTS: True})
