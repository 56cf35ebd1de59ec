"""The stage that makes sure of the links of a page before the page itself."""

from __future__ import annotations

from scrapy.crawler import Crawler

from archivebot.crawl.scheduling.dispatcher import Dispatcher
from archivebot.models import Page


class FrontierPipeline:
    """Let a page pass when the links found on it are in the frontier.

    A page that is in the archive then never has links that a killed process lost.
    """

    def __init__(self, dispatcher: Dispatcher) -> None:
        self.dispatcher = dispatcher

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> FrontierPipeline:
        return cls(Dispatcher.of(crawler))

    async def process_item(self, item: object) -> object:
        """Return the item as it is."""
        if isinstance(item, Page):
            await self.dispatcher.safe(item.url)
        return item
