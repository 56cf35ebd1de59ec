"""The difference between two versions of a page, block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from archivebot.markup.dom import visible_text
from archivebot.models import BlockChange, Change, ChangeKind
from archivebot.text import words
from archivebot.versioning.align import align, dice, in_order

Place = tuple[int, int]
KindOf = Callable[[Place | None, Place | None], ChangeKind | None]


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A block of one version: which block it is, its bytes, how to read them, and where they start."""

    lineage: str
    topic: str
    data: bytes = field(repr=False)
    charset: str = "utf-8"
    start: int = 0

    @property
    def place(self) -> tuple[int, int]:
        """Where it stands: bytes [start, end) of the body."""
        return self.start, self.start + len(self.data)

    @property
    def text(self) -> str:
        """What a reader sees of it."""
        return visible_text(self.data, self.charset)


def compare(
    before: Sequence[PlacedText], after: Sequence[PlacedText], kind_of: KindOf = lambda old, new: None
) -> tuple[BlockChange, ...]:
    """List every block of two versions with its change, in the order of the later one, removed ones last.

    ``kind_of`` gives the kind of a change by the place of the block in both bodies, None in one of them.

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
        _change(before[shared[index]] if index in shared else None, block, index in kept, kind_of)
        for index, block in enumerate(after)
    ]
    gone = set(places) - {block.lineage for block in after}
    removed = [
        BlockChange(
            Change.REMOVED, block.lineage, block.topic, block.text, None, 0.0, kind_of(block.place, None)
        )
        for block in before
        if block.lineage in gone
    ]
    return (*changes, *removed)


def _named(before: Sequence[PlacedText], after: Sequence[PlacedText]) -> list[PlacedText]:
    """Return blocks that were cut for this comparison only the lineage of the block they became."""
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


def _change(old: PlacedText | None, new: PlacedText, in_place: bool, kind_of: KindOf) -> BlockChange:
    text = new.text
    if old is None:
        kind = kind_of(None, new.place)
        return BlockChange(Change.ADDED, new.lineage, new.topic, None, text, 0.0, kind)
    if old.data == new.data and in_place:
        return BlockChange(Change.UNCHANGED, new.lineage, new.topic, text, text, 1.0)
    kind = kind_of(old.place, new.place)
    if old.data == new.data:
        return BlockChange(Change.MOVED, new.lineage, new.topic, text, text, 1.0, kind)
    before = old.text
    if before == text:
        return BlockChange(Change.MARKUP, new.lineage, new.topic, before, text, 1.0)
    similarity = round(dice(Counter(words(before)), Counter(words(text))), 4)
    return BlockChange(Change.MODIFIED, new.lineage, new.topic, before, text, similarity, kind)
