"""The bytes that page requisites may take: of the whole crawl, and of each page."""

from __future__ import annotations

from collections import OrderedDict
from math import inf

from scrapy import Request
from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured
from scrapy.http import Response

from archivebot.config import RequisiteConfig
from archivebot.crawl.arguments import Arguments
from archivebot.crawl.refusals import Refused
from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.crawl.scheduling.entries import REQUISITE, SOURCE

# Pages whose bytes are remembered. Requisites come before the next pages, so few pages have any left.
REMEMBERED = 10_000

SPENT, SPENT_BY_PAGE = "budget_requisite_bytes", "budget_page_requisite_bytes"


class RequisitesMiddleware:
    """Refuses requisites whose budget of bytes is spent, and receives no more of a body than is left of it.

    The bodies are counted as decoded, in one run of one process. A refusal is recorded with the name of the
    budget; a body that exceeds what is left has the outcome ``too_large``.
    """

    def __init__(self, crawler: Crawler, most: int, of_page: int) -> None:
        self.crawler, self.most, self.of_page = crawler, most or inf, of_page or inf
        self._bytes = 0
        self._pages: OrderedDict[str, int] = OrderedDict()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RequisitesMiddleware:
        arguments = getattr(crawler.spider, "arguments", None)
        if not isinstance(arguments, Arguments) or not arguments.requisites:
            raise NotConfigured
        config = RequisiteConfig.from_settings(crawler.settings)
        return cls(crawler, config.requisites_crawl_bytes, config.requisites_page_bytes)

    def process_request(self, request: Request) -> None:
        if REQUISITE not in request.meta:
            return
        left = {
            SPENT: self.most - self._bytes,
            SPENT_BY_PAGE: self.of_page - self._pages.get(request.meta[SOURCE], 0),
        }
        for reason, room in left.items():
            if room <= 0:
                self.crawler.stats.inc_value(f"guard/{reason}")
                Dispatcher.of(self.crawler).turn_down(request, reason)
                raise Refused(reason)
        if (room := min(left.values())) < inf:
            most = request.meta.get("download_maxsize") or self.crawler.settings.getint("DOWNLOAD_MAXSIZE")
            request.meta["download_maxsize"] = int(min(room, most or inf))

    def process_response(self, request: Request, response: Response) -> Response:
        if REQUISITE in request.meta:
            page, size = request.meta[SOURCE], len(response.body)
            self._bytes += size
            self._pages[page] = self._pages.pop(page, 0) + size
            if len(self._pages) > REMEMBERED:
                self._pages.popitem(last=False)
        return response
