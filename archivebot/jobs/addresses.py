"""Whether a crawl reached a page at a private address, so that it may be visited there again."""

from __future__ import annotations

from collections.abc import Iterable

from archivebot.models import CRAWL, Capture
from archivebot.urls import is_private


def was_private(captures: Iterable[Capture]) -> bool:
    """Return whether the last address at which a crawl asked for a page is private.

    ``captures`` are those of the page, oldest first. Those that files brought say nothing: others wrote them.
    """
    asked = [each.wire.ip for each in captures if each.origin == CRAWL and each.wire and each.wire.ip]
    return bool(asked) and is_private(asked[-1])
