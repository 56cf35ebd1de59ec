"""The spider that looks for the query forms of sites, the doors to what no link leads to."""

from __future__ import annotations

from archivebot.crawl.arguments import DeepWebArguments
from archivebot.crawl.spider import ArchiveSpider


class DeepWebSpider(ArchiveSpider):
    """Find the forms that search, keep them with the pages that they stand on, and submit none.

    ``scrapy crawl deepweb -a seeds=URL[,URL...] [-a topic=NAME_or_words] [-a links=rank|strict]
    [-a depth=3] [-a scope=host|domain|prefix|web] [-a pages=N] [-a bytes=SIZE] [-a time=SECONDS]``
    """

    name = "deepweb"
    arguments_class = DeepWebArguments
    context = True
    forms = True
