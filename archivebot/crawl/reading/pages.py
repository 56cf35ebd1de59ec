"""What a crawl reads of a page: here if it is small, in a process of the archive if it is large."""

from __future__ import annotations

from dataclasses import replace

from archivebot.archive import Archive
from archivebot.bounds import excess
from archivebot.forms.find import search_forms
from archivebot.hypertext import Hypertext
from archivebot.hypertext import read as read_html

# Characters of a page that are judged. A million take 0.6 seconds, in which the crawl stands still, and a
# log may have 60; a quarter of one is a book of 40,000 words.
MOST_TEXT = 250_000

# Pages up to this size are read in the event loop: 20,000 tags take a tenth of a second of CPU with all
# that stands around the links. Of 142,000 pages 1 % are larger.
SMALL_BYTES = 512 * 1024
SMALL_TAGS = 20_000

# Links of a page that are followed at a stretch; each takes 0.1 to 0.2 ms in which the crawl stands still.
STRETCH = 1000

# Bytes at the start of a page beyond the bounds that are read for its META tags and its first links.
BEGINNING = 256 * 1024


def is_small(body: bytes) -> bool:
    """Return whether a page is read faster than it is sent to another process."""
    return len(body) <= SMALL_BYTES and body.count(b"<") <= SMALL_TAGS


def shortened(body: bytes) -> bytes:
    """Return a page, or the beginning of a page that is beyond the bounds."""
    return body[:BEGINNING] if excess(body) else body


def read_page(
    body: bytes,
    encoding: str,
    url: str,
    *,
    skip_nofollow: bool = True,
    context: bool = False,
    forms: bool = False,
) -> Hypertext:
    """Read an HTML page as :func:`archivebot.hypertext.read` does, with ``forms`` its forms, too.

    Of a page beyond the bounds the beginning is read.
    """
    body = shortened(body)
    found = read_html(body, encoding, url, skip_nofollow=skip_nofollow, context=context)
    found = replace(found, text=found.text[:MOST_TEXT])
    if not forms:
        return found
    return replace(found, forms=tuple(record.found() for record in search_forms(body, encoding, url)))


def read_large(archive: Archive, /, body: bytes, encoding: str, url: str, **asked: bool) -> Hypertext:
    """Read an HTML page in a process of the archive."""
    return read_page(body, encoding, url, **asked)
