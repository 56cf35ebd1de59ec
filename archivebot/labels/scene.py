"""The position of a block: the elements in it, around it, and before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import takewhile

from turbohtml import Element

from archivebot.labels.tables import data_tables
from archivebot.markup.seen import Box, Counts
from archivebot.markup.tree import Tree

# An element around a block counts only if it holds at most this share of the page's letters: a wrapper named
# "header-fixed" or a form around everything does not describe the block.
AROUND_SHARE = 0.5


@dataclass(slots=True)
class Scene:
    """A block on its page.

    ``total`` sums the visible contents of the block, ``inside`` are its boxes, ``around`` the boxes that
    contain it, the nearest first; ``before`` and ``share`` are the shares of the page's letters (0..1) before
    it and in it. ``holders`` are the elements that contain the block and little else, the outermost first;
    ``speakers`` those that may describe it: the holders, then those around it, up to a size. ``markup`` is
    its source, ``tables`` are the data tables of the page, ``repeats`` the share of the site's pages with
    the block, if known.
    """

    total: Counts
    inside: list[Box]
    around: list[Box]
    before: float
    share: float
    holders: list[Element]
    speakers: list[Element]
    markup: str = field(repr=False)
    tables: Mapping[Element, int] = field(repr=False)
    repeats: float | None

    def held(self, tags: frozenset[str]) -> int:
        """Return the letters of the block in elements of some names."""
        return sum(box.sight.held(box.node.element, tags) for box in self.inside if box.node.element)


Range = tuple[int, int, float | None]


def locate(body: Box, page: Tree, ranges: Sequence[Range]) -> list[Scene]:
    """Find blocks of a page in the boxes of its body; each has its start, its end and its repetition.

    If the parser moved letters, all boxes are counted again by their places in the source.
    """
    tables = data_tables(body.sight)
    scenes = [_scene(body, page, tables, *each) for each in ranges]
    if body.sight.is_moved:
        body.sight.recount(body)
        scenes = [_scene(body, page, tables, *each) for each in ranges]
    return scenes


def _scene(
    body: Box, page: Tree, tables: Mapping[Element, int], start: int, end: int, repeats: float | None
) -> Scene:
    around = [body]
    letters = 0
    while True:
        index, before = around[-1].before(start)
        letters += before
        parts = around[-1].parts
        if index == len(parts) or not _holds(parts[index], page, start, end):
            break
        around.append(parts[index])
    inside = []
    while index < len(parts) and parts[index].node.start < end:
        inside.append(parts[index])
        index += 1
    if not inside:
        inside = [around.pop() if len(around) > 1 else body]
    around.reverse()
    total = Counts()
    for box in inside:
        total.take(box.counts)
    whole = body.letters or 1
    holders = list(_holders(inside))
    most = AROUND_SHARE * whole if total.letters else 0.0
    near = takewhile(lambda box: box.letters <= most, around)
    return Scene(
        total=total,
        inside=inside,
        around=around,
        before=letters / whole,
        share=total.letters / whole,
        holders=holders,
        speakers=[*holders, *(box.node.element for box in near if box.node.element)],
        markup=page.piece(start, end),
        tables=tables,
        repeats=repeats,
    )


def _holders(inside: Sequence[Box]) -> Iterator[Element]:
    element = inside[0].node.element if len(inside) == 1 else None
    while element is not None:
        yield element
        element = inside[0].sight.only(element)


def _holds(part: Box, page: Tree, start: int, end: int) -> bool:
    """Return whether a part contains the block and more than white space after it."""
    node = part.node
    if node.start > start or node.end < end:
        return False
    more = node.start < start or bool(page.piece(end, node.end).strip())
    return more and bool(part.parts)  # to open a part costs most
