"""Naive Bayes on terms: multinomial, smoothed, in log space, with incremental learning."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Any

Terms = Mapping[str, float] | Iterable[str]


class NaiveBayes:
    """Multinomial naive Bayes: P(C|x) in proportion to P(C) times the product of P(t|C).

    P(t|C) = (count(t, C) + alpha) / (sum of the counts of C + alpha |V|), with Laplace's alpha of 1; V is the
    ``vocabulary``, or by default every term ever learnt. Terms outside V are not counted. Texts are sequences
    of terms or mappings from term to count. If ``length`` is given, the terms of a longer text weigh less, so
    that their counts sum to it: many dependent terms make the plain posterior over-confident. Without
    ``priors`` all classes are equally likely beforehand.

    Without ``length`` it is scikit-learn's MultinomialNB (McCallum, Nigam, "A Comparison of
    Event Models for Naive Bayes Text Classification", 1998).

    >>> model = NaiveBayes()
    >>> model.learn("spam", ["cheap", "cheap", "dinner"])
    >>> model.learn("mail", {"dinner": 2})
    >>> round(model.log_odds(["cheap"], "spam"), 4), model.log_odds(["unknown"], "spam")
    (0.8755, 0.0)
    >>> {label: round(share, 4) for label, share in model.posterior(["cheap"]).items()}
    {'spam': 0.7059, 'mail': 0.2941}
    >>> NaiveBayes().log_odds(["cheap"], "spam")
    0.0
    """

    def __init__(
        self,
        alpha: float = 1.0,
        vocabulary: Iterable[str] | None = None,
        length: float | None = None,
        priors: bool = True,
    ) -> None:
        self._alpha, self._length, self._priors = alpha, length, priors
        self._restricted = vocabulary is not None
        self._vocabulary = set(vocabulary or ())
        self._counts: dict[str, dict[str, float]] = {}
        self._totals: dict[str, float] = {}
        self._documents: dict[str, float] = {}

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes learnt so far, in the order they came."""
        return tuple(self._counts)

    def learn(self, label: str, terms: Terms) -> None:
        """Learn a text of a class."""
        counts = self._counts.setdefault(label, {})
        total = 0.0
        for term, count in _counted(terms).items():
            if not self._restricted:
                self._vocabulary.add(term)
            elif term not in self._vocabulary:
                continue
            counts[term] = counts.get(term, 0.0) + count
            total += count
        self._totals[label] = self._totals.get(label, 0.0) + total
        self._documents[label] = self._documents.get(label, 0.0) + 1.0

    def scores(self, terms: Terms) -> dict[str, float]:
        """Return log P(C) + sum of log P(t|C), in nats, of every class."""
        known = self._known(terms)
        length = sum(known.values())
        alpha = self._alpha
        scores = {}
        for label, counts in self._counts.items():
            seen = sum(n * math.log(counts.get(term, 0.0) + alpha) for term, n in known.items())
            scores[label] = self._prior(label) + seen - length * self._log_total(label)
        return scores

    def log_odds(self, terms: Terms, label: str) -> float:
        """Return log P(label|x) - log P(not label|x) in nats; 0 while there is no class to compare with.

        Unlike the posterior it does not saturate, so it ranks.
        """
        scores = self.scores(terms)
        own = scores.pop(label, None)
        return own - _log_sum(scores.values()) if own is not None and scores else 0.0

    def posterior(self, terms: Terms) -> dict[str, float]:
        """Return P(C|x) of every class; they sum to 1."""
        scores = self.scores(terms)
        total = _log_sum(scores.values())
        return {label: math.exp(score - total) for label, score in scores.items()}

    def contributions(self, terms: Terms, label: str) -> list[tuple[str, float]]:
        """Return what each term adds to the lead of a class over its strongest rival, largest first.

        With two classes the sum of all and of the log-odds of the empty text is :meth:`log_odds`.

        >>> model = NaiveBayes()
        >>> model.learn("spam", ["cheap", "cheap", "dinner"])
        >>> model.learn("mail", ["dinner", "dinner"])
        >>> [(term, round(value, 4)) for term, value in model.contributions(["dinner", "cheap"], "spam")]
        [('cheap', 0.8755), ('dinner', -0.6286)]
        """
        scores = self.scores(terms)
        if scores.pop(label, None) is None or not scores:
            return []
        rival = max(scores, key=scores.__getitem__)
        own, other, alpha = self._counts[label], self._counts[rival], self._alpha
        margin = self._log_total(rival) - self._log_total(label)
        parts = [
            (term, n * (math.log((own.get(term, 0.0) + alpha) / (other.get(term, 0.0) + alpha)) + margin))
            for term, n in self._known(terms).items()
        ]
        return sorted(parts, key=lambda part: -abs(part[1]))

    def as_dict(self) -> dict[str, Any]:
        """Return the model as JSON values."""
        return {
            "alpha": self._alpha,
            "length": self._length,
            "priors": self._priors,
            "vocabulary": sorted(self._vocabulary) if self._restricted else None,
            "classes": {
                label: {"documents": self._documents[label], "terms": dict(counts)}
                for label, counts in self._counts.items()
            },
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> NaiveBayes:
        """Return the model written by :meth:`as_dict`; raises KeyError and TypeError for other values."""
        model = cls(data["alpha"], data["vocabulary"], data["length"], data["priors"])
        for label, learnt in data["classes"].items():
            model.learn(label, learnt["terms"])
            model._documents[label] = learnt["documents"]
        return model

    def _known(self, terms: Terms) -> dict[str, float]:
        """Return the counts of the terms of the vocabulary, scaled to the length."""
        vocabulary = self._vocabulary
        known = {term: n for term, n in _counted(terms).items() if term in vocabulary}
        if self._length is None or (total := sum(known.values())) <= self._length:
            return known
        return {term: n * self._length / total for term, n in known.items()}

    def _prior(self, label: str) -> float:
        if not self._priors:
            return -math.log(len(self._counts))
        return math.log(self._documents[label] / sum(self._documents.values()))

    def _log_total(self, label: str) -> float:
        total = self._totals[label] + self._alpha * len(self._vocabulary)
        return math.log(total) if total else 0.0


def _counted(terms: Terms) -> Mapping[str, float]:
    return terms if isinstance(terms, Mapping) else Counter(terms)


def _log_sum(values: Collection[float]) -> float:
    """Return the log of the sum of exponentials without overflow."""
    top = max(values, default=-math.inf)
    return top + math.log(sum(math.exp(value - top) for value in values)) if values else top
