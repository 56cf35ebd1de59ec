"""The stage that stores the links of a page before the page itself."""

from __future__ import annotations

from scrapy.crawler import Crawler

from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.models import Page


class FrontierPipeline:
    """Lets a page pass only after its links are in the frontier.

    So a killed process never loses the links of an archived page.
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FrontierPipeline:
        return cls(Dispatcher.of(crawler))

    async def process_item(self, item: object) -> object:
        """Return the item unchanged."""
        if isinstance(item, Page):
            await self.dispatcher.safe(item.url)
        return item
