"""The stage that stores the forms of a page in the archive."""

from __future__ import annotations

from dataclasses import replace

from scrapy.crawler import Crawler
from scrapy.exceptions import NotConfigured

from archivebot.crawl.extensions.sitebudget import SiteBudget
from archivebot.crawl.process.calls import keep_forms
from archivebot.crawl.process.session import ArchiveSession
from archivebot.models import Page, Snapshot


class FormPipeline:
    """Stores forms before their page, so that a killed process never loses forms of a stored page.

    Storing a form again changes nothing. The number of forms is reported to the budget of the site.
    """

    def __init__(self, crawler: Crawler, session: ArchiveSession, budget: SiteBudget) -> None:
        self.stats, self.session, self.budget = crawler.stats, session, budget

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FormPipeline:
        budget = crawler.get_extension(SiteBudget)
        if budget is None:
            raise NotConfigured
        return cls(crawler, ArchiveSession.of(crawler), budget)

    async def process_item(self, item: object) -> object:
        """Return the item unchanged. Raises StorageError."""
        page = item.page if isinstance(item, Snapshot) else item
        if isinstance(page, Page) and page.forms:
            bare = replace(page, body=b"", headers=(), links=())  # not needed in the other process
            count = await self.session.run(keep_forms, bare, self.budget.since)
            self.budget.stored(page.url, count)
            self.stats.inc_value("archive/forms", len(page.forms))
        return item
