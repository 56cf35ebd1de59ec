"""The spider that visits again the archived pages that are due."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from dataclasses import replace

from scrapy.settings import BaseSettings

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.crawl.arguments import RecrawlArguments
from archivebot.crawl.spider import ArchiveSpider
from archivebot.frontier import chosen_uri
from archivebot.jobs.frontier import forget_crawls
from archivebot.jobs.instance import only_instance
from archivebot.jobs.schedule import due_pages
from archivebot.schedule.policy import Policy
from archivebot.urls import Scope

logger = logging.getLogger(__name__)


class RecrawlSpider(ArchiveSpider):
    """Visits the pages that ``scrapy schedule --due`` lists, the most overdue first; follows no links.

    ``scrapy crawl recrawl [-a budget=N/day] [-a policy=changes|freshness|proportional|adaptive|fixed]
    [-a pages=N] [-a bytes=SIZE] [-a time=SECONDS] [-a level=N] [-a requisites=yes]``
    """

    name = "recrawl"
    arguments: RecrawlArguments
    arguments_class = RecrawlArguments

    def __init__(self, **given: str) -> None:
        super().__init__(**given)
        self._alone = ExitStack()

    def introduce(self, settings: BaseSettings) -> None:
        given, config = self.arguments, ArchiveConfig.from_settings(settings)
        if not settings["REDIS_URL"]:  # several processes share such a crawl
            self._alone.enter_context(only_instance(config.uri))
            forget_crawls(chosen_uri(settings), self.name)  # whatever they left is due now, or not any more
        with Archive.open(config, create=False) as archive:
            seeds = due_pages(archive, given.budget, Policy(given.policy))[: given.pages]
        if not seeds:
            logger.warning("No page is due: scrapy schedule shows when the next page is")
        self.arguments = replace(given, seeds=tuple(seeds))
        self.scope = Scope.from_seeds(self.arguments.seeds, given.scope)
        super().introduce(settings)

    def closed(self, reason: str) -> None:
        """Let other programs visit the pages; Scrapy calls it at the end."""
        self._alone.close()
