"""The links of an archived page, as a spider that fetches the page finds them."""

from __future__ import annotations

from archivebot.archive import ArchiveReader
from archivebot.crawl.reading.pages import read_page, shortened
from archivebot.markup.contenttype import content_type
from archivebot.models import Link, Outcome, Page


def links_of(archive: ArchiveReader, page: Page, skip_nofollow: bool = True) -> tuple[Link, ...]:
    """Return the links of a page whose body is decoded; none if it is not HTML, or not a page.

    The archive keeps the parsed page for its stages.
    """
    if page.outcome is not Outcome.FETCHED and page.status != 300:
        return ()
    reading = archive.readings.of(shortened(page.body), content_type(page.headers))
    return read_page(reading, page.url, skip_nofollow=skip_nofollow).links if reading.media.is_page else ()
