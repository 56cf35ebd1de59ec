"""The spider that searches for the query forms of sites, the entrances to the Deep Web."""

from __future__ import annotations

from archivebot.crawl.arguments import DeepWebArguments
from archivebot.crawl.spider import ArchiveSpider


class DeepWebSpider(ArchiveSpider):
    """Finds search forms, stores them with their pages, and submits none of them.

    ``scrapy crawl deepweb -a seeds=URL[,URL...] [-a topic=NAME_or_words] [-a links=rank|strict]
    [-a depth=3] [-a scope=host|domain|prefix|web] [-a pages=N] [-a bytes=SIZE] [-a time=SECONDS]
    [-a requisites=yes]``
    """

    name = "deepweb"
    arguments_class = DeepWebArguments
    context = True
    forms = True
