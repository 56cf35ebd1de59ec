"""The stage that puts off what pages lead to that repeat another one of the archive."""

from __future__ import annotations

from scrapy.crawler import Crawler

from archivebot.config import CrawlConfig
from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.crawl.spider import ArchiveSpider
from archivebot.exceptions import StorageError
from archivebot.frontier import State
from archivebot.models import Page, Snapshot


class NearDuplicatePipeline:
    """Count the pages that are marked as near-duplicates, and put off the links that they gave.

    Nothing is dropped. ``penalty`` is taken from the scores of the links that wait because of this page
    and of no better one; a page that is none, and has one of them as well, brings it back to its place.
    """

    def __init__(self, crawler: Crawler, penalty: float) -> None:
        assert isinstance(crawler.spider, ArchiveSpider)
        self.stats, self.spider, self.penalty = crawler.stats, crawler.spider, penalty
        self.dispatcher = Dispatcher.of(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NearDuplicatePipeline:
        return cls(crawler, CrawlConfig.from_settings(crawler.settings).duplicate_penalty)

    def process_item(self, item: object) -> object:
        """Return the item as it is."""
        if isinstance(item, Snapshot) and item.duplicate:
            self.stats.inc_value("archive/near_duplicates")
            self.dispatcher.repeated(item.page.url)
            self._put_off(item.page)
        return item

    def _put_off(self, page: Page) -> None:
        """Lower the links of a page in the frontier; one that is away goes without."""
        scores = {}
        try:
            for link in page.links if self.penalty else ():
                known = self.dispatcher.frontier.get(link.url)
                if known and known.state is State.QUEUED and known.entry.source == page.url:
                    scores[link.url] = known.entry.score - self.penalty
                    self.spider.forget(link)
        except StorageError:
            return
        if scores:
            self.dispatcher.reprioritise(scores)
