"""Captures as plain records for feeds and ``--json``: readable text and numbers, no bodies."""

from __future__ import annotations

from typing import Any

from archivebot.models import Capture, PlacedBlock
from archivebot.timestamps import timestamp


def capture_record(capture: Capture) -> dict[str, Any]:
    """Give a capture as one JSON-ready record; ``version`` and ``digest`` are None without content."""
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
        "reason": capture.reason,
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
