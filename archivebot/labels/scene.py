"""Where a block stands: the elements in it, the elements around it, and what is before it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile

from archivebot.markup.seen import Box
from archivebot.markup.tree import Node

# What is around a block speaks for it only where it holds at most this share of the page's letters:
# a wrapper named "header-fixed" or a form around everything says nothing.
AROUND_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Scene:
    """A block on its page.

    ``total`` sums what is seen in the block, ``inside`` are the boxes it consists of, ``around`` the
    boxes that hold it, the nearest first; ``before`` and ``share`` are the parts of the page's letters
    (0..1) that stand before it and in it. ``markup`` is its source, ``tables`` are the data tables of the
    page, ``repeats`` the share of the site's pages that hold it, if known.
    """

    total: Box
    inside: tuple[Box, ...]
    around: tuple[Box, ...]
    before: float
    share: float
    markup: str = field(default="", repr=False)
    tables: Mapping[int, int] = field(default_factory=dict, repr=False)
    repeats: float | None = None

    @property
    def holders(self) -> list[Box]:
        """Return the boxes that are the block and little else, the outermost first."""
        if len(self.inside) != 1:
            return []
        found = [self.inside[0]]
        while len(parts := [part for part in found[-1].parts if _is_seen(part)]) == 1:
            found.append(parts[0])
        return found

    @property
    def speakers(self) -> list[Box]:
        """Return the boxes that may say what the block is: itself, then what is around, up to a bound."""
        most = AROUND_SHARE * self.total.letters / self.share if self.share else 0.0
        return [*self.holders, *takewhile(lambda box: box.letters <= most, self.around)]


def _is_seen(box: Box) -> bool:
    return bool(box.letters or box.pictures or box.controls)


def locate(page: Box, text: str, start: int, end: int) -> Scene:
    """Find the block [start, end) of the source text in the boxes of its page."""
    around = [page]
    before = 0
    while True:
        parts = around[-1].parts
        first = max(bisect_right(parts, start, key=lambda part: part.node.start) - 1, 0)
        if first < len(parts) and parts[first].node.end <= start:
            first += 1
        before += sum(part.letters for part in parts[:first])
        if first == len(parts) or not _holds(parts[first], text, start, end):
            break
        around.append(parts[first])
    inside = tuple(takewhile(lambda part: part.node.start < end, parts[first:]))
    if not inside:
        inside = (around.pop(),) if len(around) > 1 else (page,)
    total = Box(Node(None, start, end))
    for box in inside:
        total.take(box)
    letters = page.letters or 1
    return Scene(
        total=total,
        inside=inside,
        around=tuple(reversed(around)),
        before=before / letters,
        share=total.letters / letters,
    )


def _holds(part: Box, text: str, start: int, end: int) -> bool:
    """Return whether a part holds the block and more; white space after it is not more."""
    node = part.node
    if not part.parts or node.start > start or node.end < end:
        return False
    return node.start < start or bool(text[end : node.end].strip())
