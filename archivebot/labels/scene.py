"""The position of a block: the elements in it, around it, and before it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import takewhile

from archivebot.markup.seen import Box
from archivebot.markup.tree import Node

# An element around a block counts only if it holds at most this share of the page's letters: a wrapper named
# "header-fixed" or a form around everything does not describe the block.
AROUND_SHARE = 0.5


@dataclass(frozen=True, slots=True)
class Scene:
    """A block on its page.

    ``total`` sums the visible contents of the block, ``inside`` are its boxes, ``around`` the boxes that
    contain it, the nearest first; ``before`` and ``share`` are the shares of the page's letters (0..1) before
    it and in it. ``markup`` is its source, ``tables`` are the data tables of the page, ``repeats`` the share
    of the site's pages with the block, if known.
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
        """Return the boxes that contain the block and little else, the outermost first."""
        if len(self.inside) != 1:
            return []
        found = [self.inside[0]]
        while len(parts := [part for part in found[-1].parts if _is_seen(part)]) == 1:
            found.append(parts[0])
        return found

    @property
    def speakers(self) -> list[Box]:
        """Return the boxes that may describe the block: its own, then those around it, up to a size."""
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
    """Return whether a part contains the block and more than white space after it."""
    node = part.node
    if not part.parts or node.start > start or node.end < end:
        return False
    return node.start < start or bool(text[end : node.end].strip())
