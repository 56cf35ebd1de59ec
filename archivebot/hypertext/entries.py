"""The pages that a sitemap or a feed names, with the time of their last change."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from io import BytesIO
from typing import Any

from lxml import etree

from archivebot.exceptions import UsageError
from archivebot.hypertext.references import resolve
from archivebot.timestamps import parse_since

# The limits of one sitemap by https://www.sitemaps.org/protocol.html: bytes when unpacked, and entries.
MOST_BYTES = 50 * 1024 * 1024
MOST_ENTRIES = 50_000

# Sitemaps that are generated anew with the present time for every page say nothing about changes. Times that
# this share of the entries have in common are left out, if there are at least so many entries.
_COMMON, _FEW = 0.5, 4

_GZIP = b"\x1f\x8b"
_PIECE = 1 << 14  # bytes that are unpacked at once
_ITEMS = ("url", "sitemap", "item", "entry")
_TIMES = ("lastmod", "updated", "date", "pubDate", "published")  # dc:date is of RSS 1.0
_EPOCH = datetime(1, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Entry:
    """A page, or another sitemap, and when it last changed; None if that is not stated."""

    url: str
    changed: datetime | None = None


def entries(body: bytes, base: str) -> tuple[Entry, ...]:
    """Return the entries of a sitemap (also gzipped), a list of sitemaps, an Atom feed or an RSS feed.

    URLs are canonical and resolved against ``base``. Other bodies have no entries; a damaged body has those
    before the damage. See https://www.sitemaps.org/protocol.html, RFC 4287 and
    https://www.rssboard.org/rss-specification.

    >>> feed = b"<rss><item><link>/a</link><pubDate>Fri, 02 Jan 2026 03:04:05 GMT</pubDate></item></rss>"
    >>> entries(feed, "http://a.example/feed")[0].changed.isoformat()
    '2026-01-02T03:04:05+00:00'
    >>> entries(b"<p>no feed</p>", "http://a.example/"), entries(b"", "http://a.example/")
    ((), ())
    """
    text = _unpacked(body)
    if b"<" not in text[:1024]:
        return ()
    found: dict[str, Entry] = {}
    try:
        for entry in _read(text, base):
            known = found.get(entry.url, entry)
            found[entry.url] = max(known, entry, key=lambda each: each.changed or _EPOCH)
            if len(found) >= MOST_ENTRIES:
                break
    except etree.XMLSyntaxError:
        pass  # no XML, or damaged: the entries so far count
    return tuple(_without_common(list(found.values())))


def _unpacked(body: bytes) -> bytes:
    if not body.startswith(_GZIP):
        return body[:MOST_BYTES]
    unpacker, text = zlib.decompressobj(zlib.MAX_WBITS | 16), bytearray()
    with suppress(zlib.error):  # what comes before the damage counts
        for at in range(0, len(body), _PIECE):
            text += unpacker.decompress(body[at : at + _PIECE], MOST_BYTES - len(text))
            if len(text) >= MOST_BYTES:
                break
    return bytes(text)


def _read(text: bytes, base: str) -> Iterator[Entry]:
    elements = etree.iterparse(BytesIO(text), events=("end",), resolve_entities=False, no_network=True)
    for _, element in elements:
        if _name(element) not in _ITEMS:
            continue
        url = resolve(_reference(element), base)
        if url:
            yield Entry(url, _changed(element))
        element.clear()
        parent = element.getparent()  # None at the root, beside which comments may stand
        while parent is not None and element.getprevious() is not None:
            del parent[0]  # otherwise the elements that were read stay in memory


def _reference(item: Any) -> str:
    """Return the reference to the page of an entry, "" if there is none."""
    guid = ""
    for child in item:
        name, text = _name(child), (child.text or "").strip()
        if name == "loc" or (name == "link" and text):
            return text
        if name == "link" and child.get("rel", "alternate") == "alternate":
            return str(child.get("href", ""))
        if name == "guid" and child.get("isPermaLink", "true") == "true":
            guid = text
    return guid


def _changed(item: Any) -> datetime | None:
    times = [_time(child.text or "") for child in item if _name(child) in _TIMES]
    return max((time for time in times if time), default=None)


def _time(text: str) -> datetime | None:
    """Return the beginning of a time; a day may mean any moment of it."""
    try:
        return parse_since(text.strip(), _EPOCH)
    except (UsageError, OverflowError):
        return None


def _without_common(found: list[Entry]) -> Iterator[Entry]:
    days = Counter(entry.changed.date() for entry in found if entry.changed)
    _, count = max(days.items(), key=lambda each: each[1], default=(None, 0))
    is_generated = len(found) >= _FEW and count > _COMMON * len(found)
    common = {day for day, each in days.items() if is_generated and each == count}
    for entry in found:
        yield replace(entry, changed=None) if entry.changed and entry.changed.date() in common else entry


def _name(element: Any) -> str:
    """Return the name of an element without its namespace."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""
