"""A capture as JSON: readable text and numbers, no bodies."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from archivebot.models import Capture, Duplicate, Focus
from archivebot.records.block import block_record
from archivebot.timestamps import timestamp
from archivebot.wire import Wire, first_header


def capture_record(capture: Capture) -> dict[str, Any]:
    """Return a capture as a record; ``version`` and ``digest`` are None without content.

    A capture of a focused crawl also has the fields of its focus; what has no text to judge is not
    relevant. ``wire`` is None if it was not recorded. ``bytes`` is ``size`` and ``block_count`` what
    ``blocks`` counts: scripts know them by both names.
    """
    return {
        "url": capture.url,
        "urlkey": capture.urlkey,
        "captured_at": timestamp(capture.captured_at),
        "status": capture.status,
        "outcome": capture.outcome.value,
        "kind": capture.kind.value,
        "version": capture.number,
        "digest": capture.digest,
        "size": capture.size,
        "stored_bytes": capture.stored_bytes,
        "level": capture.level,
        "blocks": {
            "count": capture.block_count,
            "new": capture.new_blocks,
            "items": [block_record(block) for block in capture.blocks],
        },
        "links": capture.links,
        "location": capture.location,
        "quality": capture.quality.kind.value if capture.quality else None,
        "reason": capture.reason,
        "duplicate": duplicate_record(capture.duplicate) if capture.duplicate else None,
        **(focus_record(capture.focus) if capture.focus else {}),
        "bytes": capture.size,
        "block_count": capture.block_count,
        "new_blocks": capture.new_blocks,
        "origin": capture.origin,
        "wire": wire_record(capture.wire) if capture.wire else None,
    }


def history_record(capture: Capture) -> dict[str, Any]:
    """Return a capture of a history as a record: its blocks are not read, and ``blocks`` counts them."""
    return capture_record(capture) | {"blocks": capture.block_count}


def replay_record(
    capture: Capture, brought: Capture, output: str | None, since: datetime | None
) -> dict[str, Any]:
    """Return a capture whose body is shown, with the status and the headers of the fetch that brought it."""
    return {
        "url": capture.url,
        "captured_at": timestamp(capture.captured_at),
        "status": brought.status,
        "version": capture.number,
        "gone_since": timestamp(since) if since else None,
        "digest": capture.digest,
        "bytes": capture.size,
        "headers": [list(header) for header in brought.headers],
        "wire": exchange_record(brought.wire) if brought.wire else None,
        "output": output,
    }


def wire_record(wire: Wire) -> dict[str, Any]:
    """Return what is known of an exchange as a record; what is not known is None or empty."""
    return {
        "status_line": wire.status_line,
        "address": wire.address,
        "protocols": list(wire.protocols),
        "content_encoding": first_header(wire.headers, "Content-Encoding"),
        "transfer_encoding": first_header(wire.headers, "Transfer-Encoding"),
        "length": wire.length,
        "decoded": wire.decoded,
        "started": wire.started.isoformat(timespec="milliseconds") if wire.started else None,
        "first_byte": wire.first_byte,
        "ended": wire.ended,
        "truncated": wire.truncated,
        "left_out": list(wire.left_out),
        "record": wire.record,
    }


def exchange_record(wire: Wire) -> dict[str, Any]:
    """Return an exchange with its heads as a record; in these each character is one byte (Latin-1)."""
    return wire_record(wire) | {
        "request": wire.request.decode("latin-1"),
        "received": wire.received.decode("latin-1"),
        "trailers": wire.trailers.decode("latin-1"),
    }


def focus_record(focus: Focus) -> dict[str, Any]:
    """Return what a focused crawl says of a page as a record."""
    return {
        "relevance": focus.relevance or 0.0,
        "relevant": bool(focus.relevant),
        "score": focus.score,
        "distance": focus.distance,
        "order": focus.order,
    }


def duplicate_record(duplicate: Duplicate) -> dict[str, Any]:
    """Return the mark of a near-duplicate as a record."""
    return {
        "of": duplicate.url,
        "version": duplicate.number,
        "distance": duplicate.distance,
        "jaccard": duplicate.jaccard,
        "rule": duplicate.rule,
    }
