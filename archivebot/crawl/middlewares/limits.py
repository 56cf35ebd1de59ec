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
from archivebot.crawl.reading.convert import flagged, media_of_response, pairs
from archivebot.crawl.scheduling.entries import READING
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
        if request.meta.get("archive_robots"):
            return
        if self.limits.accept:
            request.headers.setdefault("Accept", self.limits.accept)
        if self.limits.size is not None:
            request.meta["download_maxsize"] = self.limits.size

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
        if response.request is None or is_exempt(response.request):
            return item
        reading: Hypertext = response.meta.get(READING, Hypertext())
        unwanted = self.limits.of_media(media_of_response(response))
        unwanted = unwanted or self.limits.of_date(item.headers, reading.published)
        if unwanted is None:
            return item
        count(self.crawler, unwanted)
        return replace(item, outcome=Outcome.EXCLUDED, body=b"", reason=unwanted.reason)


def limits_of(crawler: Crawler) -> Limits:
    """Return the limits that the arguments of a spider set. Raises NotConfigured if there are none."""
    arguments = getattr(crawler.spider, "arguments", None)
    if not isinstance(arguments, Arguments) or arguments.limits == Limits():
        raise NotConfigured
    return arguments.limits


def is_exempt(request: Request) -> bool:
    """Return whether types and dates are not limited: the operator chose the URL, or it is robots.txt."""
    return bool(request.meta.get("archive_seed") or request.meta.get("archive_robots"))


def count(crawler: Crawler, unwanted: Unwanted) -> None:
    """Count a body that is not stored."""
    crawler.stats.inc_value(f"limits/{unwanted.limit}")
