"""Crawls without a network: what links to what, the order of a best-first crawl, and its recall."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from random import Random

from webserver import Web

from archivebot.hypertext import read
from archivebot.models import Link
from archivebot.terms import terms

Score = Callable[[Link], float]


@dataclass(frozen=True, slots=True)
class Graph:
    """The pages of a web that can be reached from a seed, each with its links.

    A link to a variant of a page is one to the page; links that lead out of the web are kept.
    """

    web: Web
    seed: str
    links: dict[str, tuple[Link, ...]]

    @classmethod
    def of(cls, web: Web, seed: str) -> Graph:
        links: dict[str, tuple[Link, ...]] = {}
        waiting = [seed]
        while waiting:
            url = waiting.pop()
            if url not in links:
                links[url] = _links(web, url)
                waiting += [link.url for link in links[url] if link.url in web.pages]
        return cls(web, seed, links)

    def of_label(self, label: str) -> set[str]:
        """Give the reachable pages of a label."""
        return {url for url in self.links if self.web.pages[url].label == label}

    def walk(self, score: Score) -> Iterator[str]:
        """Give every URL in best-first order, as a crawl with one request at a time would fetch it.

        Of equal scores the URL found first comes first; a better link raises a URL that waits.
        """
        found = {self.seed: (0, float("inf"))}
        queue = [(-float("inf"), 0, self.seed)]
        fetched: set[str] = set()
        while queue:
            _, _, url = heappop(queue)
            if url in fetched:
                continue
            fetched.add(url)
            yield url
            for link in self.links.get(url, ()):
                number, best = found.setdefault(link.url, (len(found), -float("inf")))
                value = score(link)
                if link.url not in fetched and value > best:
                    found[link.url] = number, value
                    heappush(queue, (-value, number, link.url))


def _links(web: Web, url: str) -> tuple[Link, ...]:
    page = web.pages[url]
    if page.kind != "text/html":
        return ()
    # Windows-1252 accepts nearly any byte and was what pages of that time without a charset meant.
    found = read(page.body, "windows-1252", url).links
    targets = [(link, web.find(link.url)) for link in found]
    return tuple(replace(link, url=target.url) if target else link for link, target in targets)


def by_chance(seed: int) -> Score:
    """Give every URL a score by chance, the same in each run."""
    return lambda link: Random(f"{seed} {link.url}").random()


def by_keywords(words: Collection[str]) -> Score:
    """Count the words of a topic in the anchor and in the URL of a link, by their stems."""
    stems = {stem for word in words for stem in terms(word)}

    def score(link: Link) -> float:
        places = link.anchor.lower(), link.url.lower()
        return sum(stem in place for place in places for stem in stems)

    return score


def by_oracle(relevant: Collection[str]) -> Score:
    """Know of every link whether its target is on topic, and nothing of what lies behind."""
    return lambda link: float(link.url in relevant)


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
