"""The judge of a crawl: judges a page also by the other pages of the crawl."""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass

from archivebot.topic.background import Met
from archivebot.topic.profile import TopicProfile
from archivebot.topic.relevance import PageScorer, PageText, Relevance, counted, match
from archivebot.urls import site_of

# Maximum share of the site in the judgement of a page, and the number of judged pages at which the share is
# half of that. In simulated crawls of a web of 60 sites (nine topics of twelve words) the share of pages on
# topic after R/2 and R fetches is 0.88 and 0.77 with 0.8, 0.89 and 0.80 with 0.5.
SITE_SHARE = 0.5
SITE_HALF = 3.0

# A page is on topic if its match reaches this share of the match of the best tenth of the pages, if that is
# more than the profile requires: the matches of relevant pages differ from topic to topic.
SHARE_OF_BEST = 0.55
BEST = 0.1

# Number of pages whose matches are remembered for the best tenth, and pages after which it is computed again.
REMEMBERED = 2000
EVERY = 25


@dataclass(slots=True)
class Site:
    """The judged pages of a site: their number, and the sum of their matches."""

    pages: int = 0
    total: float = 0.0

    def add(self, match: float) -> tuple[float, float]:
        """Count a page; return the share of the site in its judgement, and the mean of the site."""
        self.pages += 1
        self.total += match
        return SITE_SHARE * self.pages / (self.pages + SITE_HALF), self.total / self.pages


class CrawlJudge:
    """Judges the pages of a crawl, in the order of their fetches.

    For a topic made from words or from relevant pages alone, a term weighs less if many pages of the crawl
    contain it, a page is also judged by its site, and its match is compared with the best pages so far. A
    topic with examples of both kinds has learnt all this from them.
    """

    def __init__(self, profile: TopicProfile) -> None:
        self._scorer = PageScorer(profile)
        self._topic, self._same = profile.units, profile.stands_for
        self._by_match = profile.combination.weights.keys() == {"match"}
        self._bias = profile.combination.bias
        self._slope = profile.combination.weights.get("match", 0.0)
        self._met = Met(self._topic)
        self._sites: dict[str, Site] = {}
        self._matches: deque[float] = deque(maxlen=REMEMBERED)
        self._judged = 0
        self._best = 0.0

    def judge(self, url: str, title: str, text: str) -> Relevance:
        """Return the judgement of a page that was fetched."""
        if not self._by_match:
            return self._scorer.score(title, text)
        page = PageText.of(title, text, self._same)
        holds = self._scorer.holds(page)
        return self._scorer.of_parts(self._parts(url, page, holds=holds), page, holds=holds)

    def _parts(self, url: str, page: PageText, *, holds: bool) -> dict[str, float]:
        counts = counted(page, self._topic)
        self._met.add(counts)
        own = match(page, self._topic, counts, self._met.idf) if holds else 0.0
        share, mean = self._sites.setdefault(site_of(url), Site()).add(own)
        self._remember((1 - share) * own + share * mean)
        even = -self._bias / self._slope
        return {
            "bias": self._bias,
            "match": self._slope * (1 - share) * own,
            "site": self._slope * share * mean,
            "crawl": -self._slope * max(0.0, SHARE_OF_BEST * self._best - even),
        }

    def _remember(self, found: float) -> None:
        self._matches.append(found)
        self._judged += 1
        if self._judged <= EVERY or self._judged % EVERY == 0:
            count = 1 + int(BEST * len(self._matches))
            self._best = heapq.nlargest(count, self._matches)[-1]
