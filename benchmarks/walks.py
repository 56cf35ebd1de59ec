"""Crawls without a network: what links to what, the order of a best-first crawl, and its recall."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from heapq import heappop, heappush
from itertools import count
from random import Random

from webserver import Stored, Web

from archivebot.hypertext import read
from archivebot.models import Link
from archivebot.terms import terms
from archivebot.topic.linkmodel import LinkModel, TrainingPage, train
from archivebot.topic.linkscore import LinkScorer, SourceView
from archivebot.topic.training import Example
from archivebot.topic.tunnel import distance

# Windows-1252 accepts nearly any byte and was what pages of that time without a charset meant.
ENCODING = "windows-1252"
INFINITY = float("inf")
EVEN = 0.5  # a page of at least this relevance is on topic

Order = Callable[[Example], Mapping[str, float]]
"""Takes note of a fetched page and gives the ranks of URLs that it changes, the highest first to fetch."""


@cache
def read_page(page: Stored) -> Example:
    """Read a page as a crawl does: only HTML has a title and links."""
    if page.kind != "text/html":
        return Example(page.url, "", page.body.decode(ENCODING, "replace"))
    found = read(page.body, ENCODING, page.url, context=True)
    return Example(page.url, found.title, found.text, links=found.links)


@dataclass(frozen=True, slots=True)
class Graph:
    """The pages of a web that can be reached from a seed, each with its links.

    A link to a variant of a page is one to the page; links that lead out of the web are kept.
    """

    web: Web
    seed: str
    pages: dict[str, Example]

    @classmethod
    def of(cls, web: Web, seed: str) -> Graph:
        pages: dict[str, Example] = {}
        waiting = [seed]
        while waiting:
            url = waiting.pop()
            if url not in pages:
                page = read_page(web.pages[url])
                pages[url] = replace(page, links=tuple(_resolved(web, link) for link in page.links))
                waiting += [link.url for link in pages[url].links if link.url in web.pages]
        return cls(web, seed, pages)

    def of_label(self, label: str) -> set[str]:
        """Give the reachable pages of a label."""
        return {url for url in self.pages if self.web.pages[url].label == label}

    def walk(self, order: Order, flight: int = 1) -> Iterator[str]:
        """Give every URL in best-first order, as a crawl asks for it with so many requests in flight.

        The answers come in the order of the requests. Of equal ranks the URL found first comes first; a
        URL out of the web is a page without text and links.
        """
        numbers = {self.seed: 0}
        waiting = {self.seed: INFINITY}
        queue = [(-INFINITY, 0, self.seed)]
        asked: deque[str] = deque()
        while queue or asked:
            while queue and len(asked) < flight:
                rank, _, url = heappop(queue)
                if waiting.get(url) == -rank:
                    del waiting[url]
                    asked.append(url)
                    yield url
            if not asked:
                return
            url = asked.popleft()
            for target, rank in order(self.pages.get(url) or Example(url, "", "")).items():
                if target not in numbers or target in waiting:
                    waiting[target] = rank
                    heappush(queue, (-rank, numbers.setdefault(target, len(numbers)), target))


def _resolved(web: Web, link: Link) -> Link:
    page = web.find(link.url)
    return replace(link, url=page.url) if page else link


def by_chance(seed: int) -> Order:
    """Give every URL a rank by chance, the same in each run."""
    return _by_best(lambda link: Random(f"{seed} {link.url}").random())


def by_keywords(words: Collection[str]) -> Order:
    """Count the words of a topic in the anchor and in the URL of a link, by their stems."""
    stems = {stem for word in words for stem in terms(word)}

    def score(link: Link) -> float:
        places = link.anchor.lower(), link.url.lower()
        return sum(stem in place for place in places for stem in stems)

    return _by_best(score)


def by_oracle(relevant: Collection[str]) -> Order:
    """Know of every link whether its target is on topic, and nothing of what lies behind."""
    return _by_best(lambda link: float(link.url in relevant))


def _by_best(score: Callable[[Link], float]) -> Order:
    """Rank a URL by the best of the links to it found so far."""
    best: dict[str, float] = {}

    def order(page: Example) -> Mapping[str, float]:
        for link in page.links:
            best[link.url] = max(score(link), best.get(link.url, -INFINITY))
        return {link.url: best[link.url] for link in page.links}

    return order


def by_scorer(scorer: LinkScorer, relevance: Callable[[Example], float]) -> Order:
    """Rank as a focused crawl does, whose scorer learns from the relevance (0..1) of each page with text."""
    distances: dict[str, int] = {}
    fetched = count(1)

    def order(page: Example) -> Mapping[str, float]:
        judged = relevance(page) if page.title or page.text else None
        off_topic = distance(distances.get(page.source, 0), None if judged is None else judged >= EVEN)
        source = SourceView(page.source, page.title, judged, off_topic, next(fetched))
        scores = scorer.page(source, page.links)
        found = {url: score.rank for url, score in scores.items() if url not in distances}
        distances.update(dict.fromkeys(found, off_topic))
        return {**found, **scorer.news()}

    return order


def trained(pages: Iterable[Stored], topic: str) -> LinkModel:
    """Learn from the links among labelled pages what leads to one label."""
    labelled = [(page.label == topic, read_page(page)) for page in pages]
    model = train([TrainingPage(page.source, page.title, on, page.links) for on, page in labelled])
    assert model is not None
    return model


def recall_area(order: Iterable[str], reachable: Collection[str], relevant: Collection[str]) -> float:
    """Give the area under recall of the relevant pages over the fraction of the reachable ones fetched.

    Only reachable pages count, each once; what a crawl leaves unfetched counts as fetched without
    effect. 0.5 is what chance gives, 1 is out of reach.

    >>> recall_area("abcd", "abcd", "ab"), recall_area("cdab", "abcd", "ab"), recall_area("a", "abcd", "ab")
    (0.75, 0.25, 0.4375)
    """
    area, found, left = 0.0, 0, len(reachable)
    for url in dict.fromkeys(order):
        if url in reachable:
            hit = url in relevant
            area += found + hit / 2
            found, left = found + hit, left - 1
    return (area + found * left) / (len(reachable) * len(relevant))
