"""Plots as shapes of an SVG, without any text: labels stand beside them and keep their size on any screen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate
from typing import Any

from archivebot.web.timeline import WIDTH

HEIGHT = 100

# What happened to pages, in the order of their parts of a bar, from below.
EVENTS = {
    "new": "new or back",
    "changed": "content changed",
    "removed": "removed",
    "islanded": "islanded: no page links to it",
}

# The widest bar, so that a site with two visits has no two walls.
_WIDEST = WIDTH / 24


@dataclass(frozen=True, slots=True)
class Piece:
    """A rectangle of a bar: ``mark`` is one of :data:`EVENTS`."""

    mark: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars over time, the highest of which counts ``most``."""

    pieces: list[Piece]
    most: int


def bars(periods: Sequence[Mapping[str, Any]]) -> Bars:
    """Return the bars of the activity of a site; a period without any event leaves its place empty.

    >>> found = bars([{"period": "2026-01", "new": 4, "changed": 0, "removed": 0, "islanded": 0}])
    >>> found.most, [(piece.mark, piece.height) for piece in found.pieces]
    (4, [('new', 100.0)])
    """
    places = [_place(each["period"]) for each in periods]
    slot = WIDTH / (places[-1] - places[0] + 1)
    width = min(slot * 0.8, _WIDEST)
    most = max(sum(each[mark] for mark in EVENTS) for each in periods)
    pieces = []
    for place, each in zip(places, periods, strict=True):
        x = (place - places[0] + 0.5) * slot - width / 2
        counts = [each[mark] for mark in EVENTS]
        for mark, count, below in zip(EVENTS, counts, accumulate(counts), strict=True):
            if count:
                height = HEIGHT * count / most
                y = HEIGHT - HEIGHT * below / most
                pieces.append(Piece(mark, round(x, 1), round(y, 1), round(width, 1), round(height, 1)))
    return Bars(pieces, most)


def _place(period: str) -> int:
    """Return the number of a period among those of its length.

    >>> _place("2026-01") - _place("2025-12"), _place("2026-03-01") - _place("2026-02-28"), _place("2026")
    (1, 1, 2026)
    """
    year, *rest = map(int, period.split("-"))
    if not rest:
        return year
    return date(year, *rest).toordinal() if len(rest) == 2 else year * 12 + rest[0]


def line(points: Sequence[Mapping[str, Any]], name: str, most: float) -> str:
    """Return the points of a polyline: a value of each point over its number of pages.

    >>> line([{"pages": 10, "harvest": 1.0}, {"pages": 20, "harvest": 0.5}], "harvest", 1)
    '500.0,0.0 1000.0,50.0'
    """
    last = points[-1]["pages"]
    return " ".join(
        f"{WIDTH * each['pages'] / last:.1f},{HEIGHT - HEIGHT * each[name] / (most or 1):.1f}"
        for each in points
    )
