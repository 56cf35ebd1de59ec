"""Writes the answers of a crawl into WARC files as they came, before they are decoded."""

from __future__ import annotations

import asyncio
import logging
import secrets
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from scrapy import Request, signals
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from archivebot.config import CrawlConfig
from archivebot.crawl.compat.engine import is_closing
from archivebot.crawl.exchange import WIRE
from archivebot.crawl.middlewares.access import APART
from archivebot.crawl.scheduling.entries import key_of
from archivebot.exceptions import StorageError
from archivebot.export.files import Folder, WarcFiles
from archivebot.export.record import request as request_record
from archivebot.export.record import response as response_record
from archivebot.http import outcome_of
from archivebot.kinds import Kind
from archivebot.models import Capture
from archivebot.urls import urlkey
from archivebot.wire import Wire

logger = logging.getLogger(__name__)


class RawWarcMiddleware:
    """Writes each answer with its request to WARC files in the folder of ARCHIVE_WARC.

    A record has the head byte for byte and the body with its content codings, and only the transfer coding is
    undone. Every answer of a server is written, also those of robots.txt, redirects and later tries. A file
    has a temporary name until it is complete. The crawl ends if a file cannot be written.
    """

    def __init__(self, crawler: Crawler, folder: Path) -> None:
        self._crawler = crawler
        settings = crawler.settings
        texts = (
            ("software", str(settings.get("USER_AGENT"))),
            ("format", "WARC File Format 1.1"),
            ("operator", CrawlConfig.from_settings(settings).contact),
            ("robots", "obey" if settings.getbool("ROBOTSTXT_OBEY") else "ignore"),
        )
        name = f"crawl-{secrets.token_hex(4)}"  # several processes of a crawl may write to one folder
        self._files = WarcFiles(
            Folder(folder), datetime.now(UTC), [each for each in texts if each[1]], name=name
        )
        # One thread: records are compressed beside the event loop, and written one after another.
        self._thread = ThreadPoolExecutor(1, "rawwarc")

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RawWarcMiddleware:
        folder = CrawlConfig.from_settings(crawler.settings).warc
        if not folder:
            raise NotConfigured  # with a reason Scrapy would warn of it in each crawl
        middleware = cls(crawler, Path(folder))
        crawler.signals.connect(middleware.spider_closed, signals.spider_closed)
        return middleware

    async def process_response(self, request: Request, response: Response) -> Response:
        """Write an answer that came over the wire; an answer out of a cache is not written again."""
        wire: Wire | None = request.meta.get(WIRE)
        if wire is not None and wire.head and APART not in request.meta:
            answer = _answer(key_of(request), response, wire)
            try:
                await asyncio.get_running_loop().run_in_executor(
                    self._thread, self._write, answer, response.body
                )
            except StorageError as error:
                self._failed(error)
        return response

    def _write(self, answer: Capture, body: bytes) -> None:
        written = response_record(answer, body)
        asked = request_record(answer, dict(written.fields)["WARC-Record-ID"])
        self._files.write([written, *([asked] if asked else [])])

    def _failed(self, error: StorageError) -> None:
        if not is_closing(self._crawler.engine):
            logger.error("%s", error)
            close = self._crawler.engine.close_spider_async(reason="storage_error")
            asyncio.ensure_future(close)  # noqa: RUF006 (engine waits)

    def spider_closed(self) -> None:
        """Complete the last file."""
        self._thread.shutdown()
        try:
            self._files.finish()
        except StorageError as error:
            logger.error("%s", error)


def _answer(url: str, response: Response, wire: Wire) -> Capture:
    """Return an answer as a capture of the bytes that came."""
    body = response.body
    return Capture(
        url=url,
        urlkey=urlkey(url),
        captured_at=wire.started or datetime.now(UTC),
        outcome=outcome_of(response.status, body),
        kind=Kind.NEW,
        status=response.status,
        number=None,
        digest=f"sha256:{sha256(body).hexdigest()}" if body else None,
        size=len(body),
        stored_bytes=0,
        level=None,
        block_count=0,
        new_blocks=0,
        links=0,
        headers=wire.headers,
        wire=wire,
    )
