"""The identity of a crawl: its name, and the archive that it relies on."""

from __future__ import annotations

import json
from hashlib import blake2b

from archivebot.models import Position


def crawl_name(spider: str, identity: object) -> str:
    """Name a crawl by its spider and what it is about; the same command gives the same name.

    >>> crawl_name("site", {"seeds": ["http://a.example/"]}) == crawl_name("site", {"seeds": []})
    False
    """
    told = json.dumps(identity, sort_keys=True).encode()
    return f"{spider}-{blake2b(told, digest_size=4).hexdigest()}"


def lost_by(relied: Position | None, archive: Position) -> str:
    """Return why an archive lacks what a crawl relied on; empty if it does not, or nothing is known.

    >>> lost_by(Position("a", 7), Position("a", 9)), lost_by(None, Position("a", 1))
    ('', '')
    """
    if relied is None or (relied.archive == archive.archive and relied.number <= archive.number):
        return ""
    if relied.archive == archive.archive:
        return "the archive was restored from a copy that is older than the crawl"
    return "the archive is another one than it relied on: was that deleted or replaced?"
