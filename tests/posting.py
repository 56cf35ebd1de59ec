"""A spider that tests run by name: it asks its seed once plainly, and twice with a body."""

from __future__ import annotations

from collections.abc import AsyncIterator

from scrapy import Request

from archivebot.crawl.spider import ArchiveSpider


class PostingSpider(ArchiveSpider):
    """Ask each seed by GET, and by POST for two words."""

    name = "posting"

    async def start(self) -> AsyncIterator[Request]:
        async for request in super().start():
            yield request
            for word in ("ships", "timber"):
                form = {"Content-Type": "application/x-www-form-urlencoded"}
                yield request.replace(method="POST", body=f"q={word}", headers=form)
