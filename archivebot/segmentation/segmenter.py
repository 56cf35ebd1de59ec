"""The partition of a body into blocks, up to a level of its block tree."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence

from archivebot.markup import tree
from archivebot.markup.media import media_of
from archivebot.markup.page import ParsedPage
from archivebot.markup.tree import Node, Source, Tree
from archivebot.models import Block, Partition
from archivebot.segmentation.rules import WRAPPER_SHARE, divisible, is_block, visible

SEGMENTER_VERSION = 1

# The paper's MaxDepth: elements nested deeper than this below the body are not cut. Real pages stay
# below 60; the bound keeps hostile nesting linear.
MAX_DEPTH = 200

# Siblings of one parent beyond this number are grouped, so that a table of 10,000 rows becomes tens
# of blocks at one level and hundreds at the next.
MAX_PARTS = 48

# A region of fewer bytes is not cut: a heading and its line, a menu of three words.
LEAST_CUT = 64

# White space between tags; other white space may be part of a character of several bytes.
BLANKS = " \t\r\n\f"

# A run of small siblings beyond this many bytes is grouped likewise.
RUN_BYTES = 4096

# Consecutive siblings that form one node of the block tree.
Region = tuple[Node, ...]


def partition(body: bytes, level: int, content_type: str = "") -> Partition:
    """Cut a body into blocks, ``level`` cuts deep (1 is coarsest).

    Any bytes are accepted; a body that cannot be cut is one block. The blocks are byte ranges in order,
    without overlap, between tags, never inside a comment, script, style, textarea, title, template
    or svg. Time grows linearly with the length of the body.

    >>> [(b.start, b.end) for b in partition(b"<h1>A</h1><p>B</p>", 1).blocks]
    [(0, 10), (10, 18)]
    >>> partition(b"%PDF-1.7 ...", 3).blocks
    (Block(start=0, end=12, level=1),)
    >>> partition(b"", 1).blocks
    ()
    """
    media = media_of(body, content_type)
    if media.is_markup:
        return cut_page(ParsedPage(body, media.charset), level)
    return uncut(body, level, media.charset)


def uncut(body: bytes, level: int, charset: str) -> Partition:
    """Return the partition of a body that is not markup: one block."""
    blocks = (Block(0, len(body), 1),) if body else ()
    return Partition(len(body), level, charset, SEGMENTER_VERSION, blocks)


def cut_page(page: ParsedPage, level: int) -> Partition:
    """Cut a parsed page as :func:`partition` does.

    A page without exact offsets is parsed again, byte by byte.
    """
    length = len(page.body)
    if page.is_exact:
        blocks = tuple(_blocks(page, level))
    else:
        source = Source.of(page.body, page.charset)
        found = _blocks(source, level)
        blocks = tuple(Block(b.start * source.unit, min(b.end * source.unit, length), b.level) for b in found)
    if not blocks and page.body:
        blocks = (Block(0, length, 1),)
    return Partition(length, level, page.charset, SEGMENTER_VERSION, blocks)


def _blocks(page: Tree, level: int) -> Iterator[Block]:
    for region, depth in _leaves(page, level):
        start, end = _trimmed(page, region[0].start, region[-1].end)
        if start < end:
            yield Block(start, end, depth)


def _trimmed(page: Tree, start: int, end: int) -> tuple[int, int]:
    """Return a range without the blanks at its ends."""
    chunk, blank = page.piece(start, end), page.blank
    before, after = len(chunk) - len(chunk.lstrip(BLANKS)), len(chunk) - len(chunk.rstrip(BLANKS))
    return start + before * blank, end - after * blank


def _leaves(page: Tree, level: int) -> Iterator[tuple[Region, int]]:
    body = tree.root(page)
    if body is None:
        return
    stack = [(region, 1, depth) for region, depth in reversed(_parts(body, page, 0))]
    while stack:
        region, cut, depth = stack.pop()
        parts = _split(region, page, depth) if cut < level else []
        if len(parts) > 1:
            stack.extend((part, cut + 1, at) for part, at in reversed(parts))
        else:
            yield region, cut


def _split(region: Region, page: Tree, depth: int) -> list[tuple[Region, int]]:
    size = _size(region)
    if size < LEAST_CUT:
        return []
    if len(region) > 1:
        return _grouped(_runs(region), page, depth) if size > RUN_BYTES else []
    node = region[0]
    return _parts(node, page, depth + 1) if divisible(node) else []


def _parts(container: Node, page: Tree, depth: int) -> list[tuple[Region, int]]:
    """Return the regions of an element, looking through wrappers (rules 4 and 6)."""
    node = container
    while depth < MAX_DEPTH and node.element is not None:
        nodes = [child for child in tree.inside(page, node) if visible(child)]
        if len(nodes) == 1 and is_block(nodes[0]) and divisible(nodes[0]):
            node, depth = nodes[0], depth + 1
            continue
        parts = _grouped(_runs(nodes), page, depth)
        if len(parts) > 1:
            return _unwrapped(parts, node, page)
        return parts if node is container else [((node,), depth)]
    return []


def _unwrapped(parts: list[tuple[Region, int]], parent: Node, page: Tree) -> list[tuple[Region, int]]:
    least = (parent.end - parent.start) * WRAPPER_SHARE
    for index, (region, depth) in enumerate(parts):
        if len(parts) > 1 and _size(region) >= least:
            inner = _split(region, page, depth)
            return parts[:index] + inner + parts[index + 1 :] if len(inner) > 1 else parts
    return parts


def _runs(nodes: Sequence[Node]) -> list[Region]:
    """Group text, inline elements and small items; everything else stays alone."""
    regions: list[Region] = []
    run: list[Node] = []
    for node in nodes:
        if is_block(node):
            if run:
                regions.append(tuple(run))
                run = []
            regions.append((node,))
        else:
            run.append(node)
    return regions + ([tuple(run)] if run else [])


def _grouped(regions: list[Region], page: Tree, depth: int) -> list[tuple[Region, int]]:
    """Split long runs, then many regions, into groups whose boundaries survive insertions."""
    parts: list[Region] = []
    for region in regions:
        if len(region) > 1 and (size := _size(region)) > RUN_BYTES:
            items = ((node,) for node in region)
            parts.extend(_groups(items, _power_of_two(len(region) * RUN_BYTES / 2 / size), page))
        else:
            parts.append(region)
    if len(parts) > MAX_PARTS:
        parts = _groups(parts, _power_of_two(len(parts) / MAX_PARTS), page)
    return [(part, depth) for part in parts]


def _size(region: Region) -> int:
    return region[-1].end - region[0].start


def _power_of_two(least: float) -> int:
    return 1 << max(0, int(least)).bit_length()


def _groups(regions: Iterable[Region], mean: int, page: Tree) -> list[Region]:
    """Group neighbours, about ``mean`` at a time; a hash of the first words ends a group.

    Boundaries depend on content rather than on position (content-defined chunking: Muthitacharoen, Chen,
    Mazieres, "A Low-bandwidth Network File System", 2001), so an inserted item leaves all other groups
    unchanged. As they depend on the first words only, most edits do so, too.
    """
    groups: list[Region] = []
    nodes: list[Node] = []
    count = 0
    for region in regions:
        nodes.extend(region)
        count += 1
        if count >= 4 * mean or zlib.crc32(_first_words(region[0], page)) % mean == 0:
            groups.append(tuple(nodes))
            nodes, count = [], 0
    return groups + ([tuple(nodes)] if nodes else [])


def _first_words(node: Node, page: Tree) -> bytes:
    if node.element is None:
        text = page.piece(node.start, node.end).lstrip()
    else:
        text = next(node.element.stripped_strings, "")
    return page.bytewise(text[:40])[:40].encode("utf-8", "surrogatepass")
