"""Conditional requests: an unchanged page is answered with 304 and read from the archive."""

from __future__ import annotations

from urllib.parse import urlsplit

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from archivebot.config import CrawlConfig
from archivebot.crawl.process.calls import is_fresh, validators
from archivebot.crawl.process.session import ArchiveSession
from archivebot.crawl.refusals import Refused
from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.crawl.scheduling.entries import REQUISITE, ROBOTS

# The reason in the frontier.
FRESH = "fresh"


class ConditionalMiddleware:
    """Send the ETag and Last-Modified of the latest content as If-None-Match and If-Modified-Since.

    A page requisite whose content is fresh by its own headers is not requested.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.session = ArchiveSession.of(crawler)
        self.new = set[str]()  # hosts of which the archive had nothing before the crawl

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ConditionalMiddleware:
        if not CrawlConfig.from_settings(crawler.settings).conditional:
            raise NotConfigured("ARCHIVE_CONDITIONAL is off")
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        if request.meta.get(ROBOTS) or request.meta.get("archive_anew") or request.method != "GET":
            return
        host = urlsplit(request.url).netloc
        if host in self.new:
            return
        is_known, etag, modified = await self.session.read(validators, request.url)
        if not is_known:
            self.new.add(host)
        elif REQUISITE in request.meta and await self.session.read(is_fresh, request.url):
            self.crawler.stats.inc_value("requisites/fresh")
            Dispatcher.of(self.crawler).turn_down(request, FRESH)
            raise Refused(FRESH)
        if etag:
            request.headers.setdefault("If-None-Match", etag)
        if modified:
            request.headers.setdefault("If-Modified-Since", modified)
