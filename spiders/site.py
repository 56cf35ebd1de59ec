"""The spider that archives whole sites from their seeds, breadth first."""

from __future__ import annotations

from archivebot.crawl.spider import ArchiveSpider


class SiteSpider(ArchiveSpider):
    """Follows the links of the seeds inside a scope and archives every page.

    ``scrapy crawl site -a seeds=URL[,URL...] [-a scope=host|domain|prefix|page] [-a depth=N]
    [-a pages=N] [-a level=N] [-a requisites=yes]``; ``seeds=@FILE`` reads one seed per line.
    """

    name = "site"
