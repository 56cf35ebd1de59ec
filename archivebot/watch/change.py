"""A change of a page as rules look at it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from archivebot.models import AttributeChange, BlockChange, SiteChange


@dataclass(frozen=True, slots=True)
class WatchedChange:
    """What happened to a page from one state to a later one, with the changes of its blocks and fields.

    ``before`` and ``after`` are version numbers, None without content. The blocks and attributes are empty
    if the page is gone, moved, or back as it was. All blocks and fields of a new page are added.
    """

    url: str
    kind: SiteChange
    before: int | None
    after: int | None
    captured_at: datetime
    reason: str
    blocks: tuple[BlockChange, ...] = field(default=(), repr=False)
    attributes: tuple[AttributeChange, ...] = field(default=(), repr=False)
