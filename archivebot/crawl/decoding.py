"""The content codings of answers undone, wholly or not at all."""

from __future__ import annotations

import asyncio

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured, ResponseDataLossError
from scrapy.http import Response, TextResponse
from scrapy.responsetypes import responsetypes

from archivebot.codings import KNOWN, CodingError, Oversized, decode
from archivebot.crawl.convert import flagged
from archivebot.crawl.intake import LARGE, Intake, most_bytes
from archivebot.models import Outcome

ACCEPTED = "gzip, deflate, br, zstd"


class DecodingMiddleware:
    """Undo gzip, deflate, br and zstd in place of Scrapy's HttpCompressionMiddleware, which is lenient.

    Half a body must not pass for a page. A body that ends early, is damaged or has another coding than
    it declares is kept as it came, with its Content-Encoding; its outcome is ``incomplete``. A body that
    decodes to more than DOWNLOAD_MAXSIZE is ``too_large`` and keeps its status and headers. A coding
    that nobody asked for is left as it is.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.limit = most_bytes(crawler)
        self.intake = Intake.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DecodingMiddleware:
        if not crawler.settings.getbool("COMPRESSION_ENABLED"):
            raise NotConfigured("COMPRESSION_ENABLED is off")
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        request.headers.setdefault("Accept-Encoding", ACCEPTED)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Return the answer with its codings undone. Raises ResponseDataLossError for a robots.txt."""
        left, codings = _codings(response)
        if not codings or not response.body or "dataloss" in response.flags:
            return response
        try:
            body = await self._decode(response.body, codings)
        except Oversized as error:
            return flagged(response.replace(body=b""), Outcome.TOO_LARGE, str(error))
        except CodingError as error:
            if request.meta.get("archive_robots"):  # rules that cannot be read forbid everything
                raise ResponseDataLossError(str(error)) from error
            return flagged(response, Outcome.INCOMPLETE, str(error))
        headers = response.headers.copy()
        del headers["Content-Encoding"]
        if left:
            headers["Content-Encoding"] = ", ".join(left)
        kind = responsetypes.from_args(headers=headers, url=response.url, body=body)
        encoding = {"encoding": None} if issubclass(kind, TextResponse) else {}
        return response.replace(cls=kind, headers=headers, body=body, **encoding)

    async def _decode(self, body: bytes, codings: list[str]) -> bytes:
        """Decode a small body at once, a large one beside the event loop and when there is room for it."""
        try:
            return decode(body, codings, min(LARGE, self.limit))
        except Oversized:
            if self.limit <= LARGE:
                raise
        async with self.intake.room(self.limit):
            return await asyncio.to_thread(decode, body, codings, self.limit)


def _codings(response: Response) -> tuple[list[str], list[str]]:
    """Split the codings of an answer into those that stay and those that can be undone."""
    values = b",".join(response.headers.getlist("Content-Encoding")).decode("latin-1").lower()
    left, known = [name.strip() for name in values.split(",")] if values else [], list[str]()
    while left and left[-1] in KNOWN:
        known.insert(0, left.pop())
    return left, known
