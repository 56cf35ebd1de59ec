"""The stage that marks pages that repeat another archived page, and postpones their links."""

from __future__ import annotations

from scrapy.crawler import Crawler

from archivebot.archive import Archive
from archivebot.config import CrawlConfig
from archivebot.crawl.process.session import ArchiveSession
from archivebot.crawl.process.stages import staged
from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.crawl.spider import ArchiveSpider
from archivebot.exceptions import StorageError
from archivebot.frontier import State
from archivebot.models import Page, Snapshot


class NearDuplicatePipeline:
    """Computes the fingerprints of pages, marks near-duplicates, and postpones their links.

    Without this stage pages have neither fingerprint nor mark. Nothing is dropped. ``penalty`` is subtracted
    from the scores of queued links found only on near-duplicates; if another page has the same link, its
    score is restored. A near-duplicate of a page stored in the meantime is marked when it is stored, and its
    links are not postponed.
    """

    def __init__(self, crawler: Crawler, penalty: float) -> None:
        assert isinstance(crawler.spider, ArchiveSpider)
        self.stats, self.spider, self.penalty = crawler.stats, crawler.spider, penalty
        self.dispatcher, self.session = Dispatcher.of(crawler), ArchiveSession.of(crawler)
        self.session.stages.append(Archive.mark)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> NearDuplicatePipeline:
        return cls(crawler, CrawlConfig.from_settings(crawler.settings).duplicate_penalty)

    async def process_item(self, item: object) -> object:
        """Return a page with fingerprint and mark; other items pass unchanged. Raises StorageError."""
        if not isinstance(item, Page | Snapshot):
            return item
        snapshot = await staged(self.session, item)
        if snapshot.duplicate:
            self.stats.inc_value("archive/near_duplicates")
            self.dispatcher.repeated(snapshot.page.url)
            self._put_off(snapshot.page)
        return snapshot

    def _put_off(self, page: Page) -> None:
        """Lower the scores of a page's links in the frontier; skipped if the frontier is unavailable."""
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
