"""Enforces the limits of a crawl: a body that will not be stored is not received, or dropped."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured, StopDownload
from scrapy.http import Headers, Response
from scrapy.spidermiddlewares.base import BaseSpiderMiddleware

from archivebot.crawl.arguments import Arguments
from archivebot.crawl.limits import Limits, Unwanted
from archivebot.crawl.reading.convert import flagged, headers_of, media_of_response, pairs
from archivebot.crawl.scheduling.entries import READING, REQUISITE, ROBOTS
from archivebot.hypertext import Hypertext
from archivebot.models import Outcome, Page

UNWANTED = "archive_unwanted"  # meta key of the reason why a body was not received


class LimitsDownloaderMiddleware:
    """Ends a download after its headers, or drops its body, if the body is beyond the limits of the crawl.

    The answer is recorded as ``excluded``, with the reason. Seeds are limited by size alone. Pages pass,
    unless their headers are beyond the limits: their links are not read yet.
    """

    def __init__(self, crawler: Crawler, limits: Limits) -> None:
        self.crawler, self.limits = crawler, limits
        crawler.signals.connect(self.headers_received, signals.headers_received)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LimitsDownloaderMiddleware:
        return cls(crawler, limits_of(crawler))

    def process_request(self, request: Request) -> None:
        if request.meta.get(ROBOTS):
            return
        if self.limits.accept:
            request.headers.setdefault("Accept", self.limits.accept)
        if self.limits.size is not None:
            others = request.meta.get("download_maxsize", self.limits.size)
            request.meta["download_maxsize"] = min(self.limits.size, others)

    def headers_received(self, headers: Headers, body_length: object, request: Request) -> None:
        """Raise StopDownload if the body is not wanted; an answer without a body is complete."""
        if body_length == 0 or is_exempt(request):
            return
        if unwanted := self.limits.of_head(pairs(headers)):
            request.meta[UNWANTED] = unwanted
            raise StopDownload(fail=False)

    def process_response(self, request: Request, response: Response) -> Response:
        """Return the answer, without its body if that is not wanted."""
        unwanted: Unwanted | None = request.meta.get(UNWANTED)
        if response.status // 100 != 2 or is_exempt(request):
            return response
        if unwanted is None and response.body:
            media = media_of_response(response)
            unwanted = None if media.is_page else self.limits.of_media(media)
        if unwanted is None:
            return response
        count(self.crawler, unwanted)
        return flagged(response.replace(body=b""), Outcome.EXCLUDED, unwanted.reason)


class LimitsSpiderMiddleware(BaseSpiderMiddleware):
    """Drops the body of a page that is beyond the limits of the crawl, after its links were read."""

    def __init__(self, crawler: Crawler, limits: Limits) -> None:
        super().__init__(crawler)
        self.limits = limits

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> LimitsSpiderMiddleware:
        return cls(crawler, limits_of(crawler))

    def get_processed_item(self, item: Any, response: Response | None) -> Any:
        if not isinstance(item, Page) or item.outcome is not Outcome.FETCHED or response is None:
            return item
        unwanted = self._unwanted(response)
        if unwanted is None:
            return item
        count(self.crawler, unwanted)
        return replace(item, outcome=Outcome.EXCLUDED, body=b"", reason=unwanted.reason)

    def get_processed_request(self, request: Request, response: Response | None) -> Request | None:
        """Drop the requisites of a page that is dropped."""
        is_needless = REQUISITE in request.meta and response is not None and self._unwanted(response)
        return None if is_needless else request

    def _unwanted(self, response: Response) -> Unwanted | None:
        if response.status == 304 or response.request is None or is_exempt(response.request):
            return None
        reading: Hypertext = response.meta.get(READING, Hypertext())
        unwanted = self.limits.of_media(media_of_response(response))
        return unwanted or self.limits.of_date(headers_of(response), reading.published)


def limits_of(crawler: Crawler) -> Limits:
    """Return the limits that the arguments of a spider set. Raises NotConfigured if there are none."""
    arguments = getattr(crawler.spider, "arguments", None)
    if not isinstance(arguments, Arguments) or arguments.limits == Limits():
        raise NotConfigured
    return arguments.limits


def is_exempt(request: Request) -> bool:
    """Return whether types and dates are not limited: for seeds, requisites and robots.txt."""
    return not {"archive_seed", ROBOTS, REQUISITE}.isdisjoint(request.meta)


def count(crawler: Crawler, unwanted: Unwanted) -> None:
    """Count a body that is not stored."""
    crawler.stats.inc_value(f"limits/{unwanted.limit}")
