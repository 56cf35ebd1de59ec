"""Crawls and their URLs as JSON: the state of a crawl, short entries and complete records of its frontier."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from archivebot.frontier.base import CrawlInfo, HostCounts, Record
from archivebot.timestamps import timestamp

# Maximum difference between a score and the sum of its rounded parts. A larger difference came later: from
# another link, or from what the crawl has learnt since.
ROUNDING = 0.005

# Why a crawl ended, by Scrapy's finish_reason; other reasons stand for themselves.
_ENDS = {
    "": "not ended",
    "pages": "stopped at its limit of pages",
    "bytes": "stopped at its limit of bytes",
    "closespider_timeout": "stopped at its limit of time",
    "shutdown": "interrupted",
    "storage_error": "stopped because the archive or its frontier failed",
}


def ending(reason: str) -> str:
    """Return why a crawl ended, in words.

    >>> ending("pages"), ending(""), ending("finished")
    ('stopped at its limit of pages', 'not ended', 'finished')
    """
    return _ENDS.get(reason, reason)


def crawl_record(
    crawl: CrawlInfo,
    hosts: Iterable[HostCounts],
    queued: Iterable[Record],
    rejected: Iterable[Record],
    reasons: Mapping[str, int],
    names: Iterable[str],
) -> dict[str, Any]:
    """Return the state of a crawl as a record.

    ``reasons`` is the number of rejected URLs by reason, ``names`` the names of all crawls of the frontier.
    """
    return {
        "crawl": crawl.name,
        "arguments": json.loads(crawl.arguments or "{}"),
        "began": timestamp(datetime.fromtimestamp(crawl.began, UTC)),
        "ended": crawl.ended,
        "states": asdict(crawl.counts),
        "hosts": list(map(asdict, hosts)),
        "next": list(map(entry_record, queued)),
        "reasons": dict(reasons),
        "rejected": list(map(entry_record, rejected)),
        "crawls": list(names),
    }


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
