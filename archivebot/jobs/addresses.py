"""Whether a crawl reached a page at a private address, so that it may be visited there again."""

from __future__ import annotations

from collections.abc import Iterable

from archivebot.models import CRAWL, Capture
from archivebot.urls import is_private


def was_private(captures: Iterable[Capture]) -> bool:
    """Return whether the last address at which a crawl asked for a page is private.

    ``captures`` are those of the page, the last first. Those that files brought say nothing: others wrote
    them.
    """
    asked = (each.wire.ip for each in captures if each.origin == CRAWL and each.wire and each.wire.ip)
    last = next(asked, None)
    return last is not None and is_private(last)
