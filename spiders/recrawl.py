"""The spider that visits again the archived pages that are due, and finds the new pages of their sites."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from math import inf
from typing import Any

from scrapy import Request
from scrapy.http import Response
from scrapy.settings import BaseSettings

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.crawl.arguments import RecrawlArguments
from archivebot.crawl.reading.convert import media_of_response
from archivebot.crawl.scheduling.entries import SITEMAPS
from archivebot.crawl.spider import ArchiveSpider
from archivebot.exceptions import CorruptObject
from archivebot.frontier import chosen_uri
from archivebot.hypertext import Hypertext, resolve
from archivebot.hypertext.entries import entries
from archivebot.jobs.frontier import forget_crawls
from archivebot.jobs.instance import only_instance
from archivebot.jobs.schedule import Round, next_round
from archivebot.models import Link, Page, SeenLinks
from archivebot.schedule.policy import Policy
from archivebot.urls import Scope

logger = logging.getLogger(__name__)

SITEMAP = "/sitemap.xml"  # where a site has its sitemap if its robots.txt names none


def _warn(url: str, error: CorruptObject) -> None:
    logger.warning("%s is left out: %s", url, error)


class RecrawlSpider(ArchiveSpider):
    """Visits the pages that ``scrapy schedule --due`` lists, the most overdue first.

    ``scrapy crawl recrawl [-a budget=N/day] [-a policy=changes|freshness|proportional|adaptive|fixed]
    [-a discover=yes] [-a pages=N] [-a bytes=SIZE] [-a time=SECONDS] [-a level=N] [-a requisites=yes]``

    With ``discover=yes`` also the pages of the same hosts that are not in the archive: those that sitemaps,
    feeds and the visited pages name. Other links are recorded, but not followed.
    """

    name = "recrawl"
    arguments: RecrawlArguments
    arguments_class = RecrawlArguments

    def __init__(self, **given: str) -> None:
        super().__init__(**given)
        self._alone = ExitStack()
        self._known: frozenset[str] = frozenset()
        self._room: float = inf  # how many more new pages are within the limit

    def introduce(self, settings: BaseSettings) -> None:
        given, config = self.arguments, ArchiveConfig.from_settings(settings)
        with ExitStack() as alone:
            if not settings["REDIS_URL"]:  # several processes share such a crawl
                alone.enter_context(only_instance(config.uri))
                # Whatever these crawls left is due now, or not any more.
                forget_crawls(chosen_uri(settings), self.name)
            with Archive.open(config, create=False) as archive:
                found = next_round(archive, given.budget, Policy(given.policy), given.collection, _warn)
                self.arguments = replace(given, archive=archive.position().archive)
            self._choose(found)
            super().introduce(settings)
            self._alone = alone.pop_all()

    def _choose(self, found: Round) -> None:
        """Set the seeds and the scope: what is due comes first, and only what is left of the limit is new."""
        given, seeds = self.arguments, found.due
        self._known, self.named = found.known, found.private
        if given.discover:
            sitemaps = dict.fromkeys(filter(None, (resolve(SITEMAP, url) for url in found.due)))
            seeds = [*found.due, *found.new, *(url for url in sitemaps if url not in found.known)]
        if not seeds:
            self.idle = "no page is due: scrapy schedule shows when the next page is"
            logger.info("No page is due")
        seeds = seeds[: given.pages]
        if given.pages is not None:
            self._room = given.pages - len(seeds)
        self.arguments = replace(given, seeds=tuple(seeds))
        if given.discover:
            self.arguments = replace(self.arguments, scope="host", depth=None)
            for url in seeds:
                self.seen.add(url)
        self.scope = Scope.from_seeds(self.arguments.seeds, self.arguments.scope)

    def closed(self, reason: str) -> None:
        """Let other programs visit the pages; Scrapy calls it at the end."""
        self._alone.close()

    def is_news(self, link: Link, depth: int = 0) -> bool:
        """Return whether a link leads to a page that was never visited, and there is room for it.

        The depth does not count: there is no limit of it, and each page takes room once.
        """
        if link.url in self._known or not super().is_news(link):
            return False
        if self.scope.refusal(link.url):
            return True  # the guard records the reason
        self._room -= 1
        return self._room >= 0

    def settle(
        self,
        response: Response,
        request: Request,
        page: Page,
        reading: Hypertext,
        seen: SeenLinks | None = None,
    ) -> Iterator[Any]:
        """Yield the sitemaps that robots.txt names, the links of an answer, and then its page."""
        if self.arguments.discover:
            named = [url for name in response.meta.get(SITEMAPS, ()) if (url := resolve(name, request.url))]
            yield from self._followed([Link(url) for url in named], request)
        yield from super().settle(response, request, page, reading, seen)

    def read_links(self, response: Response) -> Hypertext:
        """Return what is read from an answer; the links of a sitemap or feed are the pages that it names."""
        reading = super().read_links(response)
        if not self.arguments.discover or media_of_response(response).is_page:
            return reading
        listed = entries(response.body, response.url)
        return replace(reading, links=tuple(Link(entry.url) for entry in listed))
