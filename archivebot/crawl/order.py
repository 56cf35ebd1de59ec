"""What a focused crawl fetches first: breadth first, or by PageRank or IPageRank of what is known so far."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from archivebot.models import Link

Parts = dict[str, float]
LinkOrder = Callable[[Link], tuple[float, Parts]]

DAMPING = 0.85


@dataclass(frozen=True, slots=True)
class Judged:
    """A fetched page and what the filter says of it.

    ``source`` is the URL of the page that led to it, ``score`` that of its link; ``relevance`` is None
    where it has no text to judge. ``distance`` counts the off-topic pages in a row up to this one, with
    it; ``depth`` the links from the seed; ``evidence`` is the link that led to it, where it is known.
    """

    url: str
    source: str
    score: float
    relevance: float | None
    relevant: bool | None
    log_odds: float
    distance: int
    depth: int
    title: str = field(default="", repr=False)
    text: str = field(default="", repr=False)


class Order(Protocol):
    """A way to choose what is fetched next."""

    def page(self, page: Judged, links: Sequence[Link]) -> LinkOrder:
        """Take note of a fetched page with all its links; give the function that scores each link.

        The score ranks, higher first; its parts say how it came about.
        """

    def news(self) -> Mapping[str, float]:
        """Give new scores of URLs that may be queued, where the pages of late changed them."""


class BreadthFirst:
    """Nearer to the seed goes first."""

    def page(self, page: Judged, links: Sequence[Link]) -> LinkOrder:
        score = -float(page.depth + 1)
        return lambda _: (score, {"depth": score})

    def news(self) -> Mapping[str, float]:
        return {}


class RankOrder:
    """The rank that a URL has in the graph of the pages fetched so far goes first.

    ``weight`` says what a link counts: always 1 for PageRank, RW for IPageRank. Between two
    computations, one after every ``every`` pages, a link adds to its target what the page passes on.
    The graph is held in memory.
    """

    def __init__(self, weight: Callable[[Link], float], every: int) -> None:
        self._weight, self._every = weight, every
        self._edges: list[tuple[str, str, float]] = []
        self._ranks: dict[str, float] = {}
        self._fetched: set[str] = set()

    def page(self, page: Judged, links: Sequence[Link]) -> LinkOrder:
        self._fetched.add(page.url)
        weights = {link.url: self._weight(link) for link in links}
        self._edges.extend((page.url, url, weight) for url, weight in weights.items())
        total, own = sum(weights.values()), self._ranks.get(page.url, 1.0)
        for url, weight in weights.items():
            passed = DAMPING * own * weight / total if total else 0.0
            self._ranks[url] = self._ranks.get(url, 1 - DAMPING) + passed
        return lambda link: (
            self._ranks.get(link.url, 0.0),
            {"rank": self._ranks.get(link.url, 0.0), "weight": weights.get(link.url, 0.0)},
        )

    def news(self) -> Mapping[str, float]:
        if not self._fetched or len(self._fetched) % self._every:
            return {}
        from archivebot.links.graph import LinkGraph
        from archivebot.links.ipagerank import ipagerank

        graph = LinkGraph.of(self._edges)
        self._ranks = dict(zip(graph.urls, map(float, ipagerank(graph, damping=DAMPING)), strict=True))
        return {url: rank for url, rank in self._ranks.items() if url not in self._fetched}
