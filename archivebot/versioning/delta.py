"""The difference between two versions of a page, block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from archivebot.models import BlockChange, Change
from archivebot.segmentation.dom import visible_text
from archivebot.text import words
from archivebot.versioning.align import align, dice, in_order


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A block of one version: which block it is, its bytes, and how to read them."""

    lineage: str
    topic: str
    data: bytes = field(repr=False)
    charset: str = "utf-8"

    @property
    def text(self) -> str:
        """What a reader sees of it."""
        return visible_text(self.data, self.charset)


def compare(before: Sequence[PlacedText], after: Sequence[PlacedText]) -> tuple[BlockChange, ...]:
    """List every block of two versions with its change, in the order of the later one, removed ones last.

    >>> old = [PlacedText("p-1", "Menu", b"<p>Home"), PlacedText("p-2", "News", b"<p>a b c d")]
    >>> new = [PlacedText("p-1", "Menu", b"<p>Home"), PlacedText("p-2", "News", b"<p>a b c e")]
    >>> [(c.change.value, c.lineage, c.similarity) for c in compare(old, new)]
    [('UNCHANGED', 'p-1', 1.0), ('MODIFIED', 'p-2', 0.75)]
    """
    before = _named(before, after)
    places = {block.lineage: index for index, block in enumerate(before)}
    shared = {index: places[block.lineage] for index, block in enumerate(after) if block.lineage in places}
    kept = {index for index, _ in in_order(shared)}
    changes = [
        _change(before[shared[index]] if index in shared else None, block, index in kept)
        for index, block in enumerate(after)
    ]
    gone = set(places) - {block.lineage for block in after}
    removed = [
        BlockChange(Change.REMOVED, block.lineage, block.topic, block.text, None, 0.0)
        for block in before
        if block.lineage in gone
    ]
    return (*changes, *removed)


def _named(before: Sequence[PlacedText], after: Sequence[PlacedText]) -> list[PlacedText]:
    """Give blocks that were cut for this comparison only the lineage of the block they became."""
    if all(block.lineage for block in before):
        return list(before)
    matches = align(
        [block.data for block in before],
        [block.data for block in after],
        lambda index: before[index].text,
        lambda index: after[index].text,
    )
    names = {match.before: after[match.after].lineage for match in matches if match.after is not None}
    return [
        replace(block, lineage=names.get(index) or block.lineage or f"cut-{index}")
        for index, block in enumerate(before)
    ]


def _change(old: PlacedText | None, new: PlacedText, in_place: bool) -> BlockChange:
    text = new.text
    if old is None:
        return BlockChange(Change.ADDED, new.lineage, new.topic, None, text, 0.0)
    if old.data == new.data:
        change = Change.UNCHANGED if in_place else Change.MOVED
        return BlockChange(change, new.lineage, new.topic, text, text, 1.0)
    before = old.text
    similarity = round(dice(Counter(words(before)), Counter(words(text))), 4)
    return BlockChange(Change.MODIFIED, new.lineage, new.topic, before, text, similarity)
