"""The pace of each host: base delay, Crawl-delay, a penalty after 429 or 503, and the rest it asks for."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from archivebot.config import PaceConfig
from archivebot.crawl.compat.engine import keep_exact, send_waiting
from archivebot.crawl.retry import asked_by, retry_after
from archivebot.frontier import Frontier
from archivebot.urls import is_loopback

# A 503 may be the fault of one page, so only that page waits for its Retry-After; a 429 is of the whole host.
_TOO_MANY = 429
_ASKS_FOR_REST = frozenset((_TOO_MANY, 503))
_NEGLIGIBLE = 0.05  # seconds; a lower penalty is dropped instead of halved further


class HostPace:
    """Sets the delay of each host's download slot to the maximum of all delays that apply.

    ``delay`` and ``concurrency`` apply to hosts in general. Hosts on this machine get no base delay and
    ``local_concurrency``, because they serve nobody else. A Crawl-delay or a penalty applies to them, too.
    The penalty is between ``first`` and ``ceiling`` seconds. It doubles with each 429 or 503, and halves with
    each other answer. If a 429 has a Retry-After, no request is sent to the host until then, for at most
    ``longest`` seconds. ``slots`` are the DOWNLOAD_SLOTS of Scrapy: their delay and concurrency replace
    those of a host. If Scrapy's AutoThrottle ``adapts`` the delays of slots, it may only raise them.
    """

    def __init__(
        self,
        delay: float,
        concurrency: int,
        local_concurrency: int,
        first: float,
        ceiling: float,
        longest: float,
        slots: Mapping[str, Mapping[str, Any]] | None = None,
        adapts: bool = False,
    ) -> None:
        self.delay = delay
        self.concurrency = concurrency
        self.local_concurrency = local_concurrency
        self.first = first
        self.ceiling = ceiling
        self.longest = longest
        self.slots = slots or {}
        self.adapts = adapts
        self.crawl_delays: dict[str, float] = {}
        self.penalties: dict[str, float] = {}
        self.rests: dict[str, float] = {}  # seconds that a host asked for; 0 when they have passed
        self._ends: dict[str, asyncio.TimerHandle] = {}
        self._local: dict[str, bool] = {}
        self.crawler: Crawler | None = None

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> HostPace:
        settings = crawler.settings
        config = PaceConfig.from_settings(settings)
        pace = cls(
            delay=settings.getfloat("DOWNLOAD_DELAY"),
            concurrency=settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN"),
            local_concurrency=config.local_concurrency,
            first=config.retry_base,
            ceiling=config.retry_ceiling,
            longest=config.retry_after_max,
            slots=settings.getdict("DOWNLOAD_SLOTS"),
            adapts=settings.getbool("AUTOTHROTTLE_ENABLED"),
        )
        pace.crawler = crawler
        crawler.signals.connect(pace.request_reached_downloader, signals.request_reached_downloader)
        crawler.signals.connect(pace.response_downloaded, signals.response_downloaded)
        return pace

    def delay_of(self, host: str) -> float:
        """Return the seconds between two requests to a host."""
        usual = 0.0 if self.is_local(host) else self.delay
        base = float(self.slots.get(host, {}).get("delay", usual))
        delays = (self.crawl_delays, self.penalties, self.rests)
        return max(base, *(known.get(host, 0.0) for known in delays))

    def concurrency_of(self, host: str) -> int:
        """Return the maximum of concurrent requests to a host."""
        usual = self.local_concurrency if self.is_local(host) else self.concurrency
        return int(self.slots.get(host, {}).get("concurrency", usual))

    def is_local(self, host: str) -> bool:
        """Return whether a host is this machine: localhost, 127.0.0.0/8 or ::1."""
        if host not in self._local:
            self._local[host] = is_loopback(host)
        return self._local[host]

    def judge(self, host: str, status: int) -> None:
        """Raise the penalty of a host that answers 429 or 503, lower it for any other answer."""
        penalty = self.penalties.pop(host, 0.0)
        if status in _ASKS_FOR_REST:
            self.penalties[host] = min(max(2 * penalty, self.first), self.ceiling)
        elif penalty / 2 > _NEGLIGIBLE:
            self.penalties[host] = penalty / 2

    def request_reached_downloader(self, request: Request) -> None:
        """Configure the host's slot, before each request: Scrapy drops slots that are idle for a minute."""
        self._set_slot(request.meta["download_slot"])

    def response_downloaded(self, response: Response, request: Request) -> None:
        """Judge the host by its answer, before Scrapy sends it the next request."""
        host, asks_for_rest = request.meta["download_slot"], response.status in _ASKS_FOR_REST
        if response.status == _TOO_MANY:
            self._rest(host, min(retry_after(asked_by(response)), self.longest))
        # AutoThrottle, an earlier extension, may just have set a delay that is too short.
        if asks_for_rest or host in self.penalties or self.adapts:
            self.judge(host, response.status)
            self._set_slot(host)

    def _rest(self, host: str, seconds: float) -> None:
        """Send nothing to a host for some seconds, unless it rests longer anyway."""
        clock, end = asyncio.get_running_loop(), self._ends.get(host)
        if not seconds or (end and end.when() > clock.time() + seconds):
            return
        if end:
            end.cancel()
        self.rests[host] = seconds
        self._ends[host] = clock.call_later(seconds, self._go_on, host)

    def _go_on(self, host: str) -> None:
        assert self.crawler is not None
        self.rests[host] = 0.0
        del self._ends[host]
        if host in self.crawler.engine.downloader.slots:
            self._set_slot(host)
            send_waiting(self.crawler.engine.downloader, host)

    def _set_slot(self, host: str) -> None:
        assert self.crawler is not None
        slot = self.crawler.engine.downloader.slots[host]
        if host in self._ends:
            slot.concurrency = 0  # a delay would count from the last request
            return
        slot.delay = max(self.delay_of(host), slot.delay if self.adapts else 0.0)
        slot.concurrency = self.concurrency_of(host)
        if host in self.crawl_delays:
            keep_exact(slot)  # jitter would go below the delay


class FrontierPaces:
    """Writes the pace of hosts to a frontier, each when it has changed."""

    def __init__(self, crawler: Crawler, frontier: Frontier) -> None:
        self._crawler, self._frontier = crawler, frontier
        self._written: dict[str, tuple[int, float]] = {}

    def write(self, host: str) -> None:
        """Write the pace of a host."""
        rules = self._crawler.get_extension(HostPace)
        pace = (rules.concurrency_of(host), rules.delay_of(host)) if rules else (1, 0.0)
        if self._written.get(host) != pace:
            self._frontier.pace(host, *pace)
            self._written[host] = pace

    def renew(self, hosts: Iterable[str]) -> None:
        """Write the paces of hosts, and of those that asked for rest; but none at first: a lease does."""
        rules = self._crawler.get_extension(HostPace)
        for host in self._written.keys() & {*hosts, *(rules.rests if rules else ())}:
            self.write(host)

    def clear(self) -> None:
        """Write all paces again: what wrote them may have been undone."""
        self._written.clear()
