"""The links of an archived page, as a spider that fetches the page finds them."""

from __future__ import annotations

from archivebot.archive import ArchiveReader
from archivebot.crawl.reading.pages import read_page, shortened
from archivebot.hypertext.links import are_kept
from archivebot.markup.contenttype import content_type
from archivebot.models import Link, Outcome, Page


def links_of(archive: ArchiveReader, page: Page, skip_nofollow: bool = True) -> tuple[Link, ...]:
    """Return the links of a page whose body is decoded; none if it is not HTML, or not a page.

    The archive keeps the parsed page for its stages, and its links for the next version.
    """
    if page.outcome is not Outcome.FETCHED and page.status != 300:
        return ()
    reading = archive.readings.of(shortened(page.body), content_type(page.headers))
    if not reading.media.is_page:
        return ()
    key, since = (page.url, skip_nofollow), reading.since
    if since and since.edits and are_kept(since.edits, since.body, reading.body):
        reading.links_found = reading.links_found or since.links_found
    if reading.links_found is None or reading.links_found[0] != key:
        reading.links_found = key, read_page(reading, page.url, skip_nofollow=skip_nofollow).links
    return reading.links_found[1]
