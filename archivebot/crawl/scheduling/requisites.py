"""The requisites of the pages of a crawl that are still to be fetched."""

from __future__ import annotations

from archivebot.frontier import EXTRA, Counts, Frontier, State


def are_requisites_left(frontier: Frontier, counts: Counts) -> bool:
    """Return whether requisites are queued, or may be under way; ``counts`` are those of the frontier."""
    best = None if counts.leased else next(frontier.records(State.QUEUED, limit=1), None)
    return bool(counts.leased) or (best is not None and best.entry.score >= EXTRA)
