"""A capture as JSON: readable text and numbers, no bodies."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from archivebot.metadata import Metadata
from archivebot.models import BlockState, Capture, Change, Duplicate, Field, Focus, Kind, PlacedBlock
from archivebot.records.block import block_record, edit_record, stored_block_record
from archivebot.records.metadata import block_metadata_record, metadata_record
from archivebot.timestamps import iso_time, timestamp
from archivebot.wire import Wire, first_header


def capture_record(capture: Capture) -> dict[str, Any]:
    """Return a capture as a record; ``version`` and ``digest`` are None without content.

    All blocks are listed for the first version of a page only, later the blocks that are not as before;
    ``changes`` has their texts. ``time`` repeats ``captured_at`` as ISO 8601.

    A capture of a focused crawl also has the fields of its focus; a page without text is not relevant.
    ``wire`` is None if it was not recorded. ``bytes`` repeats ``size`` and ``block_count`` the length of
    ``blocks``: scripts use both names.
    """
    return {
        "url": capture.url,
        "urlkey": capture.urlkey,
        "captured_at": timestamp(capture.captured_at),
        "time": iso_time(capture.captured_at),
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
            "items": [
                block_record(block) | {"metadata": block_metadata_record(capture.metadata, block.label)}
                for block in capture.blocks
                if capture.kind is Kind.NEW or block.change is not Change.UNCHANGED
            ],
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
        "fields": _values(capture.fields),
        "title": capture.title,
        "changes": list(map(edit_record, capture.edits)),
        "pruned": capture.pruned,
        "metadata": metadata_record(capture.metadata),
    }


def extract_record(capture: Capture, fields: Iterable[Field], metadata: Metadata) -> dict[str, Any]:
    """Return the fields and the metadata of a version as a record, with the capture that shows it."""
    return {
        "url": capture.url,
        "captured_at": timestamp(capture.captured_at),
        "version": capture.number,
        "fields": _values(fields),
        "metadata": metadata_record(metadata),
    }


def _values(fields: Iterable[Field]) -> dict[str, Any]:
    """Return fields by name; a field that the page does not have is None."""
    return {field.name: json.loads(field.data) for field in fields}


def history_record(capture: Capture) -> dict[str, Any]:
    """Return a capture of a history as a record; ``blocks`` is the number of blocks."""
    record = capture_record(capture) | {"blocks": capture.block_count}
    # The commands extract, list and delta read them.
    for name in ("fields", "metadata", "title", "changes"):
        del record[name]
    return record


def page_record(url: str, captures: Sequence[Capture], since: datetime | None) -> dict[str, Any]:
    """Return the history of a page as a record; ``since`` is the time since when it is gone."""
    return {
        "url": url,
        "urlkey": captures[0].urlkey,
        "gone_since": timestamp(since) if since else None,
        "captures": list(map(history_record, captures)),
    }


def life_record(url: str, lineage: str, states: Iterable[BlockState]) -> dict[str, Any]:
    """Return the history of a block as a record."""
    return {
        "url": url,
        "lineage": lineage,
        "states": [asdict(state) | {"captured_at": timestamp(state.captured_at)} for state in states],
    }


def version_record(
    capture: Capture,
    brought: Capture,
    fields: Iterable[Field],
    blocks: Iterable[tuple[PlacedBlock, str]],
    **others: Any,
) -> dict[str, Any]:
    """Return the version that a capture shows as a record, with the capture that ``brought`` its body.

    ``others`` are further fields: media, title, main text, number of versions.
    """
    return {
        "url": capture.url,
        "captured_at": timestamp(capture.captured_at),
        "status": brought.status,
        "version": capture.number,
        "digest": capture.digest,
        "size": capture.size,
        **others,
        "fields": _values(fields),
        "headers": [list(header) for header in brought.headers],
        "wire": exchange_record(brought.wire) if brought.wire else None,
        "blocks": [stored_block_record(block) | {"text": text} for block, text in blocks],
    }


def replay_record(
    capture: Capture, brought: Capture, output: str | None, since: datetime | None
) -> dict[str, Any]:
    """Return a replayed capture as a record, with status and headers of the fetch that brought the body."""
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
    """Return the facts of an exchange as a record; unknown facts are None or empty."""
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
    """Return an exchange with its heads as a record; each character of a head is one byte (Latin-1)."""
    return wire_record(wire) | {
        "request": wire.request.decode("latin-1"),
        "received": wire.received.decode("latin-1"),
        "trailers": wire.trailers.decode("latin-1"),
    }


def focus_record(focus: Focus) -> dict[str, Any]:
    """Return the judgement of a focused crawl on a page as a record."""
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
