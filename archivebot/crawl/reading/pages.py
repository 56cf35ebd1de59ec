"""What a crawl reads of a page, in a process of the archive, where the stages find the page parsed."""

from __future__ import annotations

from dataclasses import replace

from archivebot.archive import PageReading
from archivebot.bounds import excess
from archivebot.forms.find import search_forms
from archivebot.hypertext import Hypertext
from archivebot.hypertext import read_page as read_hypertext

# Characters of a page that are judged. A million take 0.6 seconds, in which the crawl stands still, and a
# log may have 60; a quarter of one is a book of 40,000 words.
MOST_TEXT = 250_000

# Links of a page that are followed at a stretch; each takes 0.1 to 0.2 ms in which the crawl stands still.
STRETCH = 1000

# Bytes at the start of a page beyond the bounds that are read for its META tags and its first links.
BEGINNING = 256 * 1024


def shortened(body: bytes) -> bytes:
    """Return a page, or the beginning of a page that is beyond the bounds."""
    return body[:BEGINNING] if excess(body) else body


def read_page(
    reading: PageReading,
    url: str,
    *,
    skip_nofollow: bool = True,
    context: bool = False,
    forms: bool = False,
) -> Hypertext:
    """Return the links of a page, with ``context`` its title and main text as well, with ``forms`` its forms.

    What is no page says nothing.
    """
    if reading.content is None:
        return Hypertext()
    page = reading.content.page
    found = read_hypertext(page, url, skip_nofollow=skip_nofollow, context=context)
    if context:
        found = replace(found, text=found.text[:MOST_TEXT])
    if forms:
        records = search_forms(page.body, page.charset, url)
        found = replace(found, forms=tuple(record.found() for record in records))
    return found
