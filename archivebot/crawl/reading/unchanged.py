"""The links of a page that its server has not changed, from the archive."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from archivebot.archive import Archive
from archivebot.crawl.reading.pages import read_any, shortened
from archivebot.hypertext import Hypertext
from archivebot.markup.contenttype import content_type
from archivebot.markup.media import Media, media_of
from archivebot.models import Capture, Link, Outcome, SeenLinks

# What may have hidden a link from an earlier crawl with other settings.
_NOFOLLOW = re.compile(rb"nofollow", re.IGNORECASE)
# A META tag, and the words, also with character references, by which it may forbid to store a page or to
# follow its links. The possessive quantifier reads each byte once, however often a page begins such a tag.
_META = re.compile(rb"<meta\b(?:[^>=]|=\s*\"[^\"]*\"|=\s*'[^']*'|=)*+", re.IGNORECASE)
_WORDS = re.compile(rb"none|noindex|noarchive|&#", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Unchanged:
    """What the archive knows of an unchanged page: its media kind, and its reading.

    ``seen`` is set if the links of the reading are those that the archive saw last; they have only their
    targets.
    """

    media: Media
    reading: Hypertext
    seen: SeenLinks | None = None


# What is known of a page that the archive does not hold.
NOTHING = Unchanged(media_of(b"", ""), Hypertext())


def read_unchanged(archive: Archive, url: str, base: str, asked: Mapping[str, bool]) -> Unchanged | None:
    """Return what the archive knows of a page; None if it cannot read the body.

    The body is parsed only if more than links is asked for, or if its links may depend on settings. ``base``
    is the URL at which the page was fetched.
    """
    known = archive.stored(url)
    if known is None:
        return None
    capture, body = known
    kind = content_type(capture.headers)
    media = media_of(body, kind)
    only_links = not any(wanted for name, wanted in asked.items() if name != "skip_nofollow")
    if media.is_page and only_links and not may_forbid(body) and b"\0" not in body:
        kept = _kept(archive, capture)
        if kept is not None:
            links, seen = kept
            return Unchanged(media, Hypertext(links=links), seen)
    reading = archive.readings.of(shortened(body), kind)
    return Unchanged(media, read_any(reading, base, **asked))


def may_forbid(body: bytes) -> bool:
    """Return whether a page may forbid to store it, or to follow a link.

    >>> may_forbid(b"<META content='>' name=none>"), may_forbid(b"<meta a><p>none"), may_forbid(b"NoFollow")
    (True, False, True)
    """
    if _NOFOLLOW.search(body):
        return True
    return any(_WORDS.search(tag[0]) for tag in _META.finditer(body))


def _kept(archive: Archive, content: Capture) -> tuple[tuple[Link, ...], SeenLinks] | None:
    """Return the links that the last capture of a page saw, if it saw its last content and all are stored.

    A page without links may be a page whose links were never read.
    """
    last, found = archive.last(content.url), archive.links.last(content.url)
    if last is None or found is None or last.digest != content.digest or not last.kind.has_content:
        return None
    when, targets = found
    if last.outcome not in (Outcome.FETCHED, Outcome.NOT_MODIFIED) or when != last.captured_at:
        return None
    if last.links != len(targets):
        return None
    return tuple(map(Link, targets)), SeenLinks(len(targets), when)
