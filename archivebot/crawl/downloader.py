"""Scrapy's downloader, extended to cancel requests that are under way."""

from __future__ import annotations

import asyncio
from typing import Any

from scrapy import Request, Spider
from scrapy.core.downloader import Downloader as ScrapyDownloader
from scrapy.crawler import Crawler
from scrapy.http import Response
from twisted.internet.defer import CancelledError, Deferred
from twisted.python.failure import Failure

from archivebot.crawl.refusals import Interrupted

CANCELLED = (CancelledError, asyncio.CancelledError)


class Downloader(ScrapyDownloader):
    """Lets a crawl end without waiting for servers: Scrapy waits for all requests, each after its delay.

    A cancelled request fails with :class:`~archivebot.crawl.refusals.Interrupted`.
    """

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._fetches: dict[Request, Deferred[Response | Request]] = {}

    def fetch(self, request: Request, spider: Spider | None = None) -> Deferred[Response | Request]:
        fetch: Deferred[Response | Request] = super().fetch(request)
        self._fetches[request] = fetch

        def end(result: Any) -> Any:
            del self._fetches[request]
            if isinstance(result, Failure) and isinstance(result.value, CANCELLED):
                raise Interrupted("the crawl ended before an answer came")
            return result

        return fetch.addBoth(end)

    def drop_waiting(self) -> None:
        """Cancel the requests that wait for the delay of their host or for a free slot."""
        for slot in self.slots.values():
            requests = [request for request, _ in slot.queue]
            slot.queue.clear()
            self._let_go(requests)

    def let_go(self) -> None:
        """Cancel all requests."""
        self._let_go(list(self._fetches))

    def _let_go(self, requests: list[Request]) -> None:
        for request in requests:
            if request in self._fetches:
                self._fetches[request].cancel()
