"""The background of a topic: document frequencies, as frequent terms say little about a topic."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from archivebot.text import is_unspaced

# The background of a term: the number of texts, and the number of texts with the term.
Seen = tuple[float, float]


def idf(seen: Seen) -> float:
    """Return the weight ln((N + 1) / (df + 0.5)) of a term that df of N texts contain; above 0.

    Robertson, Spärck Jones, "Relevance Weighting of Search Terms", 1976, equation F4 without the odds: it
    has no weights below 0.

    >>> round(idf((1000, 10)), 2), round(idf((1000, 1000)), 4), idf((0, 0)) > 0
    (4.56, 0.0005, True)
    """
    documents, holding = seen
    return math.log((documents + 1.0) / (min(documents, holding) + 0.5))


def background(term: str) -> Seen:
    """Return the number of background texts in the script of a term, and of those with the term.

    A phrase, its terms separated by spaces, counts as a tenth of its rarest term.

    >>> number, holding = background("use")
    >>> 0.4 < holding / number < 0.6, background("使用")[1] > background("珊瑚")[1]
    (True, True)
    >>> background("full text search")[1] < background("search")[1] / 9
    True
    """
    parts = term.split()
    known = [_of_script(is_unspaced(part)) for part in parts]
    seen = min(table.get(part, 1.0) for part, (_, table) in zip(parts, known, strict=True))
    return known[0][0], seen if len(parts) == 1 else seen / PHRASE


# How much rarer a phrase is than its rarest term.
PHRASE = 10.0


class Met:
    """The background of a crawl: the general background, and the pages that the crawl has fetched."""

    def __init__(self, terms: Iterable[str]) -> None:
        self._world = {term: background(term) for term in terms}
        self._pages = 0
        self._holding = dict.fromkeys(self._world, 0)

    def add(self, terms: Iterable[str]) -> None:
        """Count a page by the terms that it contains."""
        self._pages += 1
        for term in terms:
            self._holding[term] += 1

    def idf(self, term: str) -> float:
        """Return the weight of a term."""
        documents, holding = self._world[term]
        return idf((documents + self._pages, holding + self._holding[term]))


def of_world(term: str) -> float:
    """Return the weight of a term by the general background alone."""
    return idf(background(term))


@cache
def _of_script(cjk: bool) -> tuple[float, dict[str, float]]:
    """Return the number of background texts in CJK, or in other scripts, and their terms."""
    name = "background-cjk.txt" if cjk else "background-en.txt"
    first, *lines = files(__package__).joinpath(name).read_text("utf-8").splitlines()
    table: dict[str, float] = {}
    for line in lines:
        count, *terms = line.split(" ")
        table.update(dict.fromkeys(terms, float(count)))
    return float(first), table
