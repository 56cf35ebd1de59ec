"""The outline of a page: the few large blocks that a visitor sees at first sight."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from archivebot.markup.media import media_of
from archivebot.markup.seen import Box, look
from archivebot.markup.tags import FORMAT, FUNCTIONAL
from archivebot.markup.tree import Source
from archivebot.models import Block
from archivebot.segmentation.segmenter import BLANKS

# Elements that arrange a page; everything else flows: headings, paragraphs, lists, text.
LAYOUT = frozenset(
    "article aside center div fieldset footer form header main nav section"
    " table tbody td tfoot th thead tr".split()
)
INLINE = FORMAT | FUNCTIONAL

# An element with this share of the page's letters is the frame around the blocks, not a block. On the
# 81 pages of blocks-random F is 0.61 at 0.85, 0.65 at 0.90, and 0.69 to 0.71 anywhere from 0.95 to 1.
FRAME_SHARE = 0.97

# A frame is not opened if at least this many parts of one class hold this share of its letters: they are the
# items of a feed, which is one block. F is 0.709 with it and 0.699 without.
FEED_ITEMS = 4
FEED_SHARE = 0.8


def outline(body: bytes, content_type: str = "") -> tuple[Block, ...]:
    """Return the top-level blocks of a page: head, menu, content, side, foot, as far as it has them.

    A frame that holds nearly all letters of the page is opened, recursively. Its parts are the blocks;
    neighbouring paragraphs, headings and texts form one block. Elements hidden by the page's own attributes,
    and elements without letters, are not blocks. Bytes that are not markup are one block.

    >>> page = b"<div><div>Head</div><h1>A</h1><p>Text</p><div style='display:none'>No</div></div>"
    >>> [page[block.start : block.end] for block in outline(page)]
    [b'<div>Head</div>', b'<h1>A</h1><p>Text</p>']
    >>> outline(b"%PDF-1.7 ..."), outline(b"")
    ((Block(start=0, end=12, level=1),), ())
    """
    media = media_of(body, content_type)
    if media.is_markup:
        source = Source.of(body, media.charset)
        page = look(source)
        if page is not None and page.letters:
            groups = [block for run in _runs(_shown(page)) for block in _cut(run, page.letters)]
            return tuple(_block(group, source, len(body)) for group in groups)
    return (Block(0, len(body), 1),) if body else ()


def _block(group: Sequence[Box], source: Source, length: int) -> Block:
    start, end = group[0].node.start, group[-1].node.end
    chunk = source.text[start:end]
    start, end = end - len(chunk.lstrip(BLANKS)), start + len(chunk.rstrip(BLANKS))
    return Block(start * source.unit, min(end * source.unit, length), 1)


def _cut(group: list[Box], total: int) -> list[list[Box]]:
    """Open the frame that a group consists of; only one part of it can be a frame again."""
    if len(group) > 1 or group[0].letters < FRAME_SHARE * total:
        return [group]
    parts = _parts(group[0])
    groups = _runs(parts)
    if len(groups) < 2 or _is_feed(parts):
        return [group]
    return [block for part in groups for block in _cut(part, total)]


def _parts(box: Box) -> list[Box]:
    """Return the parts that have letters, looking through elements with one such part."""
    while True:
        parts = _shown(box)
        if len(parts) != 1 or not parts[0].parts:
            return parts
        box = parts[0]


def _is_feed(parts: Sequence[Box]) -> bool:
    """Return whether parts are items of one kind; rows and cells arrange pages whatever their class."""
    letters: dict[str, list[int]] = defaultdict(list)
    for part in parts:
        kind = " ".join(part.attribute("class").split())
        if kind and part.node.tag not in ("td", "tr"):
            letters[f"{part.node.tag} {kind}"].append(part.letters)
    most = max(letters.values(), key=sum, default=[])
    return len(most) >= FEED_ITEMS and sum(most) >= FEED_SHARE * sum(part.letters for part in parts)


def _shown(box: Box) -> list[Box]:
    return [part for part in box.parts if part.letters]


def _runs(parts: Sequence[Box]) -> list[list[Box]]:
    """Group neighbours that flow; an element that arranges the page stays alone."""
    runs: list[list[Box]] = []
    flowing = False
    for part in parts:
        arranged = _arranges(part)
        if runs and flowing and not arranged:
            runs[-1].append(part)
        else:
            runs.append([part])
        flowing = not arranged
    return runs


def _arranges(box: Box) -> bool:
    """Return whether a box is part of the page's layout, or an inline element that contains one."""
    tag = box.node.tag
    return tag in LAYOUT or (tag in INLINE and any(_arranges(part) for part in box.parts if part.letters))
