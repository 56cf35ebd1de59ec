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


def lost_by(relied: Position | None, archive: Position) -> str:
    """Return why an archive lacks pages that a crawl relied on; "" if it does not, or if unknown.

    >>> lost_by(Position("a", 7), Position("a", 9)), lost_by(None, Position("a", 1))
    ('', '')
    """
    if relied is None or (relied.archive == archive.archive and relied.number <= archive.number):
        return ""
    if relied.archive == archive.archive:
        return "the archive was restored from a copy that is older than the crawl"
    return "the archive is not the one that it relied on: was that archive deleted or replaced?"
