"""The pace of each host: base delay, Crawl-delay, and a penalty after 429 or 503."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.http import Response

from archivebot.config import PaceConfig
from archivebot.crawl.compat.engine import keep_exact
from archivebot.urls import is_loopback

_ASKS_FOR_REST = frozenset((429, 503))
_NEGLIGIBLE = 0.05  # seconds; a lower penalty is dropped instead of halved further


class HostPace:
    """Sets the delay of each host's download slot to the maximum of all delays that apply.

    ``delay`` and ``concurrency`` apply to hosts in general. Hosts on this machine get no base delay and
    ``local_concurrency``, because they serve nobody else. A Crawl-delay or a penalty applies to them, too.
    The penalty is between ``first`` and ``ceiling`` seconds. It doubles with each 429 or 503, and halves with
    each other answer. ``slots`` are the DOWNLOAD_SLOTS of Scrapy: their delay and concurrency replace those
    of a host. If Scrapy's AutoThrottle ``adapts`` the delays of slots, it may only raise them.
    """

    def __init__(
        self,
        delay: float,
        concurrency: int,
        local_concurrency: int,
        first: float,
        ceiling: float,
        slots: Mapping[str, Mapping[str, Any]] | None = None,
        adapts: bool = False,
    ) -> None:
        self.delay = delay
        self.concurrency = concurrency
        self.local_concurrency = local_concurrency
        self.first = first
        self.ceiling = ceiling
        self.slots = slots or {}
        self.adapts = adapts
        self.crawl_delays: dict[str, float] = {}
        self.penalties: dict[str, float] = {}
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
        base = self.slots.get(host, {}).get("delay", usual)
        return max(float(base), self.crawl_delays.get(host, 0.0), self.penalties.get(host, 0.0))

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
        host = request.meta["download_slot"]
        if response.status in _ASKS_FOR_REST or host in self.penalties:
            self.judge(host, response.status)
            self._set_slot(host)

    def _set_slot(self, host: str) -> None:
        assert self.crawler is not None
        slot = self.crawler.engine.downloader.slots[host]
        slot.delay = max(self.delay_of(host), slot.delay if self.adapts else 0.0)
        slot.concurrency = self.concurrency_of(host)
        if host in self.crawl_delays:
            keep_exact(slot)  # jitter would go below the delay
