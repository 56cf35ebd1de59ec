"""The links of a page that was not fetched just now, as a spider that fetches it finds them."""

from __future__ import annotations

from scrapy.http import HtmlResponse

from archivebot.crawl.reading.convert import beginning, stored_response
from archivebot.crawl.reading.pages import is_small, read_page
from archivebot.models import Link, Outcome, Page


def links_of(page: Page, skip_nofollow: bool = True) -> tuple[Link, ...]:
    """Return the links of a page that has its body decoded; none of what is no HTML, or no page."""
    if page.outcome is not Outcome.FETCHED and page.status != 300:
        return ()
    response = stored_response(page.url, page.headers, page.body)
    if not isinstance(response, HtmlResponse):
        return ()
    encoding = response.encoding if is_small(page.body) else beginning(response).encoding
    return read_page(page.body, encoding, page.url, skip_nofollow=skip_nofollow).links
