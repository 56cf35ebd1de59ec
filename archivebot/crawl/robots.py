"""robots.txt by RFC 9309: rules per host, kept for a day; what cannot be read forbids everything."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from protego import Protego
from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import IgnoreRequest, NotConfigured
from scrapy.http import Response
from scrapy.http.request import NO_CALLBACK
from twisted.internet.defer import CancelledError

from archivebot.crawl.convert import reason_of
from archivebot.crawl.pace import HostPace
from archivebot.crawl.retry import RetryPolicy, pause

logger = logging.getLogger(__name__)

MAX_REDIRECTS = 5  # https://www.rfc-editor.org/rfc/rfc9309#section-2.3.1.2
MAX_BYTES = 512 * 1024  # the RFC asks for 500 KiB at least; Protego reads that much in about 0.2 s
MAX_HOSTS = 10_000  # hosts whose rules are kept; about 100 MB at the usual few KB each
REDIRECTS = frozenset((301, 302, 303, 307, 308))

_AGENT_LINE = re.compile(r"^\s*user[- ]?agent\s*:\s*([^\s#]+)", re.I | re.M)


class RobotsDenied(IgnoreRequest):
    """robots.txt forbids the request; the refusal is recorded as an outcome."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What one robots.txt allows one agent; without a parser everything, with a fault nothing."""

    parser: Protego | None = None
    agent: str = "*"
    fault: str = ""

    @classmethod
    def parse(cls, body: bytes, token: str) -> Rules:
        """Read a robots.txt for a product token; lines that cannot be read are skipped.

        The group of the token counts if a group names it exactly, case ignored, else the group of ``*``.
        (Protego alone would also let ``User-agent: arch`` speak for archivebot.)
        """
        text = body[:MAX_BYTES].decode("utf-8-sig", "ignore")
        named = {name.lower() for name in _AGENT_LINE.findall(text)}
        return cls(Protego.parse(text), token if token.lower() in named else "*")

    def refusal(self, url: str) -> str | None:
        """Give the reason why the URL may not be fetched, or None."""
        if self.fault:
            return f"robots.txt unreachable: {self.fault}"
        if self.parser is None or self.parser.can_fetch(url, self.agent):
            return None
        return "disallowed by robots.txt"

    @property
    def crawl_delay(self) -> float:
        """The seconds that the host wants between requests; 0 where it says nothing."""
        return float(self.parser.crawl_delay(self.agent) or 0) if self.parser else 0.0


class RobotsMiddleware:
    """Ask robots.txt before each page request, and raise RobotsDenied where it forbids.

    Rules are read anew after ``expiry`` seconds, an unreachable robots.txt after ``patience``.
    A Crawl-delay goes to HostPace, bounded by ``longest_delay``.
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
        return cls(
            crawler,
            token=settings["ROBOTSTXT_USER_AGENT"],
            expiry=settings.getfloat("ARCHIVE_ROBOTS_EXPIRY"),
            patience=settings.getfloat("ARCHIVE_ROBOTS_PATIENCE"),
            longest_delay=settings.getfloat("ARCHIVE_CRAWL_DELAY_MAX"),
        )

    async def process_request(self, request: Request) -> None:
        if request.meta.get("archive_robots"):
            return
        rules = await self.rules(request.url)
        if reason := rules.refusal(request.url):
            self.crawler.stats.inc_value("robots/denied")
            raise RobotsDenied(reason)

    async def rules(self, url: str) -> Rules:
        """Give the rules for a URL's host and port, fetched once however many requests wait for them."""
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
        delay = min(rules.crawl_delay, self.longest_delay)
        if pace and host and delay > 0:
            pace.crawl_delays[host] = delay
            self.crawler.stats.set_value(f"robots/crawl_delay/{host}", delay)
            logger.info("Crawl-delay of %s: %g seconds", host, delay)

    async def _fetch(self, origin: str) -> Rules:
        """Try as often as a page would be tried: one lost answer must not close a whole host."""
        attempt = 1
        while (rules := await self._try(origin)).fault and attempt <= self.retries.times:
            if not await pause(self.crawler.engine, self.retries.backoff(attempt)):
                raise CancelledError  # the crawl ends; the pages that wait are neither allowed nor denied
            attempt += 1
        if rules.fault:
            logger.error("robots.txt of %s is unreachable, so nothing is fetched: %s", origin, rules.fault)
        return rules

    async def _try(self, origin: str) -> Rules:
        self.crawler.stats.inc_value("robots/requests")
        try:
            response = await self._follow(f"{origin}/robots.txt")
        except CancelledError:
            raise
        except Exception as error:  # whatever keeps us from reading the file means the same
            return Rules(fault=reason_of(error))
        self.crawler.stats.inc_value(f"robots/status/{response.status}")
        if response.status == 429 or response.status >= 500:
            return Rules(fault=f"status {response.status}")
        return Rules.parse(response.body, self.token) if response.status // 100 == 2 else Rules()

    async def _follow(self, url: str) -> Response:
        """Give the first answer that is no redirect, or the last of MAX_REDIRECTS hops."""
        for _ in range(MAX_REDIRECTS + 1):
            response = await self.crawler.engine.download_async(self._request(url))
            location = response.headers.get("Location")
            if response.status not in REDIRECTS or not location:
                break
            url = urljoin(url, location.decode("latin-1"))
        return response

    @staticmethod
    def _request(url: str) -> Request:
        return Request(url, callback=NO_CALLBACK, priority=1000, meta={"archive_robots": True})
