"""Ranking: the most important pages, by the links in an archive."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from archivebot.archive import ArchiveReader
from archivebot.config import ArchiveConfig
from archivebot.exceptions import CorruptObject, NotArchived, UsageError
from archivebot.jobs.damage import Damaged, fail
from archivebot.jobs.examples import archived_example
from archivebot.jobs.partitions import over
from archivebot.storage.edges import Edge
from archivebot.text.terms import terms
from archivebot.topic.anchor import anchor_weight
from archivebot.topic.profile import TopicProfile
from archivebot.topic.relevance import PageScorer
from archivebot.topic.similarity import NEAR, Similarity
from archivebot.urls import Scope, host_of

if TYPE_CHECKING:
    from archivebot.links.graph import LinkGraph, Weights

METHODS = ("pagerank", "ipagerank", "hits", "arc", "relevance")
TOPICAL = ("ipagerank", "arc", "relevance")  # need a topic; the others may have one

DIGITS = 6  # of a score
MOST_NATS = 500.0  # beyond which exp overflows


@dataclass(frozen=True, slots=True)
class Ranked:
    """A ranked page, with the number of links to it and of the hosts that they come from."""

    rank: int
    url: str
    score: float
    in_links: int
    hosts: int


class Judged(NamedTuple):
    """A page and its relevance, as ln(1 + odds), or why it could not be read."""

    url: str
    nats: float
    reason: str = ""


def ranking(
    archive: ArchiveReader,
    method: str,
    profile: TopicProfile | None,
    top: int,
    *,
    external: bool = False,
    near: float = NEAR,
    config: ArchiveConfig | None = None,
    damaged: Damaged = fail,
) -> dict[str, list[Ranked]]:
    """Return the rankings of a method over the links of an archive, each with its best pages.

    Arguments as in :func:`best_pages`. With the ``config`` of the archive pages are read on all cores. A page
    that is read for its relevance, but cannot be, is passed to ``damaged``. Raises NotArchived without links,
    UsageError if the method needs a topic.
    """
    if method in TOPICAL and profile is None:
        raise UsageError(f"ranking by {method} needs a topic: give its name, or some words")
    if method == "relevance" and profile:
        return relevant_pages(archive, profile, top, external=external, config=config, damaged=damaged)
    topic = profile.similarity() if profile else Similarity()
    found = best_pages(archive.links.all(), method, topic, top, external=external, near=near)
    if found is None:
        raise NotArchived(f"{archive.uri} has no links yet: crawl or ingest some pages first")
    return found


def best_pages(
    edges: Iterable[Edge],
    method: str,
    topic: Similarity,
    top: int,
    *,
    external: bool = False,
    near: float = NEAR,
) -> dict[str, list[Ranked]] | None:
    """Return the rankings of a method, each with its best pages, or None without links.

    With ``external`` only links from one domain to another count. With a topic PageRank starts from the pages
    whose links contain its words, and HITS ranks these pages and their neighbours. A word counts as a word of
    the topic if its similarity is at least ``near``.
    """
    graph = graph_of(edges, weight_of(method, topic, near))
    if not len(graph):
        return None
    if external:
        graph = graph.external(domain)
    found = rank(graph, method, topical=bool(topic.similarities))
    return {name: list(best(part, values, top)) for name, part, values in found}


def relevant_pages(
    archive: ArchiveReader,
    profile: TopicProfile,
    top: int,
    *,
    external: bool = False,
    config: ArchiveConfig | None = None,
    damaged: Damaged = fail,
) -> dict[str, list[Ranked]]:
    """Return the best pages by relevance times PageRank.

    The value of a page is ln(1 + odds) (1 + level): its odds to be on topic by its title and main text, and
    the logarithm of its PageRank, so that a large rank does not outweigh the text.
    """
    from archivebot.links.graph import LinkGraph
    from archivebot.links.pagerank import levels, pagerank

    urls = archive.visits.pages(None, partial(damaged, "a page"))
    nats: dict[str, float] = {}
    for page in chain.from_iterable(over(archive, partial(judge, profile=profile), urls, config)):
        if page.reason:
            damaged(page.url, CorruptObject(page.reason))
        else:
            nats[page.url] = page.nats
    graph = LinkGraph.of(((edge.source, edge.target, 1.0) for edge in archive.links.all()), nats)
    if external:
        graph = graph.external(domain)
    found = zip(graph.urls, levels(pagerank(graph)).tolist(), strict=True)
    values = [round(nats.get(url, 0.0) * (1.0 + level), DIGITS) for url, level in found]
    return {"pages": list(best(graph, values, top))}


def judge(archive: ArchiveReader, urls: Sequence[str], profile: TopicProfile) -> list[Judged]:
    """Return the relevance of one part of the pages, without pages that have no word of the topic."""
    scorer = PageScorer(profile)
    found = []
    for url in urls:
        try:
            page = archived_example(archive, url)
        except CorruptObject as error:
            found.append(Judged(url, 0.0, str(error)))
            continue
        judged = scorer.score(page.title, page.text) if page else None
        if judged and judged.terms:
            found.append(Judged(url, math.log1p(math.exp(min(judged.log_odds, MOST_NATS)))))
    return found


def graph_of(edges: Iterable[Edge], weight: Callable[[Edge], float]) -> LinkGraph:
    """Return the graph of the links of an archive."""
    from archivebot.links.graph import LinkGraph

    return LinkGraph.of((edge.source, edge.target, weight(edge)) for edge in edges)


def weight_of(method: str, topic: Similarity, near: float) -> Callable[[Edge], float]:
    """Return the function that computes the weight of a link for a method."""
    if method == "ipagerank":
        return lambda edge: topic.weight(terms(edge.anchor), near)
    if method == "arc" or topic.similarities:
        words = {term for term, similarity in topic.similarities.items() if similarity >= near}
        return lambda edge: anchor_weight(edge.anchor, words)
    return lambda edge: 1.0


def rank(graph: LinkGraph, method: str, *, topical: bool = False) -> Iterator[tuple[str, LinkGraph, Weights]]:
    """Yield the lists of a method: the name, the graph that was ranked, and the values of its nodes.

    ``topical`` is whether the weights count words of a topic, for the methods that do not need a topic.
    """
    from archivebot.links.arc import arc, augmented_set, root_set
    from archivebot.links.hits import base_set, hits

    if method in ("pagerank", "ipagerank"):
        if graph.matrix.data.any():
            yield "pages", graph, _walked(graph, method, topical)
        return
    if method == "arc":
        graph = augmented_set(graph, root_set(graph))
    elif topical:
        graph = base_set(graph, root_set(graph)).unweighted()
    found = arc(graph) if method == "arc" else hits(graph)
    yield "authorities", graph, found.authorities
    yield "hubs", graph, found.hubs


def _walked(graph: LinkGraph, method: str, topical: bool) -> Weights:
    """Return the ranks of the pages; all are 0 if no link contains a word of the topic."""
    from archivebot.links.arc import named
    from archivebot.links.ipagerank import ipagerank
    from archivebot.links.pagerank import pagerank

    if method == "ipagerank":
        return ipagerank(graph)
    if not topical:
        return pagerank(graph)
    starts = named(graph)
    towards = {url: start for url, start in zip(graph.urls, starts.tolist(), strict=True) if start}
    return pagerank(graph.unweighted(), towards=towards) if towards else starts


def best(graph: LinkGraph, values: Weights | Sequence[float], top: int) -> Iterator[Ranked]:
    """Yield the nodes with the highest values, except 0."""
    links, hosts = graph.in_links(), graph.linking_sites(host_of)
    order = sorted(range(len(graph)), key=lambda node: (-values[node], graph.urls[node]))
    for place, node in enumerate(order[:top], 1):
        if values[node] > 0:
            yield Ranked(
                rank=place,
                url=graph.urls[node],
                score=round(float(values[node]), DIGITS),
                in_links=int(links[node]),
                hosts=int(hosts[node]),
            )


def domain(url: str) -> str:
    """Return the registrable domain of a URL."""
    return next(iter(Scope.from_seeds([url], "domain").sites))
