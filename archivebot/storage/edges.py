"""The links of a page as edges of the link graph."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from archivebot.models import Link
from archivebot.storage.base import Edge

# An anchor is a few words; without a limit, a page that is one large link would be stored twice.
LONGEST_ANCHOR = 200


def last_seen(edges: Iterable[Edge]) -> tuple[datetime, list[str]] | None:
    """Return the latest time of the edges of a page, and the targets of the edges seen then.

    >>> last_seen([])
    """
    found = list(edges)
    latest = max((edge.last for edge in found), default=None)
    return (latest, [edge.target for edge in found if edge.last == latest]) if latest else None


def edges_of(source: str, links: Iterable[Link], when: datetime) -> list[Edge]:
    """Return the links of a page for storage: one for each target, the first that has an anchor.

    >>> links = [Link("http://a.example/"), Link("http://a.example/", "News" * 99, role="navigation")]
    >>> [(edge.anchor[:8], len(edge.anchor), edge.role) for edge in edges_of("", links, datetime.max)]
    [('NewsNews', 200, 'navigation')]
    """
    by_url: dict[str, Link] = {}
    for link in links:
        if link.url not in by_url or (link.anchor and not by_url[link.url].anchor):
            by_url[link.url] = link
    return [
        Edge(source, link.url, link.anchor[:LONGEST_ANCHOR], link.role, link.kind, when, when)
        for link in by_url.values()
    ]
