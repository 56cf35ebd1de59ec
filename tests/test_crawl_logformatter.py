"""The messages that Scrapy logs for each answer and each item."""

from __future__ import annotations

import pytest
from scrapy import Request, Spider
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from archivebot.crawl.logformatter import LogFormatter


@pytest.mark.parametrize(("level", "shown"), [("DEBUG", True), (10, True), ("INFO", False), (20, False)])
def test_messages_of_answers_and_items_are_made_only_for_the_level_that_shows_them(
    level: str | int, shown: bool
) -> None:
    formatter = LogFormatter.from_crawler(get_crawler(settings_dict={"LOG_LEVEL": level}))
    request, spider = Request("http://a.example/"), Spider("any")
    response = Response(request.url, request=request)
    assert (formatter.crawled(request, response, spider) is not None) is shown
    assert (formatter.scraped({}, response, spider) is not None) is shown
