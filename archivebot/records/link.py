"""A link of the archive as JSON."""

from __future__ import annotations

from typing import Any

from archivebot.storage.edges import Edge
from archivebot.timestamps import timestamp


def link_record(edge: Edge) -> dict[str, Any]:
    """Return a link as a record, with the times when it was seen first and last."""
    return {
        "source": edge.source,
        "target": edge.target,
        "anchor": edge.anchor,
        "role": edge.role,
        "kind": edge.kind,
        "first": timestamp(edge.first),
        "last": timestamp(edge.last),
    }
