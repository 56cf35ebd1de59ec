"""The totals of an archive as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from archivebot.storage.base import Totals


def totals_record(totals: Totals) -> dict[str, Any]:
    """Return totals as a record; ``ratio`` is the bytes stored per byte fetched."""
    return {**asdict(totals), "ratio": ratio(totals)}


def ratio(totals: Totals) -> float | None:
    """Return the bytes stored per byte fetched, or None if nothing was fetched.

    >>> ratio(Totals(1, 1, 1, 1, bytes_fetched=3, bytes_stored=1)), ratio(Totals(1, 1, 0, 0, 0, 9))
    (0.3333, None)
    """
    return round(totals.bytes_stored / totals.bytes_fetched, 4) if totals.bytes_fetched else None
