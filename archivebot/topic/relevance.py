"""The relevance of a page to a topic: naive Bayes, cosine and weighted count, made one log-odds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from archivebot.terms import stem, tells
from archivebot.text import words
from archivebot.topic.bayes import NaiveBayes
from archivebot.topic.logistic import probability, squeezed
from archivebot.topic.profile import TopicProfile
from archivebot.topic.vectors import cosine, damped, dot, frequencies

MOST_SHOWN = 20  # terms that explain a score

# The cosine from which on a page counts as no longer than its words of the topic bear. Of the pages of 12
# WebKB topics of five words every eighth has more; two of the words once in a hundred terms have 0.09.
DENSE = 0.1


@dataclass(frozen=True, slots=True)
class Relevance:
    """How much a page belongs to a topic, and why.

    ``value`` is a calibrated probability, ``log_odds`` the sum of the ``parts`` in nats, by which pages
    are ranked: it does not saturate. ``terms`` are those that told most, with what each adds to the
    score of the model that counted it.
    """

    value: float
    relevant: bool
    log_odds: float
    parts: dict[str, float] = field(repr=False)
    terms: tuple[tuple[str, float], ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class PageText:
    """A page as it is judged: its words, and the terms of title and body."""

    words: Counter[str] = field(repr=False)
    title: list[str]
    body: list[str] = field(repr=False)

    @classmethod
    def of(cls, title: str, text: str, same: Mapping[str, str] = MappingProxyType({})) -> PageText:
        """Split a title and the main text; ``same`` gives the term that a synonym counts as.

        >>> page = PageText.of("Reefs", "The reef of 1998")
        >>> page.title, page.body, page.words["the"]
        (['reef'], ['reef'], 1)
        """
        head, rest = words(title), words(text)
        return cls(Counter(head + rest), _terms(head, same), _terms(rest, same))


class PageScorer:
    """Judges pages by the profile of a topic."""

    def __init__(self, profile: TopicProfile) -> None:
        self._profile = profile
        self._same = profile.stands_for
        self._model = NaiveBayes.from_dict(profile.page_model) if profile.page_model else None

    def score(self, title: str, text: str) -> Relevance:
        """Judge a page by its title and main text.

        >>> from archivebot.topic.training import from_words
        >>> scorer = PageScorer(from_words("diving", {"reef": 1.0, "dive": 1.0}))
        >>> scorer.score("Reefs", "Where to dive").relevant, scorer.score("", "A shop").relevant
        (True, False)
        """
        page = PageText.of(title, text, self._same)
        parts = self._profile.combination.parts(features(page, self._profile, self._model))
        log_odds = sum(parts.values())
        value = probability(log_odds)
        return Relevance(value, value >= self._profile.threshold, log_odds, parts, self._telling(page))

    def _telling(self, page: PageText) -> tuple[tuple[str, float], ...]:
        if self._model is not None:
            return tuple(self._model.contributions(page.words, "relevant")[:MOST_SHOWN])
        counts = frequencies(page.title, page.body)
        topic = self._profile.signed
        told = [(term, topic[term] * count) for term, count in counts.items() if term in topic]
        return tuple(sorted(told, key=lambda item: (-abs(item[1]), item[0]))[:MOST_SHOWN])


def features(page: PageText, profile: TopicProfile, model: NaiveBayes | None) -> dict[str, float]:
    """Give the evidence of a page as numbers.

    ``bayes`` is the squeezed log-odds of the model, ``cosine`` that of the terms, those of the profile
    that speak against it counting so, ``count`` the logarithm of 1 + the weighted count, and ``thin``
    what the cosine falls short of 0.1.
    """
    counts = frequencies(page.title, page.body)
    topic = profile.signed
    near = cosine(topic, damped(counts))
    return {
        "bayes": squeezed(model.log_odds(page.words, "relevant")) if model else 0.0,
        "cosine": near,
        "count": math.log1p(max(0.0, dot(topic, counts))),
        "thin": max(0.0, DENSE - near),
    }


def _terms(found: Iterable[str], same: Mapping[str, str]) -> list[str]:
    stems = (stem(word) for word in found if tells(word))
    return [same.get(term, term) for term in stems]
