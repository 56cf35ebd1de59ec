"""The linear model that tells how likely a line is main content; its weights are in weights.json."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np

from archivebot.content.lines import Line, Place
from archivebot.content.measures import Column, measures

WEIGHTS = "weights.json"

# Words that are looked at: a button or a caption says by them what it is, a paragraph does not.
MOST_WORDS = 12
_WORDS = re.compile(r"[^\W\d_]+")
_CUT = 200


def line_words(text: str) -> set[str]:
    """Give the words of a short line; a long one has none.

    >>> sorted(line_words("Add to Cart (2)"))
    ['add', 'cart', 'to']
    """
    found = _WORDS.findall(text[:_CUT].lower())
    return set(found) if len(found) <= MOST_WORDS else set()


def near(place: Place) -> frozenset[str]:
    """Give the names that an element and the one around it have, and none further out has."""
    outer = place.parent.parent if place.parent else None
    return place.names - outer.names if outer else place.names


@dataclass(frozen=True)
class Model:
    """Weights of a logistic regression: of measures, of names of all elements around a line, of the
    names of the nearest two, and of the words of a short line.
    """

    bias: float
    measures: Mapping[str, float]
    names: Mapping[str, float]
    near: Mapping[str, float]
    words: Mapping[str, float]

    def likelihood(self, lines: Sequence[Line], title: str) -> Column:
        """Give the probability of each line to be main content, for the title in lower case."""
        if not lines:
            return np.zeros(0)
        columns = measures(lines, title)
        score = np.full(len(lines), self.bias)
        for name, weight in self.measures.items():
            score += weight * columns[name]
        around: dict[int, float] = {}
        for line in lines:
            place = line.place
            if id(place) not in around:
                around[id(place)] = _sum(self.names, place.names) + _sum(self.near, near(place))
        score += [around[id(line.place)] + _sum(self.words, line_words(line.text)) for line in lines]
        likelihood: Column = 1 / (1 + np.exp(-np.clip(score, -30, 30)))
        return likelihood


def _sum(weights: Mapping[str, float], names: Iterable[str]) -> float:
    return sum([weights[name] for name in names if name in weights])


@cache
def shipped() -> Model:
    """Give the model that comes with archivebot."""
    return Model(**json.loads(files("archivebot.content").joinpath(WEIGHTS).read_text("utf-8")))
