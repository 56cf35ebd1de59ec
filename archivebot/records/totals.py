"""The totals of an archive as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from archivebot.storage.base import Totals
from archivebot.urls import host_of_key


def archive_record(uri: str, totals: Mapping[str, Totals]) -> dict[str, Any]:
    """Return the totals of an archive and of its hosts as a record; the key "" has those of the archive."""
    whole = totals[""]
    hosts = {host_of_key(host): totals_record(total, whole) for host, total in totals.items() if host}
    return {"archive": uri, **totals_record(whole, whole), "hosts": hosts}


def totals_record(totals: Totals, whole: Totals) -> dict[str, Any]:
    """Return totals as a record, with the totals of the whole archive for the bytes of rows.

    ``ratio`` is the bytes stored per byte fetched.
    """
    return {**asdict(totals), "bytes_rows": rows_bytes(totals, whole), "ratio": ratio(totals)}


def rows_bytes(totals: Totals, whole: Totals) -> int:
    """Return the bytes of rows and indexes; the bytes of a host are estimated by its share of the captures.

    >>> whole = Totals(4, 4, 4, 4, 90, bytes_stored=60, bytes_frames=30, bytes_dictionaries=10)
    >>> rows_bytes(whole, whole), rows_bytes(Totals(1, 1, 1, 1, 9, 5, 5), whole)
    (20, 5)
    """
    rows = whole.bytes_stored - whole.bytes_frames - whole.bytes_dictionaries
    return round(rows * totals.captures / whole.captures) if whole.captures else rows


def ratio(totals: Totals) -> float | None:
    """Return the bytes stored per byte fetched, or None if nothing was fetched.

    >>> ratio(Totals(1, 1, 1, 1, bytes_fetched=3, bytes_stored=1)), ratio(Totals(1, 1, 0, 0, 0, 9))
    (0.3333, None)
    """
    return round(totals.bytes_stored / totals.bytes_fetched, 4) if totals.bytes_fetched else None
