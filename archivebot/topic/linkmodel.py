"""The link model: the worth of a link by its terms, learnt from links among labelled pages."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

from archivebot.exceptions import UsageError
from archivebot.models import Link
from archivebot.topic.linkterms import link_terms, origin

if TYPE_CHECKING:
    from numpy.typing import NDArray

SCHEMA = 1

# The term for the relevance of the linking page; its value is that relevance, while all other terms count as
# 1.
SOURCE = "source"

# The worth of a page that only links to pages on topic, relative to a page on topic. Area on
# WebKB: 0.881 with a half, 0.886 with 1, 0.881 with 2, and 0.864 with 0, which passes by the lists.
ONWARD = 1.0

# Number of links to the topic at which a page has half the worth of a page with any number of them.
HALF = 2.0

# Penalty on the squared weights. Area on WebKB: 0.881 with a half, 0.885 with 1 and with 3.
RIDGE = 1.0
RIDGE_OF_BIAS = 0.1  # labelled links lead to the topic far more often than links of a crawl
ROUNDS = 100

# Minimum of pages with a term. A term of one page is specific to that page; without such terms a model is
# half as large and its area 0.001 lower.
LEAST_PAGES = 2

PRECISION = 4  # digits of a stored weight

# The weight of a topic word before anything was learnt, by its origin: the anchor and the URL name the
# target, the heading names the list, the rest is context.
BY_ORIGIN = {"anchor": 2.0, "url": 2.0, "heading": 1.0, "before": 0.5, "after": 0.5, "title": 0.5}
BY_SOURCE = 0.5
BIAS = -3.0  # most links lead off the topic: 1 in 20


@dataclass(frozen=True, slots=True)
class TrainingPage:
    """A labelled page with its links."""

    url: str
    title: str
    relevant: bool
    links: tuple[Link, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class LinkModel:
    """Logistic regression on the terms of links; its log-odds are a sum, which explains them.

    ``links`` is the number of training links.
    """

    bias: float = BIAS
    weights: Mapping[str, float] = field(default_factory=dict, repr=False)
    links: int = 0

    @classmethod
    def of_terms(cls, topic: Mapping[str, float]) -> LinkModel:
        """Return a model from the weighted terms of a topic alone; the best term counts fully.

        >>> model = LinkModel.of_terms({"cours": 4.0, "lectur": 2.0})
        >>> model.weights["anchor:cours"], model.weights["anchor:lectur"], model.weights["heading:cours"]
        (2.0, 1.0, 1.0)
        """
        most = max(map(abs, topic.values()), default=1.0)
        weights = {
            f"{place}:{term}": factor * weight / most
            for place, factor in BY_ORIGIN.items()
            for term, weight in topic.items()
        }
        return cls(BIAS, {**weights, SOURCE: BY_SOURCE})

    def log_odds(self, terms: Iterable[str], relevance: float = 0.0) -> float:
        """Return the worth of a link in nats; ``relevance`` (0..1) is the relevance of the linking page."""
        get = self.weights.get
        return self.bias + relevance * get(SOURCE, 0.0) + sum(map(get, terms, repeat(0.0)))

    def parts(self, terms: Iterable[str], relevance: float = 0.0) -> dict[str, float]:
        """Return what each origin of terms adds to the log-odds; they sum to it.

        >>> model = LinkModel.of_terms({"cours": 1.0})
        >>> model.parts(["anchor:cours", "url:cours", "url:other"], relevance=0.5)
        {'bias': -3.0, 'source': 0.25, 'anchor': 2.0, 'url': 2.0}
        """
        found: dict[str, float] = {"bias": self.bias, SOURCE: relevance * self.weights.get(SOURCE, 0.0)}
        get = self.weights.get
        for term in terms:
            if weight := get(term):
                place = origin(term)
                found[place] = found.get(place, 0.0) + weight
        return found

    def as_dict(self) -> dict[str, Any]:
        """Return the model as JSON values, the heaviest terms first; weights are rounded."""
        rounded = {term: round(weight, PRECISION) for term, weight in self.weights.items()}
        ranked = sorted(rounded.items(), key=lambda item: (-abs(item[1]), item[0]))
        return {
            "schema": SCHEMA,
            "links": self.links,
            "bias": round(self.bias, PRECISION),
            "weights": {term: weight for term, weight in ranked if weight},
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LinkModel:
        """Return the model written by :meth:`as_dict`; raises UsageError for another schema.

        >>> model = LinkModel(-1.0, {"anchor:cours": 2.0}, links=9)
        >>> LinkModel.from_dict(model.as_dict()) == model
        True
        """
        if data.get("schema") != SCHEMA:
            raise UsageError(
                f"the link model has schema {data.get('schema')} and not {SCHEMA}: train it again"
            )
        return cls(float(data["bias"]), dict(data["weights"]), int(data["links"]))


def train(pages: Sequence[TrainingPage], prior: LinkModel | None = None) -> LinkModel | None:
    """Return the model learnt from links among labelled pages; None if all links have the same worth.

    ``prior`` is the model before the training: few links change its weights little.

    The worth of a page is (r + 1 - 2^(-k/2)) / 2, with r = 1 for a page of the topic, else 0, and k its links
    to pages of the topic: it combines the target and the pages that it links to. Links to pages without a
    label are ignored (Rennie, McCallum, "Using Reinforcement Learning to Spider the Web Efficiently", 1999,
    with logistic regression on the worth itself in place of naive Bayes on bins of it).
    """
    known = {page.url: page for page in pages}
    worths = {page.url: _worth(page, known) for page in pages}
    rows: list[tuple[str, ...]] = []
    values: list[float] = []
    spread: Counter[str] = Counter()
    for page in pages:
        first = len(rows)
        for link, terms in zip(page.links, link_terms(page.url, page.title, page.links), strict=True):
            if link.url in worths and link.url != page.url:
                rows.append((*terms, SOURCE) if page.relevant else terms)
                values.append(worths[link.url])
        spread.update(set(chain.from_iterable(rows[first:])))
    if not values or min(values) == max(values):
        return None
    known_terms = {term for term, number in spread.items() if number >= LEAST_PAGES}
    return _fitted(rows, values, known_terms, prior)


def worth(relevance: float, onward: float) -> float:
    """Return the worth of a page (0..1) by its relevance (0..1) and its number of links to the topic.

    >>> worth(1.0, 0), worth(0.0, 2), worth(1.0, 1000), worth(0.0, 0)
    (0.5, 0.25, 1.0, 0.0)
    """
    return (relevance + ONWARD * -math.expm1(-math.log(2) * onward / HALF)) / (1.0 + ONWARD)


def _worth(page: TrainingPage, known: Mapping[str, TrainingPage]) -> float:
    targets = {link.url for link in page.links} & known.keys() - {page.url}
    return worth(page.relevant, sum(known[url].relevant for url in targets))


def _fitted(
    rows: Sequence[Sequence[str]], values: Sequence[float], terms: Set[str], prior: LinkModel | None
) -> LinkModel:
    """Minimise the cross entropy plus the penalty on deviations from the prior, by L-BFGS."""
    # Imported here: they take a third of a second, and only training needs them.
    import numpy as np
    from scipy.optimize import minimize
    from scipy.sparse import csr_array

    numbers: defaultdict[str, int] = defaultdict(lambda: len(numbers))
    kept = [[numbers[term] for term in row if term in terms] for row in rows]
    columns = list(chain.from_iterable(kept))
    starts = np.cumsum([0, *map(len, kept)])
    x = csr_array((np.ones(len(columns)), columns, starts), shape=(len(rows), len(numbers)))
    y = np.array(values)
    known = prior or LinkModel()
    start = np.array([*(known.weights.get(term, 0.0) for term in numbers), known.bias])
    penalty = np.array([RIDGE] * len(numbers) + [RIDGE_OF_BIAS if prior else 0.0])

    def loss(point: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        z = x @ point[:-1] + point[-1]
        wrong = 1.0 / (1.0 + np.exp(-np.clip(z, -30, 30))) - y
        moved = penalty * (point - start)
        value = np.logaddexp(0, z).sum() - y @ z + moved @ (point - start) / 2
        return float(value), np.append(x.T @ wrong, wrong.sum()) + moved

    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": ROUNDS}).x
    *weights, bias = map(float, found)
    learnt = dict(zip(numbers, weights, strict=True))
    return LinkModel(bias, {**known.weights, **learnt}, len(rows))
