"""Decodes the content codings of answers, completely or not at all."""

from __future__ import annotations

import asyncio

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response, TextResponse
from scrapy.responsetypes import responsetypes

from archivebot.crawl.intake import LARGE, Intake, most_bytes
from archivebot.crawl.reading.convert import flagged
from archivebot.http.codings import CodingError, Oversized, decode, parted
from archivebot.models import Outcome

ACCEPTED = "gzip, deflate, br, zstd"


class DecodingMiddleware:
    """Decodes gzip, deflate, br and zstd in place of Scrapy's HttpCompressionMiddleware, which is lenient.

    Half a body must not be taken for a page. A body that ends early, is damaged or has another coding than it
    declares is kept as received, with its Content-Encoding; its outcome is ``incomplete``. A body that
    decodes to more than DOWNLOAD_MAXSIZE is ``too_large`` and keeps its status and headers. A coding that was
    not requested is left as it is.
    """

    def __init__(self, crawler: Crawler) -> None:
        self.limit = most_bytes(crawler)
        self.room = Intake.of(crawler).decoded

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DecodingMiddleware:
        if not crawler.settings.getbool("COMPRESSION_ENABLED"):
            raise NotConfigured("COMPRESSION_ENABLED is off")
        return cls(crawler)

    def process_request(self, request: Request) -> None:
        request.headers.setdefault("Accept-Encoding", ACCEPTED)

    async def process_response(self, request: Request, response: Response) -> Response:
        """Return the decoded answer, or the answer as received with its fault."""
        left, codings = _codings(response)
        if not codings or not response.body or "dataloss" in response.flags:
            return response
        limit = min(self.limit, request.meta.get("download_maxsize", self.limit))
        try:
            if (body := _small(response.body, codings, limit)) is None:
                async with self.room.waited_for(limit):
                    body = await asyncio.to_thread(decode, response.body, codings, limit)
                    return self.room.keep(_decoded(response, body, left))
            return _decoded(response, body, left)
        except Oversized as error:
            return flagged(response.replace(body=b""), Outcome.TOO_LARGE, str(error))
        except CodingError as error:
            return self.room.keep(flagged(response, Outcome.INCOMPLETE, str(error)))


def _small(body: bytes, codings: list[str], limit: int) -> bytes | None:
    """Return a small body decoded; None for a large one, which is decoded in a thread."""
    try:
        return decode(body, codings, min(LARGE, limit))
    except Oversized:
        if limit <= LARGE:
            raise
        return None


def _decoded(response: Response, body: bytes, left: list[str]) -> Response:
    """Return an answer with its decoded body and the remaining codings."""
    headers = response.headers.copy()
    del headers["Content-Encoding"]
    if left:
        headers["Content-Encoding"] = ", ".join(left)
    kind = responsetypes.from_args(headers=headers, url=response.url, body=body)
    encoding = {"encoding": None} if issubclass(kind, TextResponse) else {}
    return response.replace(cls=kind, headers=headers, body=body, **encoding)


def _codings(response: Response) -> tuple[list[str], list[str]]:
    """Split the codings of an answer into those that stay and those that can be decoded."""
    return parted(b",".join(response.headers.getlist("Content-Encoding")).decode("latin-1"))
