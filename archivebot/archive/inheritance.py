"""What a version inherits from the version before: the boundaries of its blocks, and their labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from archivebot.archive.bodies import Content
from archivebot.archive.readings import Since
from archivebot.markup.charset import is_wide
from archivebot.models import Block, Label
from archivebot.segmentation.carry import carry, shifted
from archivebot.storage.content import Slot
from archivebot.versioning.align import kept

# The labels of the version before hold while each block has grown or shrunk by at most this number of bytes
# or this share of its bytes, whichever is more. 515 versions of history-dev have the tags of the version
# before: of their 34,933 blocks one has another label if it is labelled again.
MOST_BYTES = 200
MOST_SHARE = 0.2

Labels = tuple[Label, ...]


def carried(known: Content, body: bytes, since: Since | None = None) -> tuple[tuple[Block, ...], Labels]:
    """Return the blocks of a version in another body, with the labels that still hold.

    ``since`` are the edits, if they were found. There are no blocks if the tags differ, and no labels if a
    block has another length.
    """
    if is_wide(known.charset):
        return (), ()
    slots, before = known.slots, known.body
    places = [Block(slot.start, slot.end, slot.level) for slot in slots]
    edits = since.edits if since and since.body == before else None
    blocks = (shifted(places, body, edits) if edits else None) or carry(before, places, body) or ()
    labels = tuple(slot.label for slot in slots if slot.label)
    hold = len(labels) == len(blocks) and all(map(_is_as_long, slots, blocks))
    return blocks, labels if hold else ()


def labels(
    known: Content, body: bytes, blocks: Sequence[Block], read: Callable[[Sequence[Block]], Labels]
) -> Labels:
    """Return the labels of the blocks of a body that was cut again; ``read`` labels some blocks of it.

    A block with the bytes of a block of the version before keeps its label, if it has the same order among
    such blocks and the page has about the same length. 12 of 237 pages of history-dev, and 14 of their
    versions each, have 11,548 such blocks. None has another label if it is labelled again. Of 844 others in
    the place of a block of about their length four have.
    """
    slots, before = known.slots, known.body
    inherited: dict[int, Label] = {}
    if abs(len(body) - len(before)) <= MOST_SHARE * len(before):
        then = [before[slot.start : slot.end] for slot in slots]
        now = [body[block.start : block.end] for block in blocks]
        inherited = {new: label for new, old in kept(then, now) if (label := slots[old].label)}
    rest = [index for index in range(len(blocks)) if index not in inherited]
    found = dict(zip(rest, read([blocks[index] for index in rest]) if rest else (), strict=True))
    found |= inherited
    return tuple(found[index] for index in range(len(blocks)))


def _is_as_long(before: Slot, now: Block) -> bool:
    """Return whether a block has about the length of the block before."""
    then = before.end - before.start
    return abs(now.end - now.start - then) <= max(MOST_BYTES, MOST_SHARE * then)
