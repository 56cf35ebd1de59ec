"""The identity of a crawl: its name, and the archive that it relies on."""

from __future__ import annotations

import json
from hashlib import blake2b

from archivebot.models import Position


def crawl_name(spider: str, identity: object) -> str:
    """Return the name of a crawl, made from its spider and identity; the same command has the same name.

    >>> crawl_name("site", {"seeds": ["http://a.example/"]}) == crawl_name("site", {"seeds": []})
    False
    """
    text = json.dumps(identity, sort_keys=True).encode()
    return f"{spider}-{blake2b(text, digest_size=4).hexdigest()}"


def starts_over(relied: Position | None, archive: Position, flush: bool) -> str:
    """Return why an interrupted crawl starts over, or "" if it continues.

    It starts over on request (``flush``), or if the archive lacks pages that the crawl relied on.

    >>> starts_over(Position("a", 7), Position("a", 9), False), starts_over(None, Position("a", 1), True)
    ('', '')
    """
    if relied is None:
        return ""  # it has not begun
    if flush:
        return "SCHEDULER_FLUSH_ON_START is set"
    if relied.archive == archive.archive:
        is_older = relied.number > archive.number
        return "the archive was restored from a copy that is older than the crawl" if is_older else ""
    return "the archive is not the one that it relied on: was that archive deleted or replaced?"
