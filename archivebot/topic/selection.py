"""Feature selection: measures of the association of terms and classes, and the best terms.

The counts of a term and a class are a (in the class, with the term), b (not in the class, with it),
c (in the class, without it) and d (neither); n is their sum. Yang, Pedersen, "A Comparative Study on
Feature Selection in Text Categorization", 1997.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping

Score = Callable[[float, float, float, float], float]
Classes = Mapping[str, Iterable[Mapping[str, int] | Iterable[str]]]

# Accuracy rises up to at least 2,000 features; the crawler book's system keeps 5,000.
BEST = 5000


def chi_square(a: float, b: float, c: float, d: float) -> float:
    """Return Pearson's chi-square, n (ad - cb)^2 / [(a+c)(b+d)(a+b)(c+d)]; 0 if a margin is empty.

    >>> round(chi_square(3, 1, 0, 6), 4), round(chi_square(0, 1, 3, 6), 4), chi_square(3, 7, 0, 0)
    (6.4286, 0.4762, 0.0)
    """
    margins = (a + c) * (b + d) * (a + b) * (c + d)
    return (a + b + c + d) * (a * d - c * b) ** 2 / margins if margins else 0.0


def expected_cross_entropy(a: float, b: float, c: float, d: float) -> float:
    """Return P(c,t) log[P(c,t) / (P(c) P(t))] in nats.

    >>> round(expected_cross_entropy(3, 1, 0, 6), 4), expected_cross_entropy(0, 1, 3, 6)
    (0.2749, 0.0)
    """
    n = a + b + c + d
    return a / n * _log(a * n, (a + c) * (a + b))


def right_half(a: float, b: float, c: float, d: float) -> float:
    """Return the share of information gain that a missing term brings, P(c,nt) log[P(c,nt) / (P(c) P(nt))].

    >>> right_half(3, 1, 0, 6), round(right_half(0, 1, 3, 6), 4)
    (0.0, 0.0316)
    """
    n = a + b + c + d
    return c / n * _log(c * n, (a + c) * (c + d))


def information_gain(a: float, b: float, c: float, d: float) -> float:
    """Return what one class has of H(class) - H(class | term), in nats; both classes sum to it.

    >>> round(information_gain(3, 1, 0, 6), 4)
    0.2749
    """
    return right_half(a, b, c, d) + expected_cross_entropy(a, b, c, d)


def mutual_information(a: float, b: float, c: float, d: float) -> float:
    """Return P(c) log[P(c,t) / (P(c) P(t))] in nats; 0 if the two never meet.

    >>> round(mutual_information(3, 1, 0, 6), 4), mutual_information(0, 1, 3, 6)
    (0.2749, 0.0)
    """
    n = a + b + c + d
    return (a + c) / n * _log(a * n, (a + c) * (a + b))


def weight_of_evidence(a: float, b: float, c: float, d: float) -> float:
    """Return P(t) P(c) |log[P(c|t) (1-P(c)) / (P(c) (1-P(c|t)))]| in nats; 0 if a log has no value.

    >>> round(weight_of_evidence(2, 1, 1, 6), 4), weight_of_evidence(3, 1, 0, 6) > 0
    (0.1386, True)
    """
    n = a + b + c + d
    return (a + b) / n * (a + c) / n * abs(_log(a * (b + d), (a + c) * b))


SCORES: dict[str, Score] = {
    "chi_square": chi_square,
    "information_gain": information_gain,
    "mutual_information": mutual_information,
    "expected_cross_entropy": expected_cross_entropy,
    "right_half": right_half,
    "weight_of_evidence": weight_of_evidence,
}


def _log(above: float, below: float) -> float:
    return math.log(above / below) if above > 0 and below > 0 else 0.0


def scored(classes: Classes, score: Score = chi_square, by_document: bool = False) -> dict[str, float]:
    """Return for each term the sum of its scores over the classes.

    ``classes`` maps each class to its documents, each a sequence of terms or their counts. Words are counted,
    or with ``by_document`` the documents that contain a term.

    >>> mails = {"spam": [["cheap"]] * 3, "mail": [["cheap"]] + [["dinner"]] + [["hi"]] * 5}
    >>> round(scored(mails, by_document=True)["cheap"] / 2, 4)
    6.4286
    """
    counts: dict[str, Counter[str]] = {label: Counter() for label in classes}
    sizes = dict.fromkeys(classes, 0.0)
    for label, documents in classes.items():
        for document in documents:
            seen = Counter(set(document)) if by_document else Counter(document)
            counts[label].update(seen)
            sizes[label] += 1 if by_document else seen.total()
    total, with_term = sum(sizes.values()), sum(counts.values(), Counter[str]())
    return {
        term: sum(_score(score, counts[label][term], count, sizes[label], total) for label in classes)
        for term, count in with_term.items()
    }


def _score(score: Score, a: float, with_term: float, in_class: float, total: float) -> float:
    b, c = with_term - a, in_class - a
    return score(a, b, c, total - a - b - c)


def select(
    classes: Classes, score: Score = chi_square, best: int = BEST, by_document: bool = False
) -> list[str]:
    """Return the best terms by their scores, the best first, equal ones in alphabetical order.

    >>> select({"a": [["x", "z"]], "b": [["y", "z"]]}, best=2)
    ['x', 'y']
    """
    scores = scored(classes, score, by_document)
    return heapq.nsmallest(best, scores, key=lambda term: (-scores[term], term))
