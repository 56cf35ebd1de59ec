"""The order of a focused crawl: by link score, linear priority, breadth first, or rank."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from archivebot.models import Link
from archivebot.text.terms import terms
from archivebot.text.urltokens import url_tokens
from archivebot.topic.linkscore import Judged, LinkScore, LinkScorer
from archivebot.topic.priority import INITIAL, Evidence, Weights, parts
from archivebot.topic.vectors import Vector, dot
from archivebot.urls import host_of

LinkOrder = Callable[[Link], LinkScore]

DAMPING = 0.85

# Difference in nats up to which a link is fetched instead of a better one whose host is busy. Area on WebKB
# by training pages: 0.886 with 1 and 0.889 with 0.3; by five words, learning with a rate of 2, 0.800 and
# 0.814, and 0.817 with 0.1. The smaller it is, the more often a crawl of many hosts waits for one of them.
SLACK = 0.3


class Order(Protocol):
    """A way to choose what is fetched next.

    While the host of the best URL is busy, a URL whose score is lower by at most ``slack`` may be fetched.
    None: the next host is always taken. ``learns`` is whether fetched pages change the scores.
    """

    slack: float | None
    learns: bool

    def page(self, page: Judged, links: Sequence[Link]) -> LinkOrder:
        """Note a fetched page with all its links; return the function that scores each link."""

    def news(self) -> Mapping[str, float]:
        """Return the new ranks of URLs that may be queued, if the latest pages changed them."""

    def chance(self, url: str) -> float | None:
        """Return the current chance (0..1) that a URL leads to the topic; None if unknown."""


class BestFirst:
    """Fetches the link with the highest score first."""

    slack: float | None = SLACK
    learns = True

    def __init__(self, scorer: LinkScorer) -> None:
        self._scorer = scorer

    def page(self, page: Judged, links: Sequence[Link]) -> LinkOrder:
        scores = self._scorer.page(page, links)
        return lambda link: scores[link.url]

    def news(self) -> Mapping[str, float]:
        return self._scorer.news()

    def chance(self, url: str) -> float | None:
        return self._scorer.chance(url)


class Linear:
    """Fetches the URL with the highest sum of known features first; the crawl learns nothing.

    The number of hosts that link to it grows as they are found; all other features are from the first link.
    """

    slack: float | None = None
    learns = False

    def __init__(self, topic: Vector, weights: Weights) -> None:
        self._topic, self._weights = topic, weights
        self._found: dict[str, tuple[set[str], float, float]] = {}  # hosts, parent, topic
        self._moved: set[str] = set()

    def page(self, page: Judged, links: Sequence[Link]) -> LinkOrder:
        parent = INITIAL if page.relevance is None else page.relevance
        host = host_of(page.url)
        for link in links:
            if link.url not in self._found:
                counts = Counter([*terms(link.anchor), *url_tokens(link.url)])
                self._found[link.url] = ({host}, parent, max(0.0, dot(self._topic, counts)))
            elif host not in self._found[link.url][0]:
                self._found[link.url][0].add(host)
                self._moved.add(link.url)
        return lambda link: self._score(link.url)

    def _score(self, url: str) -> LinkScore:
        hosts, parent, topic = self._found[url]
        found = parts(Evidence.of(url, len(hosts), parent, topic), self._weights)
        return LinkScore(1.0, sum(found.values()), lambda: found)

    def news(self) -> Mapping[str, float]:
        moved, self._moved = self._moved, set()
        return {url: self._score(url).rank for url in moved}

    def chance(self, url: str) -> None:
        """Return None: this order does not compute chances."""


class BreadthFirst:
    """Fetches the URL nearest to a seed first."""

    slack: float | None = None
    learns = False

    def page(self, page: Judged, links: Sequence[Link]) -> LinkOrder:
        rank = -float(page.depth + 1)
        score = LinkScore(1.0, rank, lambda: {"depth": rank})
        return lambda _: score

    def news(self) -> Mapping[str, float]:
        return {}

    def chance(self, url: str) -> None:
        """Return None: this order does not compute chances."""


class RankOrder:
    """Fetches the URL with the highest rank in the graph of the pages fetched so far first.

    ``weight`` returns the weight of a link: always 1 for PageRank, RW for IPageRank. Ranks are computed after
    every ``every`` pages; in between, each link adds the rank that its page passes on to its target. The
    graph is kept in memory.
    """

    slack: float | None = None
    learns = False

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
        return LinkScore(self._weight(link), rank, lambda: {"rank": rank})

    def news(self) -> Mapping[str, float]:
        if self._fetched and not len(self._fetched) % self._every:
            self._compute()
        moved, self._moved = self._moved - self._fetched, set()
        return {url: self._ranks[url] for url in moved}

    def chance(self, url: str) -> None:
        """Return None: this order does not compute chances."""

    def _compute(self) -> None:
        from archivebot.links.graph import LinkGraph
        from archivebot.links.ipagerank import ipagerank

        graph = LinkGraph.of(self._edges)
        self._ranks = dict(zip(graph.urls, map(float, ipagerank(graph, damping=DAMPING)), strict=True))
        self._moved.update(graph.urls)
