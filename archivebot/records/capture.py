"""Captures as plain records for feeds and ``--json``: readable text and numbers, no bodies."""

from __future__ import annotations

from typing import Any

from archivebot.models import Capture, Duplicate, Focus, PlacedBlock
from archivebot.timestamps import timestamp


def capture_record(capture: Capture) -> dict[str, Any]:
    """Give a capture as one JSON-ready record; ``version`` and ``digest`` are None without content.

    A capture of a focused crawl also has the fields of its focus; what has no text to judge is not
    relevant.
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
    }


def focus_record(focus: Focus) -> dict[str, Any]:
    """Give what a focused crawl says of a page as a JSON-ready record."""
    return {
        "relevance": focus.relevance or 0.0,
        "relevant": bool(focus.relevant),
        "score": focus.score,
        "distance": focus.distance,
        "order": focus.order,
    }


def duplicate_record(duplicate: Duplicate) -> dict[str, Any]:
    """Give the mark of a near-duplicate as a JSON-ready record."""
    return {
        "of": duplicate.url,
        "version": duplicate.number,
        "distance": duplicate.distance,
        "jaccard": duplicate.jaccard,
        "rule": duplicate.rule,
    }


def block_record(block: PlacedBlock) -> dict[str, Any]:
    """Give one block of a stored version as a JSON-ready record."""
    return {
        "lineage": block.lineage,
        "topic": block.topic,
        "change": block.change.value if block.change else None,
        "level": block.level,
        "start": block.start,
        "end": block.end,
        "new": block.new,
    }
