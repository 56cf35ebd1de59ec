"""The links of a page as edges of the link graph."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from archivebot.models import Link

# An anchor is a few words; without a limit, a page that is one large link would be stored twice.
LONGEST_ANCHOR = 200


@dataclass(frozen=True, slots=True)
class Edge:
    """A link of one page to another through time.

    ``anchor`` (200 characters at most), ``role`` and ``kind`` have their values from the last sighting, see
    :class:`~archivebot.models.Link`; ``first`` and ``last`` are aware UTC times.
    """

    source: str
    target: str
    anchor: str
    role: str
    kind: str
    first: datetime
    last: datetime


class LinkStore(Protocol):
    """The links of pages through time."""

    def add(self, source: str, links: Sequence[Link], when: datetime) -> None:
        """Store the links of a page at a time, all or none of them.

        A known link keeps its first time, and the words of its last sighting.
        """

    def last(self, url: str) -> tuple[datetime, list[str]] | None:
        """Return when the links of a page were seen last, and the targets of the links seen then.

        Returns None if no link of the page was ever seen.
        """

    def again(self, url: str, seen: datetime, when: datetime) -> None:
        """Store that the links of a page that were last seen at ``seen`` were seen again at a later time."""

    def all(self) -> Iterator[Edge]:
        """Yield all links in unspecified order, read lazily."""

    def of(self, url: str, after: str = "", limit: int | None = None) -> Iterator[Edge]:
        """Yield the links of a page: all in unspecified order, or at most ``limit`` in a stable order.

        With a limit, only links after the link to the URL ``after`` are returned; none if there is no such
        link.
        """

    def to(self, url: str, after: str = "", limit: int | None = None) -> Iterator[Edge]:
        """Yield the links to a URL, even one never requested; order and limit as in :meth:`of`.

        With a limit, only links after the link from the page ``after`` are returned.
        """

    def sources(self, urls: Collection[str]) -> dict[str, str]:
        """Return of each URL the first other page with a link to it, in the order of :meth:`to`.

        URLs without such a page are left out.
        """


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
    return [
        Edge(source, link.url, link.anchor[:LONGEST_ANCHOR], link.role, link.kind, when, when)
        for link in chosen(links)
    ]


def chosen(links: Iterable[Link]) -> Iterable[Link]:
    """Return one link for each target: the first that has an anchor, or else the first."""
    by_url: dict[str, Link] = {}
    for link in links:
        if link.url not in by_url or (link.anchor and not by_url[link.url].anchor):
            by_url[link.url] = link
    return by_url.values()
