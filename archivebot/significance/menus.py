"""Lines in menus: lists of short links."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from archivebot.content.lines import Line, Place

# A menu is an element with at least this many lines, at least this share of linked characters, and at most
# this average number of characters per line. Of 1094 changes that trafilatura, resiliparse, readability-lxml
# and jusText all ignore, 98.5 % are called furniture with menus left out of the main text, 96.2 % with them
# in it.
LEAST_LINES = 4
LINKED = 0.9
MOST_LINE = 25

# Minimum share of linked characters in the main text of a page that is itself a list of links.
HUB = 0.5


def is_hub(lines: Sequence[Line], chosen: NDArray[np.bool_]) -> bool:
    """Return whether the main text of a page, the lines that are ``chosen``, is mostly links."""
    main = [line for line, yes in zip(lines, chosen.tolist(), strict=True) if yes]
    return sum(line.linked for line in main) >= HUB * sum(len(line.text) for line in main)


def menus(lines: Sequence[Line], hub: bool) -> NDArray[np.bool_]:
    """Return which lines belong to a menu; on a hub, none."""
    found = np.zeros(len(lines), dtype=bool)
    if hub:
        return found
    size = np.array([len(line.text) for line in lines])
    linked = np.array([line.linked for line in lines])
    sizes, links = (np.concatenate(([0], np.cumsum(each))) for each in (size, linked))
    known: dict[int, bool] = {}
    for index in np.flatnonzero(linked).tolist():
        place = _list(lines[index].place)
        if id(place) not in known:
            count = place.last - place.first
            held = sizes[place.last] - sizes[place.first]
            inside = links[place.last] - links[place.first]
            known[id(place)] = count >= LEAST_LINES and inside >= LINKED * held and held <= MOST_LINE * count
        found[index] = known[id(place)]
    return found


def _list(place: Place) -> Place:
    """Return the smallest element around with enough lines, else the outermost."""
    while place.parent is not None and place.last - place.first < LEAST_LINES:
        place = place.parent
    return place
