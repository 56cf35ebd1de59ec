"""Reads a page for a crawl, in a process of the archive, which keeps the parsed page for the stages."""

from __future__ import annotations

from dataclasses import replace

from archivebot.archive import PageReading
from archivebot.bounds import excess
from archivebot.documents.document import document_text
from archivebot.forms.find import search_forms
from archivebot.hypertext import Hypertext
from archivebot.hypertext import read_page as read_hypertext
from archivebot.replay.requisites import body_requisites, has_requisites, page_requisites

# Maximum of characters of a page that are judged. A million take 0.6 seconds, in which the crawl stands
# still, and a log file may have 60 million; a quarter of a million is a book of 40,000 words.
MOST_TEXT = 250_000
MOST_BYTES = 4 * MOST_TEXT  # no character of any charset is longer

# Links of a page that are followed without a pause; each takes 0.1 to 0.2 ms in which the crawl stands still.
STRETCH = 1000

# If a page exceeds the bounds, this many bytes are read for its META tags and its first links.
BEGINNING = 256 * 1024


def shortened(body: bytes) -> bytes:
    """Return a page, or the beginning of a page that exceeds the bounds."""
    return body[:BEGINNING] if excess(body) else body


def read_any(reading: PageReading, url: str, *, context: bool = False, **asked: bool) -> Hypertext:
    """Read a body as :func:`read_page` does; of a text or a document the beginning, if context is wanted."""
    media = reading.media
    if context and media.is_document:
        title, text = document_text(reading.body, media.type)
        return Hypertext(title=title, text=text[:MOST_TEXT])
    if context and media.is_prose and not media.is_page:
        text = reading.body[:MOST_BYTES].decode(media.charset, "replace")
        return Hypertext(text=text.removeprefix("\ufeff")[:MOST_TEXT])
    return read_page(reading, url, context=context, **asked)


def read_page(
    reading: PageReading,
    url: str,
    *,
    skip_nofollow: bool = True,
    context: bool = False,
    forms: bool = False,
    dated: bool = False,
    requisites: bool = False,
) -> Hypertext:
    """Return the links of a page; with ``context`` also title and topic text, with ``forms`` also its forms,
    with ``dated`` also the day of its publication, with ``requisites`` also what it loads.

    If the body is not a page, the result is empty, except for the requisites of a style sheet or a drawing.
    """
    if requisites and has_requisites(reading.media):
        return Hypertext(requisites=body_requisites(reading.body, reading.media, url))
    if reading.content is None or not reading.media.is_page:
        return Hypertext()
    page = reading.content.page
    found = read_hypertext(page, url, skip_nofollow=skip_nofollow, context=context)
    if context:
        found = replace(found, text=found.text[:MOST_TEXT])
    if forms:
        records = search_forms(page.body, page.charset, url)
        found = replace(found, forms=tuple(record.found() for record in records))
    if dated:
        found = replace(found, published=reading.content.published)
    if requisites:
        found = replace(found, requisites=page_requisites(page.document, url, page.charset))
    return found
