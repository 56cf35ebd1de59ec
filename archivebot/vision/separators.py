"""Separators: the empty stripes between the parts of a page, and their weights."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from archivebot.vision.block import SLACK, Box, Separator, around
from archivebot.vision.node import Font, Node

# The contributions to the weight of a separator. VIPS names the reasons but no figures: a wide gap counts as
# much as a line, both count more than a change of colour, and that counts more than a change of font.
WIDE = 40.0  # pixels from which a gap has the maximum weight
BY_GAP, BY_LINE, BY_BACKGROUND, BY_FONT, BY_HEADING, BY_LIKENESS = 3.0, 3.0, 2.0, 1.0, 1.0, -1.0
LEAST_RAW = 0.5


@dataclass(frozen=True, slots=True)
class Part:
    """A unit in the division of a page: neighbouring nodes, with ``over`` the nodes that lie over them.

    ``doc`` is its degree of coherence by the rules of division.
    """

    box: Box
    doc: int
    nodes: tuple[Node, ...] = field(repr=False)
    over: tuple[Node, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, nodes: Sequence[Node], doc: int) -> Part:
        return cls(around(node.box for node in nodes), doc, tuple(nodes))

    @property
    def lifted(self) -> bool:
        return all(node.lifted for node in self.nodes)

    @property
    def background(self) -> str:
        return self.nodes[0].background

    @property
    def is_text(self) -> bool:
        return all(node.is_text for node in self.nodes)

    def font(self) -> Font | None:
        """Return the font of most of its text, None if it has none."""
        count: Counter[Font] = Counter()
        for node in self.nodes:
            for text in node.texts():
                count[text.font] += len(text.text)
        return max(count, key=count.__getitem__) if count else None


@dataclass(frozen=True, slots=True)
class Cut:
    """A separator of a pool with its raw weight, and the parts on both sides that are next to it."""

    separator: Separator
    raw: float
    at: int  # number of parts before it, in the order of the direction


def cuts(parts: Sequence[Part], lines: Iterable[Box], vertical: bool) -> tuple[list[Part], list[Cut]]:
    """Find the separators of one direction by projection; return the ordered parts and the cuts.

    A separator extends from one edge of the pool to the other and crosses no part. Parts that touch have a
    separator without width. ``lines`` are the rectangles of HR elements.

    >>> head, foot = (Part(Box(0, y, 90, y + 10), 8, (Node("p", Box(0, y, 90, y + 10)),)) for y in (0, 30))
    >>> [(cut.at, cut.separator.box) for cut in cuts([foot, head], [], vertical=False)[1]]
    [(1, Box(left=0, top=10, right=90, bottom=30))]
    >>> cuts([foot, head], [], vertical=True)[1]
    []
    """
    ordered = sorted(parts, key=lambda part: (_span(part.box, vertical), _span(part.box, not vertical)))
    if not ordered:
        return [], []
    whole, drawn = around(part.box for part in ordered), list(lines)
    found, last = [], ordered[0]
    for at, part in enumerate(ordered[1:], 1):
        end, start = _span(last.box, vertical)[1], _span(part.box, vertical)[0]
        if start >= end - SLACK:
            box = _stripe(whole, end, max(start, end), vertical)
            explicit = any(_draws(line, box, vertical) for line in drawn)
            raw = weigh(last, part, max(start - end, 0.0), explicit=explicit, vertical=vertical)
            found.append(Cut(Separator(box, vertical, explicit=explicit), raw, at))
        if _span(part.box, vertical)[1] > end:
            last = part
    return ordered, found


def weigh(before: Part, after: Part, gap: float, *, explicit: bool, vertical: bool) -> float:
    """Return the weight of a separator, by the parts on both sides of it.

    A wider gap, a line and another background make it heavier. Between rows another font makes it heavier,
    too, especially if the smaller font comes first; texts with the same style make it lighter.
    """
    weight = LEAST_RAW + BY_GAP * min(gap, WIDE) / WIDE + BY_LINE * explicit
    weight += BY_BACKGROUND * (before.background != after.background)
    if not vertical:
        above, below = before.font(), after.font()
        if above and below and above != below:
            weight += BY_FONT + BY_HEADING * (above.size < below.size)
        elif above and before.is_text and after.is_text:
            weight += BY_LIKENESS
    return max(weight, LEAST_RAW)


def heaviest(*found: Sequence[Cut]) -> Sequence[Cut]:
    """Return the separators of the direction with the heaviest one; among equals the first direction."""
    return max(found, key=lambda cuts: max((cut.raw for cut in cuts), default=0.0))


def scaled(cut: Cut, most: float) -> Separator:
    """Return the separator of a cut with its weight from 1 to 9; ``most`` is the largest raw weight."""
    return replace(cut.separator, weight=max(1, min(9, round(9 * cut.raw / most))))


def _span(box: Box, vertical: bool) -> tuple[float, float]:
    return (box.left, box.right) if vertical else (box.top, box.bottom)


def _stripe(whole: Box, start: float, end: float, vertical: bool) -> Box:
    if vertical:
        return Box(start, whole.top, end, whole.bottom)
    return Box(whole.left, start, whole.right, end)


def _draws(line: Box, stripe: Box, vertical: bool) -> bool:
    """Return whether a line lies in a stripe, parallel to it."""
    along = (line.height > line.width) == vertical
    start, end = _span(stripe, vertical)
    own_start, own_end = _span(line, vertical)
    return along and start - SLACK <= own_start and own_end <= end + SLACK
