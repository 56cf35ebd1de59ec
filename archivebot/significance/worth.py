"""The worth of a change of each line of a page: whether the line is content, and how its edits count."""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import NDArray

from archivebot.content.lines import Line, Place
from archivebot.content.measures import Column
from archivebot.significance.entries import headlines, listed
from archivebot.significance.menus import is_hub, menus
from archivebot.significance.prices import is_price, offer
from archivebot.significance.volatile import is_volatile

# Minimum likelihood of running text that is content although it was not chosen for the main text, and the
# minimum bytes of UTF-8 of a line of running text. Of 223 changes that most of five extractors see, 6 are
# called furniture, with 0.05 it is 7; of 1241 that most do not see, 93.8 %, with 0.05 it is 94.2 %.
LEAST_RUNNING = 0.02
LONG = 80

# Minimum likelihood of a line beside the content whose edit in place counts, by the position of the line: in
# a menu; in a head, a foot or a box beside an article; elsewhere. Of 1,920 edits of one word in annotated
# main text (the tuned half of benchmarks/edits.py) 0.8 % are called furniture. With 0.01 everywhere 16 more
# of 1,217 judged versions without a change of content (the tuned ones of benchmarks/alarms.py) are called
# one. A line in a menu that is content by its place alone needs the first of these likelihoods, too: 4 fewer
# are called a change.
LEAST_IN_MENU = 0.1
LEAST_AT_EDGE = 0.05
LEAST_ELSEWHERE = 0.01

# The same if only numbers changed, as in counters: counters of visitors are at 0.08 to 0.1, counters of days
# left at 0.1. Prices seldom count: of 94 edits of prices and stock (the tuned half) 7 are called furniture,
# 10 with 0.005 and 11 with 0.02, and of the 1,217 versions as many are called a change. A number in a foot is
# mostly the day of the last check; with 0.15 there, too, these figures are the same.
LEAST_NUMBERS = 0.15
LEAST_NUMBERS_AT_EDGE = 0.5
LEAST_PRICE = 0.003

# Maximum of characters of a page whose only furniture is its menus.
TINY = 100

# Of 1217 judged versions without a change of content (benchmarks/alarms.py, without those held out) 7 are
# called one, 10 more if trademarks are read.
_RIGHTS = re.compile(
    r"©|\b(?:copyright|all rights reserved|registered trademarks?|trademarks? of)\b", re.IGNORECASE
)
# An MD5 sum or longer: no sentence has one. 12 more are called a change if lines with one are read.
_TOKEN = re.compile(r"\b[0-9a-f]{32,}\b", re.IGNORECASE)
_AMOUNT = re.compile(r"[$€£¥₹%]|\b(?:USD|EUR|GBP|CHF|kr)\b")
_CELLS = frozenset("td th tr dd dt caption".split())
_MENU = "nav"
_EDGES = frozenset(("header", "footer"))
_FEET = frozenset(("footer", ".footer", ".foot", ".colophon"))


class Worth(IntEnum):
    """The worth of a change of a line, from nothing to much.

    In between, a change counts if words are edited, or also if only numbers are, or if the title of the page
    changed, or unless the line changes all the time.
    """

    FURNITURE = 0
    WORDS = 1
    NUMBERS = 2
    TITLE = 3
    LIGHT = 4
    FIRM = 5


class Worths(Sequence[Worth]):
    """The worth of a change of each line of a page, computed lazily: most lines never change.

    ``title`` is the title element of the page without the name of its site.
    """

    def __init__(
        self, lines: Sequence[Line], likelihood: Column, chosen: NDArray[np.bool_], title: str
    ) -> None:
        self._lines, self._likelihood, self._title = lines, likelihood, title
        hub = is_hub(lines, chosen)
        self._aside = menus(lines, hub)
        self._content = chosen | headlines(lines, likelihood, chosen, hub) | listed(lines, chosen)
        self._tiny = sum(len(line.text) for line in lines) <= TINY
        self._known: dict[int, Worth] = {}

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, index: int) -> Worth: ...

    @overload
    def __getitem__(self, index: slice) -> list[Worth]: ...

    def __getitem__(self, index: int | slice) -> Worth | list[Worth]:
        if isinstance(index, slice):
            return [self[at] for at in range(*index.indices(len(self)))]
        if index not in self._known:
            self._known[index] = self._of(self._lines[index], index)
        return self._known[index]

    @cached_property
    def _offered(self) -> range:
        return offer(self._lines)

    def _of(self, line: Line, index: int) -> Worth:
        text, likely = line.text, self._likelihood[index]
        if is_volatile(text) or (_RIGHTS.search(text) and line.place.names & _FEET):
            return Worth.FURNITURE
        running = len(text.encode()) >= LONG and 2 * line.linked < len(text) and not _TOKEN.search(text)
        prose = running and likely >= LEAST_RUNNING and not _RIGHTS.search(text)
        price = is_price(text) and index in self._offered
        in_menu = _MENU in _around(line.place)
        aside = self._aside[index] or (in_menu and likely < LEAST_IN_MENU)
        content = self._content[index] or prose or price or (self._tiny and not in_menu)
        if content and not aside:
            firm = running or price or line.place.tag in _CELLS or _AMOUNT.search(text)
            return Worth.FIRM if firm else Worth.LIGHT
        if text == self._title and not line.linked:
            return Worth.TITLE
        return _of_edits(line, likely, index in self._offered)


def _of_edits(line: Line, likely: float, offered: bool) -> Worth:
    """Return the worth of an edit of a line beside the content."""
    if _RIGHTS.search(line.text) or _TOKEN.search(line.text):
        return Worth.FURNITURE
    if offered:
        return Worth.NUMBERS
    tags = _around(line.place)
    edge = not tags.isdisjoint(_EDGES) or ("aside" in tags and "article" not in tags)
    if _MENU in tags:
        return Worth.WORDS if likely >= LEAST_IN_MENU else Worth.FURNITURE
    if likely >= (LEAST_NUMBERS_AT_EDGE if edge else LEAST_PRICE if is_price(line.text) else LEAST_NUMBERS):
        return Worth.NUMBERS
    return Worth.WORDS if likely >= (LEAST_AT_EDGE if edge else LEAST_ELSEWHERE) else Worth.FURNITURE


def _around(place: Place | None) -> set[str]:
    """Return the tags of an element and of all around it."""
    tags = set()
    while place is not None:
        tags.add(place.tag)
        place = place.parent
    return tags
