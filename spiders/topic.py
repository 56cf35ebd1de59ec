"""The spider that searches for the pages of a topic, the most promising links first."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from scrapy import Request
from scrapy.http import Response

from archivebot.crawl.arguments import TopicArguments
from archivebot.crawl.scheduling.entries import DISTANCE, ORDER, SCORE
from archivebot.crawl.spider import ArchiveSpider
from archivebot.frontier import SeenCache
from archivebot.models import Focus, Link


class TopicSpider(ArchiveSpider):
    """Follows the most promising links for a topic and archives their pages.

    ``scrapy crawl topic -a topic=NAME_or_words -a seeds=URL[,URL...] [-a focus=soft|hard]
    [-a tunnel=N] [-a threshold=CHANCE] [-a order=best|linear|bfs|pagerank|ipagerank]
    [-a scope=web|host|domain|prefix|page] [-a depth=N] [-a pages=N] [-a bytes=SIZE] [-a time=SECONDS]
    [-a level=N] [-a requisites=yes]``
    """

    name = "topic"
    arguments: TopicArguments
    arguments_class = TopicArguments
    context = True

    def __init__(self, **given: str) -> None:
        super().__init__(**given)
        self.fetched = SeenCache()

    def parse(self, response: Response) -> Iterator[Any] | AsyncIterator[Any]:
        self.fetched.add(response.url)
        return super().parse(response)

    def is_news(self, link: Link, depth: int = 0) -> bool:
        """Return whether a link leads to a page not requested yet; the order scores the others.

        If tunnels are limited, a known URL with another anchor counts as new: it may be nearer to the topic.
        """
        return link.url not in self.fetched and self.seen.add(self._name(link), depth)

    def forget(self, link: Link) -> None:
        self.seen.discard(self._name(link))

    def _name(self, link: Link) -> str:
        ends = self.arguments.focus == "hard" or self.arguments.tunnel is not None
        return f"{link.url} {link.anchor}" if ends else link.url

    def focus(self, request: Request) -> Focus:
        """Return the score of the link to a page without an answer."""
        meta = request.meta
        return Focus(None, None, meta.get(SCORE, 0.0), meta.get(DISTANCE, 0), meta.get(ORDER, 0))
