"""The delta between two versions of a page, as JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from archivebot.models import Delta
from archivebot.records.block import edit_record
from archivebot.timestamps import timestamp


def delta_record(delta: Delta, since: datetime | None, media: str | None) -> dict[str, Any]:
    """Return a delta as a record; ``media`` is the media kind of versions without words."""
    return {
        "url": delta.url,
        "from": delta.before,
        "to": delta.after,
        "gone_since": timestamp(since) if since else None,
        "media": media,
        "layout_changed": delta.layout_changed,
        "kind": delta.kind.value,
        "reason": delta.reason,
        "attributes": [
            {
                "attribute": each.attribute.value,
                "of": each.of,
                "before": each.before,
                "after": each.after,
                "content": each.content,
            }
            for each in delta.attributes
        ],
        "changes": [
            {"change": change.change.value, "kind": change.kind.value if change.kind else None}
            | edit_record(change)
            for change in delta.changes
        ],
    }
