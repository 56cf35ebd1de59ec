"""Simulated crawls without a network: the links, the order of a best-first crawl, and its recall."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from heapq import heappop, heappush
from itertools import count
from random import Random

from webserver import Stored, Web

from archivebot.hypertext import read
from archivebot.models import Link
from archivebot.text.terms import terms
from archivebot.topic.linkmodel import LinkModel, TrainingPage, train
from archivebot.topic.linkscore import Judged, LinkScorer
from archivebot.topic.training import Example
from archivebot.topic.tunnel import distance
from archivebot.urls import host_of

# Windows-1252 accepts nearly any byte and was what pages of that time without a charset meant.
ENCODING = "windows-1252"
INFINITY = float("inf")
EVEN = 0.5  # a page of at least this relevance is on topic

Order = Callable[[Example], Mapping[str, float]]
"""Takes note of a fetched page and gives the ranks of URLs that it changes, the highest first to fetch."""


@cache
def read_page(page: Stored) -> Example:
    """Read a page as a crawl does: HTML, and plain text, which has no title and no links."""
    if page.kind not in ("text/html", "application/xhtml+xml"):
        text = page.body.decode(ENCODING, "replace") if page.kind == "text/plain" else ""
        return Example(page.url, "", text)
    found = read(page.body, ENCODING, page.url, context=True)
    return Example(page.url, found.title, found.text, links=found.links)


@dataclass(frozen=True, slots=True)
class Limits:
    """Requests under way, in all and to a host, and by how much less a URL may rank than one that waits.

    At most ``fewest`` pages are under way, or a ``share`` of the pages answered so far if that is more.
    """

    requests: int = 1
    per_host: int = 1
    slack: float = 0.0
    fewest: int = 1
    share: float = 0.0

    def most(self, answered: int) -> int:
        """Return the maximum of requests under way after some answers."""
        return min(self.requests, max(self.fewest, int(self.share * answered)))


ONE = Limits()
Entry = tuple[float, int, str]  # minus the rank, the number in the order of finding, the URL


class Queue:
    """The URLs that wait, the best first; those of hosts with no request to spare are held back."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._numbers: dict[str, int] = {}
        self._ranks: dict[str, float] = {}
        self._waiting: defaultdict[str, list[Entry]] = defaultdict(list)
        self._heads: list[tuple[Entry, str]] = []
        self._led: dict[str, Entry] = {}
        self._busy: Counter[str] = Counter()

    def put(self, url: str, rank: float) -> None:
        """Queue a URL with a new rank, unless it was taken."""
        if url not in self._numbers or url in self._ranks:
            self._ranks[url] = rank
            host = _host(url)
            heappush(self._waiting[host], (-rank, self._numbers.setdefault(url, len(self._numbers)), url))
            self._lead(host)

    def take(self) -> str | None:
        """Take the best URL of a host that is free, unless a much better one is held back."""
        held = []
        found = None
        while self._heads and found is None:
            entry, host = heappop(self._heads)
            if self._head(host) != entry:
                continue
            if self._busy[host] >= self._limits.per_host:
                held.append((entry, host))
            elif held and held[0][0][0] + self._limits.slack < entry[0]:
                held.append((entry, host))
                break
            else:
                found = entry[2]
                heappop(self._waiting[host])
                del self._ranks[found]
                self._busy[host] += 1
                self._lead(host)
        for head in held:
            heappush(self._heads, head)
        return found

    def release(self, host: str) -> None:
        """Take note that a host has one request less under way."""
        self._busy[host] -= 1

    def _lead(self, host: str) -> None:
        """Put the best URL of a host among the best URLs of all hosts."""
        entry = self._head(host)
        if entry and entry != self._led.get(host):
            self._led[host] = entry
            heappush(self._heads, (entry, host))

    def _head(self, host: str) -> Entry | None:
        """Return the best entry of a host, without those whose URL has another rank by now."""
        heap = self._waiting[host]
        while heap and self._ranks.get(heap[0][2]) != -heap[0][0]:
            heappop(heap)
        return heap[0] if heap else None


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
        """Return the reachable pages of a label."""
        return {url for url in self.pages if self.web.pages[url].label == label}

    def walk(self, order: Order, limits: Limits = ONE) -> Iterator[str]:
        """Yield every URL in best-first order, as a crawl asks for it.

        The answers come in the order of the requests. Of equal ranks the URL found first comes first; a
        URL out of the web is a page without text and links.
        """
        queue = Queue(limits)
        queue.put(self.seed, INFINITY)
        asked: deque[str] = deque()
        for answered in count():
            while len(asked) < limits.most(answered) and (url := queue.take()):
                asked.append(url)
                yield url
            if not asked:
                return
            url = asked.popleft()
            queue.release(_host(url))
            for target, rank in order(self.pages.get(url) or Example(url, "", "")).items():
                queue.put(target, rank)


_host = cache(host_of)


def _resolved(web: Web, link: Link) -> Link:
    page = web.find(link.url)
    return replace(link, url=page.url) if page else link


def by_chance(seed: int) -> Order:
    """Rank every URL by chance, the same in each run."""
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


def by_scorer(scorer: LinkScorer, relevance: Callable[[Example], float], known: Container[str]) -> Order:
    """Rank as a focused crawl does, whose scorer learns from the relevance (0..1) of each page with text.

    All URLs that are not ``known`` are missing pages.
    """
    distances: dict[str, int] = {}
    fetched = count(1)

    def order(page: Example) -> Mapping[str, float]:
        judged = relevance(page) if page.title or page.text else None
        off_topic = distance(distances.get(page.source, 0), None if judged is None else judged >= EVEN)
        source = Judged(
            page.source,
            page.title,
            judged,
            missing=page.source not in known,
            distance=off_topic,
            order=next(fetched),
        )
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
    """Return the area under recall of the relevant pages over the fraction of the reachable ones fetched.

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
