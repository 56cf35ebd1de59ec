"""Assigns lineages: matches the blocks of a new version with those of the neighbouring versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from archivebot.archive.bodies import Content
from archivebot.fingerprint import sha256_hex
from archivebot.markup.dom import visible_text
from archivebot.markup.formats import format_of
from archivebot.models import Change, Partition, PlacedBlock
from archivebot.segmentation.layout import split
from archivebot.segmentation.topic import topic
from archivebot.storage.base import StoredVersion
from archivebot.storage.content import Slot
from archivebot.versioning.align import align


@dataclass(frozen=True, slots=True)
class Cut:
    """A body with its partition applied: the bytes of its blocks, and the id of its layout."""

    partition: Partition
    blocks: tuple[bytes, ...]
    layout: int

    @classmethod
    def of(cls, body: bytes, partition: Partition | None) -> Cut:
        """Apply a partition; a body without one is all layout."""
        partition = partition or Partition(len(body), 0, "utf-8", 0, ())
        layout, blocks = split(body, partition.blocks)
        return cls(partition, blocks, int.from_bytes(layout.digest()[:8], "big", signed=True))


@dataclass(frozen=True, slots=True)
class Placement:
    """A block of a version about to be stored: its position, and what happened to it."""

    slot: Slot
    change: Change
    new: bool

    def placed(self, version: StoredVersion, body: bytes) -> PlacedBlock:
        """Return the block with its lineage id and its topic."""
        slot = self.slot
        is_file = slot.is_all_of(body) and format_of(body)  # its text takes too long to read here
        words = "" if is_file else topic(body[slot.start : slot.end], version.charset)
        lineage = lineage_id(version.url, slot.lineage)
        return PlacedBlock(
            lineage, slot.level, slot.start, slot.end, words, self.change, self.new, slot.label
        )


class _Neighbour:
    """The version before or after the new one, cut in the same way, and how their blocks match."""

    def __init__(self, cut: Cut, content: Content) -> None:
        body, charset = content.body, cut.partition.charset
        self.slots = content.recut(cut.partition.level, cut.partition.segmenter)
        self.blocks = [body[slot.start : slot.end] for slot in self.slots]
        # The only block of both continues whatever its words, and those of a document take long to read.
        is_single = len(self.blocks) == len(cut.blocks) == 1
        matches = align(
            self.blocks,
            cut.blocks,
            lambda index: "" if is_single else visible_text(self.blocks[index], content.charset),
            lambda index: "" if is_single else visible_text(cut.blocks[index], charset),
        )
        self.matches = matches[: len(cut.blocks)]  # removed blocks come last

    def continued(self) -> Iterator[tuple[float, int, Slot, Change]]:
        """Yield the blocks that continue a block here: similarity, index, the block here, the change.

        The same bytes count as more similar than the same words.
        """
        for index, match in enumerate(self.matches):
            if match.before is not None:
                same = match.change in (Change.UNCHANGED, Change.MOVED)
                yield (2.0 if same else match.similarity), index, self.slots[match.before], match.change


def place(cut: Cut, before: Content | None, after: Content | None, lineages: int) -> list[Placement]:
    """Return every block of a cut with its lineage: the lineage it continues, or the next free number.

    ``before`` and ``after`` are the versions seen last before and first after the visit. If a block continues
    a block of both versions, the more similar one counts; at a tie, the one in ``before``.
    """
    earlier = _Neighbour(cut, before) if before else None
    later = _Neighbour(cut, after) if after else None
    then = (
        {slot.lineage: data for slot, data in zip(earlier.slots, earlier.blocks, strict=True)}
        if earlier
        else {}
    )
    lineage, known = _inherited(earlier, later)
    placements: list[Placement] = []
    labels = cut.partition.labels or (None,) * len(cut.blocks)
    for index, (block, data, label) in enumerate(zip(cut.partition.blocks, cut.blocks, labels, strict=True)):
        change = known.get(index)
        number = lineage.get(index, 0)
        if not number:
            lineages = number = lineages + 1
        if change is None and number in then:
            change = Change.MOVED if then[number] == data else Change.MODIFIED
        change = change or Change.ADDED
        new = change in (Change.ADDED, Change.MODIFIED)
        here = Slot(block.start, block.end, block.level, number, label)
        placements.append(Placement(here, change, new))
    return placements


def _inherited(
    earlier: _Neighbour | None, later: _Neighbour | None
) -> tuple[dict[int, int], dict[int, Change]]:
    """Return the lineages that blocks inherit, and the changes of the blocks that continue ``before``."""
    candidates = [
        (alike, near, index, slot, change)
        for near, neighbour in ((1, earlier), (0, later))
        if neighbour
        for alike, index, slot, change in neighbour.continued()
    ]
    candidates.sort(key=lambda each: each[:2], reverse=True)
    lineage: dict[int, int] = {}
    known: dict[int, Change] = {}
    taken: set[int] = set()
    for _, near, index, slot, change in candidates:
        if index in lineage or slot.lineage in taken:
            continue
        if near:
            known[index] = change
        if slot.lineage:  # a block that was cut for the comparison only has none
            lineage[index] = slot.lineage
            taken.add(slot.lineage)
    return lineage, known


def again(content: Content, before: Content) -> list[Placement]:
    """Return the blocks of a version that the archive holds, compared by lineage with another version."""
    then, now = before.body, content.body
    old = {slot.lineage: then[slot.start : slot.end] for slot in before.slots}
    placements = []
    for slot in content.slots:
        change = Change.ADDED if slot.lineage not in old else Change.MODIFIED
        if old.get(slot.lineage) == now[slot.start : slot.end]:
            change = Change.UNCHANGED
        placements.append(Placement(slot, change, new=False))
    return placements


def lineage_id(url: str, lineage: int | str) -> str:
    """Return the permanent id of a block: 8 hex digits of the SHA-256 of its URL, and its number there.

    >>> lineage_id("http://example.com/", 7)
    '2a1b4024-7'
    """
    return f"{_page_id(url)}-{lineage}"


@lru_cache(maxsize=64)
def _page_id(url: str) -> str:
    return sha256_hex(url.encode())[:8]
