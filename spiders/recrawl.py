"""The spider that visits again the archived pages that are due."""

from __future__ import annotations

import logging
from dataclasses import replace

from scrapy.settings import BaseSettings

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.crawl.arguments import RecrawlArguments
from archivebot.crawl.spider import ArchiveSpider
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

    def introduce(self, settings: BaseSettings) -> None:
        given = self.arguments
        with Archive.open(ArchiveConfig.from_settings(settings), create=False) as archive:
            seeds = due_pages(archive, given.budget, Policy(given.policy))[: given.pages]
        if not seeds:
            logger.warning("No page is due: scrapy schedule shows when the next page is")
        self.arguments = replace(given, seeds=tuple(seeds))
        self.scope = Scope.from_seeds(self.arguments.seeds, given.scope)
        super().introduce(settings)
