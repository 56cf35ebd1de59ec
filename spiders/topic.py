"""The spider that looks for the pages of a topic, the most promising links first."""

from __future__ import annotations

from archivebot.crawl.arguments import TopicArguments
from archivebot.crawl.spider import ArchiveSpider
from archivebot.models import Link


class TopicSpider(ArchiveSpider):
    """Follow the links of the seeds that promise most for a topic and archive what they lead to.

    ``scrapy crawl topic -a topic=NAME_or_words -a seeds=URL[,URL...] [-a focus=soft|hard]
    [-a tunnel=N] [-a order=best|bfs|pagerank|ipagerank] [-a scope=web|host|domain|prefix|page]
    [-a depth=N] [-a pages=N] [-a bytes=SIZE] [-a time=SECONDS] [-a level=N]``
    """

    name = "topic"
    arguments_class = TopicArguments
    context = True

    def evidence(self, link: Link) -> str:
        """The same link under another anchor tells something new of its target."""
        return f"{link.url} {link.anchor}"
