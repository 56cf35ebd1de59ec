"""The links of an archived page, as a spider that fetches the page finds them."""

from __future__ import annotations

from archivebot.crawl.reading.convert import read, stored_response
from archivebot.models import Link, Outcome, Page


def links_of(page: Page, skip_nofollow: bool = True) -> tuple[Link, ...]:
    """Return the links of a page whose body is decoded; none if it is not HTML, or not a page."""
    if page.outcome is not Outcome.FETCHED and page.status != 300:
        return ()
    response = stored_response(page.url, page.headers, page.body)
    return read(response, skip_nofollow=skip_nofollow).links
