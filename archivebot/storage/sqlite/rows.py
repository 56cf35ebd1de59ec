"""Converts versions and captures to rows of the SQLite archive, and back."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from archivebot.exceptions import CorruptObject
from archivebot.models import Capture, Duplicate, Headers, Kind, Outcome, Quality, QualityKind
from archivebot.storage.base import StoredVersion, Totals
from archivebot.storage.sqlite.sums import intact, whole
from archivebot.storage.sqlite.visits import Visit
from archivebot.storage.times import moment
from archivebot.storage.wire import Exchange, wire_of
from archivebot.wire import Wire

VERSION = (
    f"SELECT {intact('version')}, version.id, url, number, hex(digest), length, charset, level, segmenter,"
    " layout, blocks, new_blocks, new_bytes, cost, base, coalesce(length(data), 0)"
    " FROM version JOIN page ON page.id = page LEFT JOIN frame ON frame.version = version.id"
)

# The condition on the digest of a version, the second parameter of a statement. The index has the first four
# bytes only: they are enough to find it.
DIGEST = "digest = ?2 AND substr(digest, 1, 4) = substr(?2, 1, 4)"

# The page whose URL is the first parameter of a statement.
PAGE_OF = (
    "(SELECT found.id FROM page_key JOIN page AS found ON found.id = page_key.page"
    " WHERE key = urlkey(?1) AND found.url = ?1)"
)

# What a capture shows of its version.
FACTS = (
    f"SELECT {intact('version')}, number, hex(digest), length, level, blocks, cost = 0"
    " FROM version WHERE id = ?"
)
NO_FACTS = (True, *(None,) * 6)

SHAPE = (
    f"SELECT {intact('shape')} AND (reference IS NULL OR {intact('reference')}),"
    " outcome, kind, status, origin, quality, reference, reference.data"
    " FROM shape LEFT JOIN reference ON reference.id = reference WHERE shape.id = ?"
)

# The visits of a run, as time, version and shape.
VISITS = "json_each(visits(capture.time, capture.visits)) AS visit"

# The frames of one version, the frame without a base first: it may be that of a dictionary, whose id is
# negative. The id of a base is always lower, but damaged ones may form a circle.
FRAMES = (
    "WITH RECURSIVE chain (id, base, depth) AS ("
    "SELECT id, base, 0 FROM version WHERE id = ? UNION ALL"
    " SELECT base, (SELECT base FROM version WHERE version.id = chain.base), depth + 1 FROM chain"
    " WHERE base < id)"
    " SELECT data FROM chain JOIN frame ON frame.version = chain.id ORDER BY depth DESC"
)

# Of each host: captures, pages, versions, blocks, bytes fetched, of frames, and of dictionaries.
TOTALS = (
    "WITH seen AS (SELECT capture.page AS page, count(*) AS captures,"
    " sum(iif(outcome <> 'not_modified', length, NULL)) AS fetched"
    f" FROM capture JOIN {VISITS} LEFT JOIN version ON version.id = visit.value ->> 1"
    " JOIN shape ON shape.id = visit.value ->> 2 GROUP BY capture.page)"
    " SELECT host, sum(captures), count(*), sum(versions), sum(blocks), sum(fetched), sum(frames),"
    " (SELECT sum(length(data)) FROM dictionary JOIN frame ON frame.version = dictionary.id"
    " WHERE dictionary.host = pages.host) FROM (SELECT substr(key, 1, instr(key, ')') - 1) AS host, versions,"
    " (SELECT sum(new_blocks) FROM version WHERE page = page.id) AS blocks,"
    " captures, fetched,"
    " (SELECT sum(length(data)) FROM version JOIN frame ON frame.version = version.id"
    " WHERE version.page = page.id) AS frames FROM page_key JOIN page ON page.id = page_key.page"
    " LEFT JOIN seen ON seen.page = page.id) AS pages"
    " GROUP BY host ORDER BY host"
)


def origin_parts(origin: str | None) -> tuple[str | None, int | None]:
    """Split an origin into the part that other captures of a file share, and the place in the file.

    >>> origin_parts("a.warc.gz:120"), origin_parts("crawl"), origin_parts("a:0120")
    (('a.warc.gz:', 120), ('crawl', None), ('a:0120', None))
    """
    file, _, place = (origin or "").rpartition(":")
    if re.fullmatch("0|[1-9][0-9]{0,17}", place):
        return f"{file}:", int(place)
    return origin, None


def packed(headers: Headers, wire: Wire | None = None) -> bytes | None:
    """Return response headers as compressed JSON; None if there are none or the wire holds them."""
    if not headers or (wire and wire.headers == headers):
        return None
    return zlib.compress(json.dumps(headers, ensure_ascii=False, separators=(",", ":")).encode(), 9)


def unpacked(data: bytes | None) -> Headers:
    """Read response headers.

    >>> unpacked(packed((("ETag", '"1"'),)))
    (('ETag', '"1"'),)
    >>> unpacked(packed(()))
    ()
    """
    return tuple((name, value) for name, value in json.loads(zlib.decompress(data))) if data else ()


def version_of(row: Any) -> StoredVersion:
    """Read a row of ``VERSION``."""
    identity, url, number, digest, *rest = whole(row)
    return StoredVersion(identity, url, number, digest.lower(), *rest)


def totals_of(row: Any) -> tuple[str, Totals]:
    """Read a row of ``TOTALS``; raises CorruptObject if a sum is not a number."""
    host, *sums = row
    if not isinstance(host, str) or not all(isinstance(value, int | None) for value in sums):
        raise CorruptObject(f"the figures of {host!r} cannot be added up")
    captures, urls, versions, blocks, fetched, frames, dictionaries = (value or 0 for value in sums)
    stored = frames + dictionaries
    return host, Totals(captures, urls, versions, blocks, fetched, stored, frames, dictionaries)


class Shape(NamedTuple):
    """What captures have in common; ``exchange`` is the compressed exchange of their reference."""

    outcome: str
    kind: str
    status: int | None
    origin: str
    quality: str | None
    reference: int | None
    exchange: bytes | None


def capture_of(
    url: str,
    urlkey: str,
    visit: Visit,
    shape: Shape,
    facts: Any,
    marks: Callable[[], Mapping[int, Duplicate]],
) -> Capture:
    """Return a visit as a capture.

    ``facts`` is a row of ``FACTS``; ``marks`` returns the marks of its page's versions, by number.
    """
    number, digest, length, level, blocks, pruned = whole(facts)
    when = moment(visit.time)
    numbers = visit.lag, visit.first_byte, visit.ended, visit.length
    wire = wire_of(Exchange(numbers, visit.texts or b"", visit.record), when) if visit.wired else None
    reason = (visit.reason or b"").decode()
    return Capture(
        url=url,
        urlkey=urlkey,
        captured_at=when,
        outcome=Outcome(shape.outcome),
        kind=Kind(shape.kind),
        status=shape.status,
        number=number,
        digest=f"sha256:{digest.lower()}" if digest else None,
        size=length or 0,
        stored_bytes=visit.stored_bytes,
        level=level,
        block_count=blocks or 0,
        new_blocks=visit.new_blocks,
        links=visit.links,
        reason=reason,
        location=None if visit.location is None else visit.location.decode(),
        origin=f"{shape.origin}{visit.place - 1}" if visit.place else shape.origin,
        headers=wire.headers if wire and visit.headers is None else unpacked(visit.headers),
        quality=Quality(QualityKind(shape.quality), reason) if shape.quality else None,
        duplicate=marks().get(number) if number else None,
        wire=wire,
        pruned=bool(pruned),
    )
