"""Learning while crawling: a link model that learns from the pages that its choices led to."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from archivebot.topic.hostworth import HostWorth
from archivebot.topic.linkmodel import SOURCE, LinkModel
from archivebot.topic.logistic import probability
from archivebot.urls import host_of

# Change of the log-odds of a link by the page that it led to, for an error of 1, if nothing was learnt
# before. Area on WebKB, the topic given by five words: 0.813 with 2, 0.824 with 5, 0.835 with 10 and 0.769
# with 20; from 10 on some topics are lost.
RATE = 5.0

# The same for a link to a missing page. Its words are seldom the reason: with the rate of other pages the
# area falls from 0.824 to 0.799; with a rate of 0, 500 fetches of each of 12 crawls yield 420 pages on topic,
# not 491.
RATE_MISSING = 0.3

# Number of training links that weigh as much as the pages of the crawl: a model learnt from 4,500 moves by a
# tenth.
EQUAL = 500

# The share of fetches that take the oldest waiting URL while no page is on topic, and the nats that put it
# first: a lost crawl returns to URLs that it skipped. Simulated on a web of 60 sites, four requests at a
# time, two topics of 20 and 20 labelled pages have 0.48 of their pages on topic after R/2 fetches with 0,
# 0.96 with 0.05 and 0.93 with 0.2; four topics of words have 0.94, 0.92 and 0.84.
EXPLORE = 0.05
FIRST = 30.0

# Maximum of waiting URLs that are remembered, to learn from them and to score them again. The oldest are
# forgotten and keep their score.
MOST_REMEMBERED = 5000

# Pages after which all remembered URLs are scored again. Otherwise early and late links have scores by
# different weights, and learning makes the order worse: 0.785 for 0.842 with a rate of 2.
EVERY = 50

# Maximum of links to one URL that are judged: area on WebKB 0.886 with 5 and with all. A page of a site links
# to a hundred others that all of its pages link to.
MOST_LINKS = 5

# Minimum change of a rank, in nats, that is reported: the rank of a menu changes with every page.
NEWS = 0.05

# All remembered URLs are scored again and again.
_host_of = lru_cache(maxsize=2 * MOST_REMEMBERED)(host_of)


@dataclass(slots=True)
class Waiting:
    """A URL that waits for its fetch, with the worth of the links to it.

    ``terms`` and ``relevance`` (of the linking page) belong to the first link, ``log_odds`` is its last
    score; ``total`` sums the log-odds of all ``links``. ``added`` and the worth of the ``host`` are added to
    their mean in the rank; ``turn`` is 1 if the URL goes first because of its age. ``reported`` is the rank
    that was last reported, ``fetched`` whether the URL has been fetched.
    """

    terms: Sequence[str]
    relevance: float
    log_odds: float
    added: float
    host: float = 0.0
    turn: int = 0
    total: float = 0.0
    links: int = 0
    reported: float = math.inf
    fetched: bool = False

    @property
    def worth(self) -> float:
        """The mean worth of the links, in nats."""
        return self.total / (self.links or 1)

    @property
    def rank(self) -> float:
        """The worth of the links, and the additions."""
        return self.worth + self.added + self.host + FIRST * self.turn


class Learner:
    """Updates the weights of a link model with each fetched page.

    Each page moves the weights of the terms of its link by a step of stochastic gradient descent on the cross
    entropy, scaled by the number of terms (Widrow, Hoff, "Adaptive Switching Circuits", 1960, with a
    normalised step). The worth of a page is its relevance alone: the promise of its links comes from the
    model itself, and a dense site would reward itself. ``by_host`` adds the worth of the host. The state of
    the learner is the weights: ``model.as_dict()``.
    """

    def __init__(
        self, model: LinkModel, most: int = MOST_REMEMBERED, every: int = EVERY, *, by_host: bool = False
    ) -> None:
        self._weights = dict(model.weights)
        self.model = LinkModel(model.bias, self._weights, model.links)
        self._most, self._every = most, every
        self._waiting: dict[str, Waiting] = {}
        self._moved: set[str] = set()
        self._hosts = HostWorth() if by_host else None
        self._pages = 0
        self._owed = 0.0

    def expect(
        self, url: str, terms: Sequence[str], relevance: float, log_odds: float, added: float
    ) -> Waiting:
        """Remember a link to a URL that may be fetched, and return the state of that URL.

        ``added`` counts only for the first link, since when the URL has waited.
        """
        waiting = self._waiting.get(url)
        if waiting is None:
            waiting = self._remember(url, Waiting(terms, relevance, log_odds, added, self._of_host(url)))
        else:
            self._moved.add(url)
        waiting.total += log_odds
        waiting.links += 1
        if waiting.links == 1:
            waiting.reported = waiting.rank
        return waiting

    def settled(self, url: str) -> Waiting | None:
        """Return the state of a URL that no further link changes: fetched, or linked to often enough."""
        waiting = self._waiting.get(url)
        if waiting is None or not (waiting.fetched or waiting.links >= MOST_LINKS):
            return None
        return waiting

    def waiting(self, url: str) -> Waiting | None:
        """Return the state of a linked URL, or None."""
        found = self._waiting.get(url)
        return found if found and found.links else None

    def fetched(self, url: str, relevance: float | None, *, missing: bool = False) -> None:
        """Learn from a page by its relevance (0..1).

        A ``missing`` page is worth nothing; nothing is learnt from other pages that could not be judged.
        """
        self._pages += 1
        if self._hosts:
            self._hosts.add(host_of(url), relevance)
        self._owed += 0.0 if missing else EXPLORE * (1.0 - (relevance or 0.0))
        link = self._waiting.get(url) or self._remember(url, Waiting((), 0.0, 0.0, 0.0))
        link.fetched = True
        if not link.terms or (relevance is None and not missing):
            return
        expected = probability(self.model.log_odds(link.terms, link.relevance))
        error = (relevance or 0.0) - expected
        rate = RATE_MISSING if missing else RATE
        step = rate * EQUAL / (EQUAL + self.model.links) * error / len(link.terms)
        for term in link.terms:
            self._weights[term] = self._weights.get(term, 0.0) + step
        self._weights[SOURCE] = self._weights.get(SOURCE, 0.0) + step * link.relevance

    def news(self) -> Mapping[str, float]:
        """Return new ranks: of URLs with new links, and periodically of all remembered URLs."""
        if self._pages % self._every == 0:
            self._score_anew()
        self._explore()
        moved, self._moved = self._moved, set()
        news = {}
        for url in moved:
            waiting = self._waiting.get(url)
            if waiting and not waiting.fetched:
                rank = waiting.rank
                if abs(rank - waiting.reported) > NEWS:
                    news[url] = waiting.reported = rank
        return news

    def worth(self, waiting: Waiting) -> float:
        """Return the worth of the links to a URL by the current weights, in nats."""
        return waiting.worth + self.model.log_odds(waiting.terms, waiting.relevance) - waiting.log_odds

    def _of_host(self, url: str) -> float:
        return self._hosts.of(_host_of(url)) if self._hosts else 0.0

    def _explore(self) -> None:
        """Put the oldest waiting URLs first, as many as the off-topic pages so far allow."""
        oldest = (item for item in self._waiting.items() if not item[1].fetched and not item[1].turn)
        while self._owed >= 1.0 and (found := next(oldest, None)):
            url, waiting = found
            waiting.turn = 1
            self._owed -= 1.0
            self._moved.add(url)

    def _score_anew(self) -> None:
        for url, waiting in self._waiting.items():
            if not waiting.fetched:
                log_odds = self.model.log_odds(waiting.terms, waiting.relevance)
                waiting.total = (waiting.worth + log_odds - waiting.log_odds) * waiting.links
                waiting.log_odds = log_odds
                waiting.host = self._of_host(url)
                self._moved.add(url)

    def _remember(self, url: str, waiting: Waiting) -> Waiting:
        self._waiting[url] = waiting
        if len(self._waiting) > self._most:
            del self._waiting[next(iter(self._waiting))]
        return waiting
