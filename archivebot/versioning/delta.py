"""The difference between two versions of a page, block by block."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from archivebot.markup.words import block_text
from archivebot.models import BlockChange, Change, ChangeKind, Label
from archivebot.text import composed, words
from archivebot.versioning.align import align, dice, in_order

Place = tuple[int, int]
KindOf = Callable[[Place | None, Place | None], ChangeKind | None]


@dataclass(frozen=True, slots=True)
class PlacedText:
    """A block of one version: its lineage, topic, bytes, charset, position, label, and whether it is all."""

    lineage: str
    topic: str
    data: bytes = field(repr=False)
    charset: str = "utf-8"
    start: int = 0
    label: Label | None = None
    is_whole: bool = False

    @property
    def place(self) -> tuple[int, int]:
        """The position of the block: bytes [start, end) of the body."""
        return self.start, self.start + len(self.data)

    @property
    def text(self) -> str:
        """The visible text of the block."""
        return block_text(self.data, self.charset, self.is_whole)


def compare(
    before: Sequence[PlacedText], after: Sequence[PlacedText], kind_of: KindOf = lambda old, new: None
) -> tuple[BlockChange, ...]:
    """Return the changes of all blocks of two versions, in the order of the later one, removed blocks last.

    ``kind_of`` returns the kind of a change for the positions of a block in both bodies (None if missing).

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
            change=Change.REMOVED,
            lineage=block.lineage,
            topic=block.topic,
            before=block.text,
            after=None,
            similarity=0.0,
            kind=kind_of(block.place, None),
            label=block.label,
        )
        for block in before
        if block.lineage in gone
    ]
    return (*changes, *removed)


def _named(before: Sequence[PlacedText], after: Sequence[PlacedText]) -> list[PlacedText]:
    """Return the blocks; blocks cut only for this comparison get the lineage of the block they became."""
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
    found = BlockChange(Change.UNCHANGED, new.lineage, new.topic, text, text, 1.0, label=new.label)
    if old is None:
        kind = kind_of(None, new.place)
        return replace(found, change=Change.ADDED, before=None, similarity=0.0, kind=kind)
    if old.data == new.data and in_place:
        return found
    kind = kind_of(old.place, new.place)
    if old.data == new.data:
        return replace(found, change=Change.MOVED, kind=kind)
    before = old.text
    if composed(before) == composed(text):
        return replace(found, change=Change.MARKUP)
    similarity = round(dice(Counter(words(before)), Counter(words(text))), 4)
    return replace(found, change=Change.MODIFIED, before=before, similarity=similarity, kind=kind)
