"""Conditional requests: ask for what changed since the latest capture, read that where nothing did."""

from __future__ import annotations

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from archivebot.archive import Archive
from archivebot.crawl.session import ArchiveSession
from archivebot.models import Headers


class ConditionalMiddleware:
    """Send the ETag and Last-Modified of the latest content as If-None-Match and If-Modified-Since."""

    def __init__(self, crawler: Crawler) -> None:
        self.crawler = crawler
        self.session = ArchiveSession.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ConditionalMiddleware:
        if not crawler.settings.getbool("ARCHIVE_CONDITIONAL"):
            raise NotConfigured("ARCHIVE_CONDITIONAL is off")
        return cls(crawler)

    async def process_request(self, request: Request) -> None:
        if request.meta.get("archive_robots") or request.method != "GET":
            return
        etag, modified = await self.session.run(self.session.archive.validators, request.url)
        if etag:
            request.headers.setdefault("If-None-Match", etag)
        if modified:
            request.headers.setdefault("If-Modified-Since", modified)


def stored_content(archive: Archive, url: str) -> tuple[Headers, bytes] | None:
    """Give headers and body of the latest content of a URL, which a 304 stands for; None without any.

    The links of a page that did not change are found there.
    """
    capture = archive.fetched(url)
    return (capture.headers, archive.body(capture)) if capture else None
