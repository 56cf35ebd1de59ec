"""Lines of content beside the main text: headlines on a hub, and the rest of a list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from archivebot.content.lines import Line, Place, nearest
from archivebot.content.measures import Column
from archivebot.markup.tags import HEADINGS

# Of 364 judged changes of content (benchmarks/alarms.py, without those held out) 1 is called furniture, and
# of 1217 versions without one 7 are called one.

# Minimum likelihood and minimum characters of a linked line of a hub that is a headline. With a likelihood of
# 0.05 6 changes are lost; 0.005 and 0.02 do as well. With 25 characters there are two more false alarms.
LEAST_LIKELY = 0.01
LEAST_HEADLINE = 30
_HEADINGS = frozenset(HEADINGS[1:])

# Minimum of linked headings in the main text of a page of teasers; linked headings elsewhere on it are
# headlines, too. Without pages of teasers 5 changes are lost; 3 and 8 do as well.
LEAST_ENTRIES = 5

# Minimum ratio of the characters of linked headings to the unlinked characters of the main text, for a page
# of teasers whose main text has no linked headings. With 0.25 and without this rule 2 changes are lost, each
# time with as many alarms; 0.1 does as well. A policy with links to others has 0.12.
LEAST_TEASERS = 0.15

# Minimum share of the words of a list in the main text, for the whole list to be content. With 0.3, with 0.5
# and without lists there are 7 false alarms, too.
LEAST_CHOSEN = 0.7
_LISTS = frozenset(("ul", "ol", "dl"))


def headlines(
    lines: Sequence[Line], likelihood: Column, chosen: NDArray[np.bool_], hub: bool
) -> NDArray[np.bool_]:
    """Return which lines are headlines of a hub or a page of teasers.

    They are linked, and in a heading or, on a hub, as long as a headline. A page of teasers has many similar
    headings, and the main text is part of them or short in comparison.
    """
    size = np.array([len(line.text) for line in lines])
    links = np.array([line.linked for line in lines])
    linked = (2 * links >= size) & (likelihood >= LEAST_LIKELY)
    headed: NDArray[np.bool_] = linked & np.array([_in_heading(line.place) for line in lines], dtype=bool)
    if hub:
        return linked & (headed | (size >= LEAST_HEADLINE))
    teasers = size[headed].sum() >= LEAST_TEASERS * (size - links)[chosen].sum()
    entries = headed if teasers else headed & chosen
    return headed if entries.sum() >= LEAST_ENTRIES else np.zeros(len(lines), dtype=bool)


def _in_heading(place: Place) -> bool:
    return place.tag in _HEADINGS or (place.parent is not None and place.parent.tag in _HEADINGS)


def listed(lines: Sequence[Line], chosen: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which lines are in a list most of whose words belong to the main text.

    A list is content or furniture as a whole, but a single line of it may be missing from the main text.
    """
    words = np.array([line.words for line in lines])
    sums = [np.concatenate(([0], np.cumsum(each))) for each in (words, words * chosen)]
    found = np.zeros(len(lines), dtype=bool)
    for place in nearest(lines, _LISTS):
        held, main = (each[place.last] - each[place.first] for each in sums)
        if main >= LEAST_CHOSEN * held:
            found[place.first : place.last] = True
    return found
