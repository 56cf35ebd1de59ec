"""The visual blocks of a rendered page: divided by rules and separators until they are coherent.

VIPS, after Cai, Yu, Wen, Ma, "VIPS: a Vision-based Page Segmentation Algorithm", MSR-TR-2003-79, 2003: blocks
are taken from the DOM, separators are found between them, the structure is built from both, and each block
that is less coherent than permitted is divided in the same way. The paper lists rules by element without
figures; the rules here apply to every element in one order, with our own figures. The paper builds the
structure from the lightest separator upwards; here the pool is cut at the heaviest separator. The tree is the
same if separators cross the whole pool, and blocks never overlap.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from archivebot.text import collapse
from archivebot.vision.block import LEAST_DOC, MOST_DOC, Box, Separator, VisionBlock, around
from archivebot.vision.node import Node
from archivebot.vision.separators import Cut, Part, cuts, heaviest, scaled

# Default permitted degree of coherence. F against the blocks marked by hand on the 81 pages of blocks-random,
# laid out without their style sheets, is 0.48 at 4, 0.49 at 5 and 0.46 at 6.
PERMITTED = 5

# Maximum share of the page of an undivided node that contains text, or has no larger child: F is 0.38 at
# 0.02, 0.43 at 0.05, 0.49 at 0.1 and 0.15.
SMALL = 0.1

# Shares of the page at which the degree of coherence falls: 8 below the first, then 7, 6 and 5.
SIZES = (0.02, 0.1, 0.3)

# Elements with a single kind of content: one degree more.
ONE_THING = frozenset("p li dt dd h1 h2 h3 h4 h5 h6 a pre blockquote caption figcaption button label".split())

# Maximum depth of nested blocks; pages stay below 20.
MOST_NESTED = 60


def segment(root: Node, permitted: int = PERMITTED) -> VisionBlock:
    """Divide a page until each block has the permitted degree of coherence (1..10), or cannot be divided.

    The block of the page contains all others. Children lie within their parent, do not overlap, and are at
    least as coherent.

    >>> head = Node("h1", Box(0, 0, 100, 20), "/h1", children=(Node("", Box(0, 0, 60, 20), text="Terns"),))
    >>> text = Node("p", Box(0, 60, 100, 90), "/p", children=(Node("", Box(0, 60, 90, 90), text="Dive"),))
    >>> page = segment(Node("body", Box(0, 0, 100, 90), "", children=(head, text)), 10)
    >>> page.doc, [(block.path, block.doc, block.text) for block in page.children]
    (1, [('/h1', 10, 'Terns'), ('/p', 10, 'Dive')])
    """
    return _Division(root, permitted).run()


class _Division:
    """The division of one page."""

    def __init__(self, root: Node, permitted: int) -> None:
        self.root, self.permitted = root, permitted
        self.area = max(root.box.area, 1.0)
        self.lines = [node.box for node in root.walk() if node.tag == "hr"]
        self.heaviest = 0.0  # raw weight of the heaviest separator of the first pool

    def run(self) -> VisionBlock:
        return self._divided(Part.of([self.root], LEAST_DOC), LEAST_DOC, 0)

    def _divided(self, part: Part, least: int, nested: int) -> VisionBlock:
        """Return the block of a part, divided as far as permitted."""
        while True:
            doc = max(part.doc, least)
            if doc >= self.permitted or nested >= MOST_NESTED or part.is_text:
                return _block(part, doc)
            pool = self._pool(part)
            if len(pool) > 1:
                return self._structured(pool, doc, nested, part)
            if not pool or pool[0].is_text or pool[0].nodes == part.nodes:
                return _block(part, max([doc, *(only.doc for only in pool)]))
            part = pool[0]

    def _structured(self, pool: Sequence[Part], least: int, nested: int, whole: Part) -> VisionBlock:
        """Return the block of a part from the pool of its parts, cut at the heaviest separators."""
        rows, across = cuts(pool, self.lines, vertical=False)
        columns, down = cuts(pool, self.lines, vertical=True)
        chosen = heaviest(across, down)
        ordered = columns if chosen is down and down else rows
        self.heaviest = self.heaviest or max((cut.raw for cut in chosen), default=0.0)
        separators, groups = self._groups(ordered, chosen)
        doc = max(least, MOST_DOC - separators[0].weight) if separators else least
        if doc >= self.permitted or nested >= MOST_NESTED:
            return _block(whole, doc)
        children = [self._grouped(group, doc, nested + 1) for group in groups]
        return replace(
            _block(whole, doc),
            text=collapse(" ".join(child.text for child in children)),
            elements=sum(child.elements for child in children),
            children=tuple(children),
            separators=tuple(separators),
        )

    def _grouped(self, group: Sequence[Part], least: int, nested: int) -> VisionBlock:
        if len(group) == 1:
            return self._divided(group[0], least, nested)
        over = tuple(node for part in group for node in part.over)
        joined = Part.of([node for part in group for node in part.nodes], least)
        box = around(part.box for part in group)
        return self._structured(group, least, nested, replace(joined, box=box, over=over))

    def _groups(
        self, ordered: Sequence[Part], found: Sequence[Cut]
    ) -> tuple[list[Separator], list[Sequence[Part]]]:
        """Split a pool at its heaviest separators; without separators each part stays alone."""
        weighed = [(scaled(cut, self.heaviest), cut.at) for cut in found]
        most = max((separator.weight for separator, _ in weighed), default=0)
        kept = [(separator, at) for separator, at in weighed if separator.weight == most]
        if not kept:
            return [], [[part] for part in ordered]
        edges = [0, *(at for _, at in kept), len(ordered)]
        groups = [ordered[start:end] for start, end in pairwise(edges)]
        return [separator for separator, _ in kept], groups

    def _pool(self, part: Part) -> list[Part]:
        """Split a part into parts side by side; nodes that lie over it stay with one of them."""
        pool = _side_by_side(list(self._parts(part.nodes)))
        for node in part.over:
            _lay(node, pool)
        return pool

    def _parts(self, nodes: Sequence[Node]) -> Iterator[Part]:
        """Divide nodes by the rules, once; rule 3: the node itself is always divided."""
        stack: list[tuple[Node, ...] | Part] = [
            run
            for node in reversed(nodes)
            for run in reversed(self._within(node) if node.children else [(node,)])
        ]
        while stack:
            taken = stack.pop()
            if isinstance(taken, Part):
                yield taken
            elif len(taken) > 1 or taken[0].is_text:
                yield Part.of(taken, 10 if _one_font(taken) else 9)
            elif taken[0].tag != "hr":
                (node,) = taken
                doc = self._kept(node)
                if doc is None:
                    stack.extend(reversed(self._within(node)))
                else:
                    yield Part.of([node], doc)

    def _within(self, node: Node) -> list[tuple[Node, ...] | Part]:
        """Return the children of a node: flowing text as one; by rule 8, other colours undivided."""
        runs: list[tuple[Node, ...] | Part] = []
        flow: list[Node] = []
        for child in node.children:
            if child.is_text and not child.lifted:
                flow.append(child)
                continue
            runs.extend([tuple(flow)] if flow else [])
            flow = []
            coloured = len(node.children) > 1 and child.background != node.background and child.children
            whole = coloured and not child.is_text and self._kept(child) is None
            runs.append(Part.of([child], max(6, self._degree(child))) if whole else (child,))
        return runs + ([tuple(flow)] if flow else [])

    def _kept(self, node: Node) -> int | None:
        """Return the degree of coherence of an undivided node, None if the node is divided."""
        children = node.children
        if not children:  # rule 1: a picture, a control
            return MOST_DOC
        if len(children) == 1 and children[0].tag:  # rule 2
            return None
        if all(child.is_text for child in children):  # rule 4
            return 10 if _one_font([node]) else 9
        if _is_mixed(node):  # rules 5 to 8
            return None
        small = SMALL * self.area
        holds_text = any(child.is_text for child in children) and node.box.area < small  # rule 9
        if holds_text or max(child.box.area for child in children) < small:  # rule 10
            return self._degree(node)
        return None  # rule 12

    def _degree(self, node: Node) -> int:
        """Return the degree of coherence of a node by its size and its element, 5 to 8."""
        share = node.box.area / self.area
        return min(8, 8 - sum(share >= size for size in SIZES) + (node.tag in ONE_THING))


def _is_mixed(node: Node) -> bool:
    """Return whether what a node holds is of several kinds, by rules 5 (blocks in a line), 6 (a line drawn
    between), 7 (more in a table than there is room for) and 8 (another colour).
    """
    children = node.children
    if node.inline and any(not child.inline for child in children):
        return True
    if any(child.tag == "hr" or child.background != node.background for child in children):
        return True
    return node.tag in ("table", "tr") and sum(child.box.area for child in children) > node.box.area


def _one_font(nodes: Sequence[Node]) -> bool:
    return len({text.font for node in nodes for text in node.texts()}) == 1


def _side_by_side(parts: Sequence[Part]) -> list[Part]:
    """Merge overlapping parts until none overlap."""
    place = {id(node): at for at, part in enumerate(parts) for node in part.nodes}
    while True:
        kept: list[Part] = []
        open_: list[int] = []  # parts that extend down to the current part
        for part in sorted(parts, key=lambda part: part.box.top):
            open_ = [at for at in open_ if kept[at].box.bottom > part.box.top]
            at = next((at for at in open_ if part.box.overlaps(kept[at].box)), None)
            if at is None:
                open_.append(len(kept))
                kept.append(part)
            else:
                kept[at] = _together(kept[at], part, place)
        if len(kept) == len(parts):
            return kept
        parts = kept


def _together(one: Part, other: Part, place: Mapping[int, int]) -> Part:
    """Merge two parts; if one of them lies over the page, the larger one keeps its box."""
    if one.lifted or other.lifted:
        host, guest = (one, other) if one.box.area >= other.box.area else (other, one)
        return replace(host, over=(*host.over, *guest.nodes, *guest.over))
    nodes = sorted((*one.nodes, *other.nodes), key=lambda node: place[id(node)])
    return replace(Part.of(nodes, min(one.doc, other.doc)), over=(*one.over, *other.over))


def _lay(node: Node, pool: list[Part]) -> None:
    """Assign a node to the part of a pool that it covers most, or to the last."""
    if pool:
        at = max(range(len(pool)), key=lambda at: _common(node.box, pool[at].box))
        pool[at] = replace(pool[at], over=(*pool[at].over, node))


def _common(one: Box, other: Box) -> float:
    across = min(one.right, other.right) - max(one.left, other.left)
    down = min(one.bottom, other.bottom) - max(one.top, other.top)
    return max(across, 0.0) * max(down, 0.0)


def _block(part: Part, doc: int) -> VisionBlock:
    first, nodes = part.nodes[0], (*part.nodes, *part.over)
    text = collapse(" ".join(text.text for node in nodes for text in node.texts()))
    return VisionBlock(part.box, doc, first.tag, first.path, text, len(nodes))
