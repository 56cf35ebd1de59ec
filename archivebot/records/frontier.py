"""URLs of a crawl as JSON: short entries of the frontier, and complete records."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from archivebot.frontier.base import Record

# Maximum difference between a score and the sum of its rounded parts. A larger difference came later: from
# another link, or from what the crawl has learnt since.
ROUNDING = 0.005


def entry_record(record: Record) -> dict[str, Any]:
    """Return a queued or rejected URL as a record."""
    return {name: getattr(record.entry, name) for name in ("url", "score", "distance", "source", "reason")}


def url_record(record: Record, way: Sequence[str]) -> dict[str, Any]:
    """Return all data on one URL as a record; ``way`` are the URLs from the seed to it."""
    entry = record.entry
    parts = json.loads(entry.parts or "{}")
    anchor = parts.pop("text", "")
    if parts and abs(later := entry.score - sum(parts.values())) > ROUNDING:
        parts["later"] = round(later, 4)
    return {
        "url": entry.url,
        "state": record.state.value,
        "anchor": anchor,
        "score": entry.score,
        "parts": parts,
        "reason": entry.reason,
        "path": list(way),
        "distance": entry.distance,
        "order": record.order,
        "relevance": record.relevance,
        "relevant": record.relevant,
        "page": json.loads(record.note or "{}"),
    }
