"""The relevance of a page to a topic: match, naive Bayes, cosine and weighted count in one log-odds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from archivebot.text import words
from archivebot.text.bayes import NaiveBayes
from archivebot.text.terms import term
from archivebot.topic.background import of_world
from archivebot.topic.logistic import probability, squeezed
from archivebot.topic.profile import TopicProfile
from archivebot.topic.vectors import Vector, cosine, damped, dot, frequencies

MOST_SHOWN = 20  # terms that explain a score

# The number of occurrences of a term on a page of typical length at which it counts half, the share of that
# number that is proportional to the page length, and the weight of a term in the title. Of nine topics of
# twelve words each on a web of 60 sites of documentation the area under ROC is 0.87.
SATURATION, LENGTH_SHARE, TYPICAL_LENGTH = 3.0, 0.75, 300
TITLE = 3.0

# The weight of a single word of a phrase, relative to the whole phrase.
APART = 0.25

# Nats that a page loses if the query of its topic does not hold. The other parts of a topic of words add up
# to less than half of it.
UNMET = 50.0


@dataclass(frozen=True, slots=True)
class Relevance:
    """The relevance of a page to a topic, and the reasons.

    ``value`` is a calibrated probability; ``log_odds`` is the sum of the ``parts`` in nats, by which pages
    are ranked because it does not saturate. ``terms`` are the most important terms, each with its
    contribution to the score of its model.
    """

    value: float
    relevant: bool
    log_odds: float
    parts: dict[str, float] = field(repr=False)
    terms: tuple[tuple[str, float], ...] = field(repr=False)


@dataclass(frozen=True)
class PageText:
    """A page prepared for judgement: the words of title and body, and the terms of each."""

    spoken: list[str] = field(repr=False)
    title: list[str]
    body: list[str] = field(repr=False)

    @cached_property
    def words(self) -> Counter[str]:
        """The occurrences of each word."""
        return Counter(self.spoken)

    @classmethod
    def of(cls, title: str, text: str, same: Mapping[str, str] = MappingProxyType({})) -> PageText:
        """Split a title and the topic text; ``same`` maps a synonym to its term.

        >>> page = PageText.of("Reefs", "The reef of 1998")
        >>> page.title, page.body, page.words["the"]
        (['reef'], ['reef'], 1)
        """
        head, rest = words(title), words(text)
        return cls(head + rest, _terms(head, same), _terms(rest, same))


class PageScorer:
    """Judges pages by the profile of a topic."""

    def __init__(self, profile: TopicProfile) -> None:
        self._profile = profile
        self._same = profile.stands_for
        self._model = NaiveBayes.from_dict(profile.page_model) if profile.page_model else None

    def score(self, title: str, text: str) -> Relevance:
        """Return the judgement of a page by its title and topic text.

        >>> from archivebot.topic.training import from_words
        >>> scorer = PageScorer(from_words("diving", {"reef": 1.0, "dive": 1.0}))
        >>> scorer.score("Reefs", "Where to dive").relevant, scorer.score("", "A shop").relevant
        (True, False)
        """
        page = PageText.of(title, text, self._same)
        evidence = features(page, self._profile, self._model)
        return self.of_parts(self._profile.combination.parts(evidence), page, holds=self.holds(page))

    def holds(self, page: PageText) -> bool:
        """Return whether the query of the topic holds on a page; a topic without a query holds on all."""
        query, same = self._profile.query, self._same
        if query is None:
            return True
        title, body = Occurrences(page.title), Occurrences(page.body)

        def has(phrase: str) -> bool:
            stems = [same.get(stem, stem) for stem in phrase.split()]
            return title.has(stems) or body.has(stems)

        return query.holds(has)

    def of_parts(self, parts: dict[str, float], page: PageText, *, holds: bool = True) -> Relevance:
        """Return the judgement whose log-odds are the sum of some parts.

        A page on which the query does not hold (``holds``) is not relevant.
        """
        if not holds:
            parts = {**parts, "query": -UNMET}
        log_odds = sum(parts.values())
        value = probability(log_odds)
        relevant = holds and value >= self._profile.threshold
        return Relevance(value, relevant, log_odds, parts, self._main_terms(page))

    def _main_terms(self, page: PageText) -> tuple[tuple[str, float], ...]:
        if self._model is not None:
            return tuple(self._model.contributions(page.words, "relevant")[:MOST_SHOWN])
        topic = self._profile.signed
        has = topic.__contains__
        counts = frequencies(filter(has, page.title), filter(has, page.body))
        weighted = [(term, topic[term] * count) for term, count in counts.items()]
        return tuple(sorted(weighted, key=lambda item: (-abs(item[1]), item[0]))[:MOST_SHOWN])


def features(page: PageText, profile: TopicProfile, model: NaiveBayes | None) -> dict[str, float]:
    """Return the evidence of a page as numbers.

    ``match`` is the result of :func:`match` by the background, ``bayes`` the squeezed log-odds of the model,
    ``cosine`` the cosine with the signed terms of the profile, and ``count`` the logarithm of 1 + the
    weighted count.
    """
    counts = frequencies(page.title, page.body)
    topic = profile.signed
    return {
        "match": match(page, profile.units, counted(page, profile.units)),
        "bayes": squeezed(model.log_odds(page.words, "relevant")) if model else 0.0,
        "cosine": cosine(topic, damped(counts)),
        "count": math.log1p(max(0.0, dot(topic, counts))),
    }


def match(page: PageText, topic: Vector, counts: Vector, weight: Callable[[str], float] = of_world) -> float:
    """Return the match of a page with a topic, from 0 to 1.

    ``topic`` are terms and phrases with their weights, ``counts`` their occurrences on the page, and
    ``weight`` returns the weight of a term in general. The match is the root of the share of the weights that
    the page reaches by BM25, so a page that often contains all terms has nearly 1.

    Robertson, Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, equation 3.15.

    >>> page = PageText.of("Reefs", "Where to dive at a coral reef")
    >>> topic = {"reef": 1.0, "coral reef": 1.0, "casino": -1.0}
    >>> found = counted(page, topic)
    >>> match(page, {}, {}), match(page, topic, found) > match(page, {**topic, "tax": 1.0}, found) > 0
    (0.0, True)
    """
    length = (len(page.title) + len(page.body)) / TYPICAL_LENGTH
    half = SATURATION * (1.0 - LENGTH_SHARE + LENGTH_SHARE * length)
    found = sum(topic[term] * weight(term) * count / (count + half) for term, count in counts.items())
    most = sum(given * weight(term) for term, given in topic.items() if given > 0)
    return math.sqrt(max(0.0, found) / most) if most else 0.0


def counted(page: PageText, topic: Iterable[str]) -> Vector:
    """Return the occurrences of terms and phrases on a page; an occurrence in the title counts as several.

    >>> counted(PageText.of("Reefs", "A coral reef"), ["reef", "coral reef", "tax"])
    {'reef': 4.0, 'coral reef': 1.25}
    """
    title, body = Occurrences(page.title), Occurrences(page.body)
    counts = {term: TITLE * title.of(term) + body.of(term) for term in topic}
    return {term: count for term, count in counts.items() if count}


class Occurrences:
    """The occurrences of terms and phrases in a list of terms."""

    def __init__(self, terms: Sequence[str]) -> None:
        self._terms, self._counts = terms, Counter(terms)

    def of(self, term: str) -> float:
        """Return the occurrences of a term; the separate words of a phrase count, too, with less weight.

        >>> here = Occurrences(["full", "text", "search", "text"])
        >>> here.of("text"), here.of("full text"), here.of("full search"), here.of("map")
        (2, 1.25, 0.25, 0)
        """
        parts = term.split()
        if len(parts) == 1:
            return self._counts[term]
        return self._whole(parts) + APART * min(self._counts[part] for part in parts)

    def has(self, parts: Sequence[str]) -> bool:
        """Return whether the list has some terms in a row.

        >>> here = Occurrences(["full", "text", "search"])
        >>> here.has(["text", "search"]), here.has(["full", "search"]), here.has(["search"])
        (True, False, True)
        """
        return bool(self._whole(parts))

    @cached_property
    def _text(self) -> str:
        return f" {'  '.join(self._terms)} "

    def _whole(self, parts: Sequence[str]) -> int:
        return self._text.count(f" {'  '.join(parts)} ")


def _terms(found: Iterable[str], same: Mapping[str, str]) -> list[str]:
    stems = filter(None, map(term, found))
    return [same.get(stem, stem) for stem in stems] if same else list(stems)
