"""What a focused crawl fetches first: the best links, breadth first, or by PageRank or IPageRank."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from archivebot.models import Link
from archivebot.topic.linkscore import LinkScore, LinkScorer, SourceView

LinkOrder = Callable[[Link], LinkScore]

DAMPING = 0.85

# A link that promises e times less than one whose host is busy waits with it.
SLACK = 1.0


@dataclass(frozen=True, slots=True)
class Judged:
    """A fetched page and what the filter says of it.

    ``relevance`` is None where it has no text to judge. ``distance`` counts the off-topic pages in a row
    up to this one, with it; ``depth`` the links from the seed, ``order`` the fetches of the crawl.
    """

    url: str
    title: str
    relevance: float | None
    relevant: bool | None
    distance: int
    depth: int
    order: int


class Order(Protocol):
    """A way to choose what is fetched next.

    ``slack`` is how much less than the best a URL may score that is fetched while the host of the best
    is busy; None where the next host is always taken.
    """

    slack: float | None

    def page(self, page: Judged, links: Sequence[Link]) -> LinkOrder:
        """Take note of a fetched page with all its links; give the function that scores each link."""

    def news(self) -> Mapping[str, float]:
        """Give new ranks of URLs that may be queued, where the pages of late changed them."""


class BestFirst:
    """The link that promises most goes first."""

    slack: float | None = SLACK

    def __init__(self, scorer: LinkScorer) -> None:
        self._scorer = scorer

    def page(self, page: Judged, links: Sequence[Link]) -> LinkOrder:
        source = SourceView(page.url, page.title, page.relevance, page.distance, page.order)
        scores = self._scorer.page(source, links)
        return lambda link: scores[link.url]

    def news(self) -> Mapping[str, float]:
        return self._scorer.news()


class BreadthFirst:
    """Nearer to the seed goes first."""

    slack: float | None = None

    def page(self, page: Judged, links: Sequence[Link]) -> LinkOrder:
        rank = -float(page.depth + 1)
        score = LinkScore(1.0, rank, lambda: {"depth": rank})
        return lambda _: score

    def news(self) -> Mapping[str, float]:
        return {}


class RankOrder:
    """The rank that a URL has in the graph of the pages fetched so far goes first.

    ``weight`` says what a link counts: always 1 for PageRank, RW for IPageRank. Between two
    computations, one after every ``every`` pages, a link adds to its target what the page passes on.
    The graph is held in memory.
    """

    slack: float | None = None

    def __init__(self, weight: Callable[[Link], float], every: int) -> None:
        self._weight, self._every = weight, every
        self._edges: list[tuple[str, str, float]] = []
        self._ranks: dict[str, float] = {}
        self._fetched: set[str] = set()
        self._moved: set[str] = set()

    def page(self, page: Judged, links: Sequence[Link]) -> LinkOrder:
        self._fetched.add(page.url)
        weights = {link.url: self._weight(link) for link in links}
        self._edges.extend((page.url, url, weight) for url, weight in weights.items())
        total, own = sum(weights.values()), self._ranks.get(page.url, 1.0)
        for url, weight in weights.items():
            passed = DAMPING * own * weight / total if total else 0.0
            self._ranks[url] = self._ranks.get(url, 1 - DAMPING) + passed
        self._moved.update(weights)
        return self._score

    def _score(self, link: Link) -> LinkScore:
        rank = self._ranks[link.url]
        return LinkScore(1.0, rank, lambda: {"rank": rank})

    def news(self) -> Mapping[str, float]:
        if self._fetched and not len(self._fetched) % self._every:
            self._compute()
        moved, self._moved = self._moved - self._fetched, set()
        return {url: self._ranks[url] for url in moved}

    def _compute(self) -> None:
        from archivebot.links.graph import LinkGraph
        from archivebot.links.ipagerank import ipagerank

        graph = LinkGraph.of(self._edges)
        self._ranks = dict(zip(graph.urls, map(float, ipagerank(graph, damping=DAMPING)), strict=True))
        self._moved.update(graph.urls)
