"""The links of pages as documents of a MongoDB server, one for each pair of pages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from datetime import datetime

from archivebot.models import Link
from archivebot.storage.checksum import document_checksum
from archivebot.storage.edges import Edge, edges_of, last_seen
from archivebot.storage.mongo.database import ASCENDING, MongoDatabase, Order
from archivebot.storage.mongo.documents import Document, page_id
from archivebot.storage.times import milliseconds, moment


class MongoLinks:
    """The LinkStore of an archive in a database."""

    def __init__(self, database: MongoDatabase) -> None:
        self._database, self._links = database, database.collection("links")

    def add(self, source: str, links: Sequence[Link], when: datetime) -> None:
        known = {edge.target: edge for edge in self.of(source)}
        edges = {link_id(edge.source, edge.target): edge for edge in edges_of(source, links, when)}
        new = {name: edge for name, edge in edges.items() if edge.target not in known}
        documents = [{"_id": name} | link_document(edge) for name, edge in new.items()]
        alone = self._database.insert_many(self._links, documents)
        again = edges.keys() - new if alone else edges.keys()
        self._change([({"_id": name}, link_change(edges[name])) for name in again])
        # Only now the last sighting is certain: operations of an unordered bulk must not depend on each
        # other.
        self._change(
            [
                ({"_id": name, "last": milliseconds(edge.last)}, {"$set": link_words(edge)})
                for name, edge in edges.items()
                if edge.target in known and link_words(known[edge.target]) != link_words(edge)
            ]
        )

    def last(self, url: str) -> tuple[datetime, list[str]] | None:
        return last_seen(self.of(url))

    def again(self, url: str, seen: datetime, when: datetime) -> None:
        page = page_id(url)
        those = {"_id": {"$gt": f"{page}-", "$lt": f"{page}."}, "last": milliseconds(seen)}
        self._database.update_all(self._links, those, {"$max": {"last": milliseconds(when)}})

    def _change(self, changes: list[tuple[Document, Document]]) -> None:
        self._database.update_many(self._links, changes)

    def all(self) -> Iterator[Edge]:
        return self._edges({})

    def of(self, url: str, after: str = "", limit: int | None = None) -> Iterator[Edge]:
        page = page_id(url)  # "." is the character after "-"
        start = link_id(url, after) if after else f"{page}-"
        return self._edges({"_id": {"$gt": start, "$lt": f"{page}."}}, limit)

    def to(self, url: str, after: str = "", limit: int | None = None) -> Iterator[Edge]:
        behind = {"_id": {"$gt": link_id(after, url)}} if after else {}
        return self._edges({"to": page_id(url), **behind}, limit)

    def sources(self, urls: Collection[str]) -> dict[str, str]:
        found = ((url, edge.source) for url in urls for edge in self.to(url, limit=2) if edge.source != url)
        return dict(reversed(list(found)))  # of two sources the first one stays

    def _edges(self, query: Document, limit: int | None = None) -> Iterator[Edge]:
        order: Order | None = [("_id", ASCENDING)] if limit else None
        yield from map(edge_of, self._database.whole(self._links, query, order, limit))


def link_id(source: str, target: str) -> str:
    """Return the id of a link: the ids of its two pages; the links of one source are a range of ids.

    >>> link_id("http://example.com/", "http://example.com/")
    '2a1b402420ef46577471cdc7409b0fa2-2a1b402420ef46577471cdc7409b0fa2'
    """
    return f"{page_id(source)}-{page_id(target)}"


def link_words(edge: Edge) -> Document:
    """Return the words of a link, with the checksum of the whole link."""
    words = {"anchor": edge.anchor, "role": edge.role, "kind": edge.kind}
    link = {"source": edge.source, "target": edge.target, **words}
    return {**words, "sum": document_checksum(link, *link)}


def link_document(edge: Edge) -> Document:
    """Return the document of a new link."""
    return {
        "source": edge.source,
        "target": edge.target,
        "to": page_id(edge.target),
        "first": milliseconds(edge.first),
        "last": milliseconds(edge.last),
        **link_words(edge),
    }


def link_change(edge: Edge) -> Document:
    """Return the change that stores a known link again; its words stay unchanged."""
    return {"$min": {"first": milliseconds(edge.first)}, "$max": {"last": milliseconds(edge.last)}}


def edge_of(document: Document) -> Edge:
    """Read a link."""
    return Edge(
        source=document["source"],
        target=document["target"],
        anchor=document["anchor"],
        role=document["role"],
        kind=document["kind"],
        first=moment(document["first"]),
        last=moment(document["last"]),
    )
