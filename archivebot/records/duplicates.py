"""Near-duplicates as JSON: pairs, and the members of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from archivebot.duplicates.survey import BLOCK, Match, Member


def match_record(match: Match) -> dict[str, Any]:
    """Return a pair as a record; a block is named by its page and its lineage."""
    a, b = match.a, match.b
    record = {
        "a": a.url,
        "b": b.url,
        "distance": match.likeness.distance,
        "jaccard": round(match.likeness.jaccard, 4),
        "scope": a.scope,
        "words": a.words,
    }
    return record | ({"block_a": a.block, "block_b": b.block, "topic": a.topic} if a.scope == BLOCK else {})


def cluster_record(number: int, members: Sequence[Member]) -> dict[str, Any]:
    """Return a cluster of pages or of blocks as a record."""
    return {"cluster": number, "scope": members[0].scope, "members": list(map(_member_record, members))}


def _member_record(member: Member) -> dict[str, Any]:
    """Return a page or a block of a cluster as a record."""
    block = {"block": member.block, "topic": member.topic} if member.scope == BLOCK else {}
    return {"url": member.url, "words": member.words} | block
