"""The spider that looks for the query forms of sites, the doors to what no link leads to."""

from __future__ import annotations

from dataclasses import replace

from scrapy.http import HtmlResponse, Response

from archivebot.crawl.arguments import DeepWebArguments
from archivebot.crawl.spider import ArchiveSpider
from archivebot.forms.find import search_forms
from archivebot.hypertext import Hypertext
from archivebot.models import Outcome


class DeepWebSpider(ArchiveSpider):
    """Find the forms that search, keep them with the pages that they stand on, and submit none.

    ``scrapy crawl deepweb -a seeds=URL[,URL...] [-a topic=NAME_or_words] [-a links=rank|strict]
    [-a depth=3] [-a scope=host|domain|prefix|web] [-a pages=N] [-a bytes=SIZE] [-a time=SECONDS]``
    """

    name = "deepweb"
    arguments_class = DeepWebArguments
    context = True

    def _read(self, response: Response, outcome: Outcome) -> Hypertext:
        reading = super()._read(response, outcome)
        if outcome is not Outcome.FETCHED or not isinstance(response, HtmlResponse):
            return reading
        found = search_forms(response.body, response.encoding, response.url)
        return replace(reading, forms=tuple(record.found() for record in found))
