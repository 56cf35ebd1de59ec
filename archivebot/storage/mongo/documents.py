"""Converts captures, versions, frames and links to documents of a MongoDB server, and back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from archivebot.exceptions import Conflict, CorruptObject
from archivebot.models import Capture, Duplicate, Headers, Kind, Outcome, Quality, QualityKind
from archivebot.storage.base import Damaged, NewVersion, PageHead, StoredVersion, VersionId
from archivebot.storage.times import milliseconds, moment
from archivebot.storage.wire import unpacked
from archivebot.urls import urlkey

Document = dict[str, Any]

# A document holds at most 16 MiB: longer frames are cut into parts of this size.
PART_BYTES = 8 * 1024 * 1024


def page_id(url: str) -> str:
    """Return the id of a page: 32 hex digits of the SHA-256 of its URL.

    Ids are text because several servers with MongoDB's protocol do not distinguish binary ids.

    >>> page_id("http://example.com/")
    '2a1b402420ef46577471cdc7409b0fa2'
    """
    return sha256(url.encode()).hexdigest()[:32]


def slot(page: str, seq: int) -> str:
    """Return the name of a version: its page, and its place in the order of the page's versions.

    >>> slot("2a1b", 7)
    '2a1b-00000007'
    """
    return f"{page}-{seq:08d}"


def seq_of(name: str) -> int:
    """Return the place of a version in the order of its page.

    >>> seq_of(slot("2a1b", 7))
    7
    """
    return int(name.rpartition("-")[2])


def frame_name(frame: bytes) -> str:
    """Return the name of a frame: 32 hex digits of the SHA-256 of its bytes, and the number of its parts.

    >>> frame_name(b"")
    'e3b0c44298fc1c149afbf4c8996fb924/1'
    """
    return f"{sha256(frame).hexdigest()[:32]}/{max(1, -(-len(frame) // PART_BYTES))}"


_MOST_DIGITS = 8  # of the number of parts


def part_ids(name: str) -> list[str]:
    """Return the ids of the parts of a frame, by its name; raises CorruptObject if it is the name of none.

    >>> part_ids("e3b0/2")
    ['e3b0:0', 'e3b0:1']
    """
    digest, _, count = name.partition("/")
    if not (count.isascii() and count.isdecimal() and len(count) < _MOST_DIGITS):
        raise CorruptObject(f"{name!r} is not the name of a frame: restore a copy of the archive")
    return [f"{digest}:{number}" for number in range(int(count))]


def part_documents(frame: bytes) -> Iterator[Document]:
    """Split a frame into the documents that store it."""
    for number, identity in enumerate(part_ids(frame_name(frame))):
        yield {"_id": identity, "data": frame[number * PART_BYTES : (number + 1) * PART_BYTES]}


def is_page(document: Document) -> bool:
    """Return whether the URL and the key of a page are those of its id."""
    url = document.get("url")
    return isinstance(url, str) and (page_id(url), urlkey(url)) == (document["_id"], document.get("urlkey"))


def bytes_of(document: Document, field: str) -> bytes:
    """Return the bytes of a field without a checksum; none if it is missing, or damaged to another type."""
    value = document.get(field)
    return bytes(value) if isinstance(value, bytes) else b""


def capture_document(page: str, capture: Capture) -> Document:
    """Return the document of a capture, still without its id and slot (see :func:`named`)."""
    host, separator, _ = capture.urlkey.partition(")")
    return {
        "page": page,
        "host": host if separator else "",
        "url": capture.url,
        "urlkey": capture.urlkey,
        "time": milliseconds(capture.captured_at),
        "outcome": capture.outcome.value,
        "kind": capture.kind.value,
        "status": capture.status,
        "number": capture.number,
        "digest": capture.sha256 or None,
        "size": capture.size,
        "stored_bytes": capture.stored_bytes,
        "level": capture.level,
        "block_count": capture.block_count,
        "new_blocks": capture.new_blocks,
        "links": capture.links,
        "quality": capture.quality.kind.value if capture.quality else None,
        "reason": capture.reason,
        "location": capture.location,
        "origin": capture.origin,
        # FerretDB 1 keeps no lists inside lists.
        "headers": [{"name": name, "value": value} for name, value in own_headers(capture)],
    }


def own_headers(capture: Capture) -> Headers:
    """Return the headers of a capture, or none if its wire holds them."""
    return () if capture.wire and capture.wire.headers == capture.headers else capture.headers


def version_document(new: NewVersion, head: PageHead, seq: int, base: Document | None) -> Document:
    """Return the additional fields of a capture with a new version; ``base`` is the document of its base."""
    record = new.record
    return {
        "seq": seq,
        "versions": max(head.versions, record.number or 0),
        "lineages": new.lineages,
        "number": record.number,
        "digest": record.digest,
        "size": record.length,
        "level": record.level,
        "block_count": record.blocks,
        "new_blocks": record.new_blocks,
        "charset": record.charset,
        "segmenter": record.segmenter,
        "layout": record.layout,
        "new_bytes": record.new_bytes,
        "cost": record.cost,
        "base": record.base,
        "frame": frame_name(new.frame),
        "frame_bytes": len(new.frame),
        # All frames needed for reading, so that one request returns them. The bound on cost keeps this list
        # below 64 entries.
        "chain": [*base["chain"], base["frame"]] if base else [],
    } | ({"duplicate": asdict(new.duplicate)} if new.duplicate and record.number else {})


def named(document: Document, version: VersionId | None) -> Document:
    """Complete the document of a capture with the version that it points at, its id and its slot.

    The id identifies the visit, so the same visit is not stored twice. The slot is the version that the visit
    brought, so each place in a page's history is assigned once; without a version it is the id again.
    """
    key = f"{document['page']} {document['time']} {document['outcome']} {version or ''}"
    identity = sha256(key.encode()).hexdigest()
    place = version if "seq" in document else identity
    return {"_id": identity, "slot": place, "version": version, **document}


def with_frame(document: Document) -> Document:
    """Return the document of a version or a dictionary; raises Conflict if its frame was removed."""
    if not document["frame"]:
        raise Conflict("another writer pruned a version")
    return document


def head_of(last: Document | None) -> PageHead:
    """Read the counters of a page from its last stored version."""
    return PageHead(last["versions"], last["lineages"]) if last else PageHead()


def version_of(document: Document) -> StoredVersion:
    """Read the version that a capture brought."""
    return StoredVersion(
        id=document["slot"],
        url=document["url"],
        number=document["number"],
        digest=document["digest"],
        length=document["size"],
        charset=document["charset"],
        level=document["level"],
        segmenter=document["segmenter"],
        layout=document["layout"],
        blocks=document["block_count"],
        new_blocks=document["new_blocks"],
        new_bytes=document["new_bytes"],
        cost=document["cost"],
        base=document["base"],
        stored_bytes=document["frame_bytes"],
    )


def capture_of(
    document: Document, marks: Callable[[], Mapping[int, Duplicate]], reference: Callable[[str], bytes]
) -> Capture:
    """Read a capture; ``marks`` returns the marks of the versions of its page, by number.

    ``reference`` returns the reference of a compressed exchange, by its id. Raises CorruptObject if a value
    does not fit its field: it was changed together with the checksum.
    """
    try:
        return _capture_of(document, marks, reference)
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        name = document.get("_id")
        raise CorruptObject(f"the document {name} of captures cannot be read: {error}") from error


def captures_of(
    documents: Iterable[Document],
    marks: Callable[[], Mapping[int, Duplicate]],
    reference: Callable[[str], bytes],
    damaged: Damaged,
) -> Iterator[Capture]:
    """Read captures; ``damaged`` gets the errors of those that cannot be read."""
    for document in documents:
        try:
            capture = capture_of(document, marks, reference)
        except CorruptObject as error:
            damaged(error)
        else:
            yield capture


def _capture_of(
    document: Document, marks: Callable[[], Mapping[int, Duplicate]], reference: Callable[[str], bytes]
) -> Capture:
    url, when = document["url"], moment(document["time"])
    facts = document.get("wire")
    wire = unpacked(facts, url, when, reference(document["reference"])) if facts else None
    headers = tuple((header["name"], header["value"]) for header in document["headers"])
    return Capture(
        url=url,
        urlkey=document["urlkey"],
        captured_at=when,
        outcome=Outcome(document["outcome"]),
        kind=Kind(document["kind"]),
        status=document["status"],
        number=document["number"],
        digest=f"sha256:{document['digest']}" if document["digest"] else None,
        size=document["size"],
        stored_bytes=document["stored_bytes"],
        level=document["level"],
        block_count=document["block_count"],
        new_blocks=document["new_blocks"],
        links=document["links"],
        reason=document["reason"],
        location=document["location"],
        origin=document["origin"],
        headers=wire.headers if wire and not headers else headers,
        quality=quality_of(document),
        duplicate=marks().get(number) if (number := document["number"]) else None,
        wire=wire,
        pruned=bool(document.get("pruned")),
    )


def brief_of(document: Document) -> Document:
    """Return the document of a capture without its headers and its exchange."""
    return document | {"headers": [], "wire": None}


def quality_of(document: Document) -> Quality | None:
    """Read the quality of a capture; captures of schema 2 have none."""
    kind = document.get("quality")
    return Quality(QualityKind(kind), document["reason"]) if kind else None
