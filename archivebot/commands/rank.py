"""scrapy rank: which pages matter, by the links that the archive keeps."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from archivebot.archive import Archive
from archivebot.cli import ArchiveCommand, print_json, print_table
from archivebot.exceptions import NotArchived, UsageError
from archivebot.storage.base import Edge
from archivebot.text.terms import terms
from archivebot.topic.anchor import window_weight
from archivebot.topic.similarity import THRESHOLD, Similarity
from archivebot.topic.training import profile_of
from archivebot.urls import Scope, host_of

if TYPE_CHECKING:
    from archivebot.links.graph import LinkGraph, Weights

METHODS = ("pagerank", "ipagerank", "hits", "arc")
TOPICAL = ("ipagerank", "arc")


class Command(ArchiveCommand):
    """Rank pages by the links between them"""

    least, most = 0, 0
    explanation = "Pages that were never fetched are ranked, too."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--by", choices=METHODS, default="pagerank", help="the method (%(default)s)")
        parser.add_argument("--top", type=int, default=20, metavar="N", help="how many pages (%(default)s)")
        parser.add_argument("--topic", help="what ipagerank and arc look for, a name or some words")
        parser.add_argument("--external", action="store_true", help="only links from domain to domain")

    def answer(self, archive: Archive, args: list[str], opts: argparse.Namespace) -> int:
        if opts.top < 1:
            raise UsageError(f"--top is {opts.top}: give a number from 1 on")
        if (opts.by in TOPICAL) != bool(opts.topic):
            raise UsageError("--topic belongs to --by ipagerank and --by arc, which need it")
        graph = graph_of(archive.links.all(), weight_of(opts.by, self._topic(opts.topic)))
        if not len(graph):
            raise NotArchived(f"{archive.uri} has no links yet: crawl first; what was ingested brought none")
        if opts.external:
            graph = graph.external(domain)
        lists = {name: list(best(part, values, opts.top)) for name, part, values in rank(graph, opts.by)}
        if not any(lists.values()):
            advice = "without --external" if opts.external else "other words"
            raise NotArchived(f"no link in {archive.uri} counts: try {advice}")
        if opts.json:
            print_json({"by": opts.by, **lists})
            return 0
        for name, records in lists.items():
            head = ["rank", "score", "in_links", "hosts", "url"]
            print_table([*head[:-1], name], [[record[column] for column in head] for record in records])
        return 0

    def _topic(self, text: str | None) -> Similarity:
        """Give how similar words are to a topic, given by its name or by words; without one none is."""
        return profile_of(text, self.topics).similarity() if text else Similarity()


def graph_of(edges: Iterable[Edge], weight: Callable[[Edge], float]) -> LinkGraph:
    """Make the graph of the links of an archive."""
    from archivebot.links.graph import LinkGraph

    return LinkGraph.of((edge.source, edge.target, weight(edge)) for edge in edges)


def weight_of(method: str, topic: Similarity) -> Callable[[Edge], float]:
    """Give what a link counts for a method; of the text around it the archive keeps the anchor only."""
    if method == "ipagerank":
        return lambda edge: topic.weight(terms(edge.anchor))
    if method == "arc":
        near = {term for term, similarity in topic.similarities.items() if similarity >= THRESHOLD}
        return lambda edge: window_weight(edge.anchor, "", "", near)
    return lambda edge: 1.0


def rank(graph: LinkGraph, method: str) -> Iterator[tuple[str, LinkGraph, Weights]]:
    """Give the lists that a method makes: its name, the graph it was made of, the values of the nodes."""
    if method in ("pagerank", "ipagerank"):
        from archivebot.links.ipagerank import ipagerank
        from archivebot.links.pagerank import pagerank

        if graph.matrix.data.any():
            yield "pages", graph, pagerank(graph) if method == "pagerank" else ipagerank(graph)
        return
    from archivebot.links.arc import arc, augmented_set, root_set
    from archivebot.links.hits import hits

    if method == "arc":
        graph = augmented_set(graph, root_set(graph))
    found = arc(graph) if method == "arc" else hits(graph)
    yield "authorities", graph, found.authorities
    yield "hubs", graph, found.hubs


def best(graph: LinkGraph, values: Weights, top: int) -> Iterator[dict[str, Any]]:
    """Give the nodes of the highest values, none of value 0."""
    links, hosts = graph.in_links(), graph.linking_sites(host_of)
    order = sorted(range(len(graph)), key=lambda node: (-values[node], graph.urls[node]))
    for place, node in enumerate(order[:top], 1):
        if values[node] > 0:
            yield {
                "rank": place,
                "url": graph.urls[node],
                "score": round(float(values[node]), 6),
                "in_links": int(links[node]),
                "hosts": int(hosts[node]),
            }


def domain(url: str) -> str:
    """Give the registrable domain of a URL."""
    return next(iter(Scope.from_seeds([url], "domain").sites))
