"""The blocks that changed between two versions, with their texts before and after."""

from __future__ import annotations

import html
from collections.abc import Sequence

from archivebot.archive.bodies import Content
from archivebot.archive.placement import Placement, lineage_id
from archivebot.documents.document import document_text
from archivebot.markup.formats import READABLE, format_of
from archivebot.models import BlockChange, Change
from archivebot.segmentation.topic import topic
from archivebot.storage.base import StoredVersion
from archivebot.storage.content import Slot
from archivebot.versioning.delta import PlacedText, compare


def edits(
    version: StoredVersion, body: bytes, blocks: Sequence[Placement], before: Content
) -> tuple[BlockChange, ...]:
    """Return the blocks of a version that differ from those of the version before, removed blocks last.

    ``body`` and ``blocks`` are the body of the version and its blocks.
    """
    then = before.recut(version.level, version.segmenter)
    now = [block.slot for block in blocks]
    found = compare(
        placed_texts(version.url, before.body, before.charset, then),
        placed_texts(version.url, body, version.charset, now),
    )
    return tuple(change for change in found if change.change is not Change.UNCHANGED)


def placed_texts(url: str, body: bytes, charset: str, slots: Sequence[Slot]) -> list[PlacedText]:
    """Return blocks of a body as :func:`compare` takes them."""
    return [
        PlacedText(
            lineage_id(url, slot.lineage) if slot.lineage else "",
            block_topic(body[slot.start : slot.end], charset, slot.is_all_of(body)),
            body[slot.start : slot.end],
            charset,
            slot.start,
            slot.label,
            slot.is_all_of(body),
        )
        for slot in slots
    ]


def block_topic(data: bytes, charset: str, is_whole: bool) -> str:
    """Return the topic of a block; that of a document is its title, else that of its text.

    >>> block_topic(b"<h2>Opening hours</h2>", "utf-8", False)
    'Opening hours'
    """
    if is_whole and (known := format_of(data)):
        found = document_text(data, known.type) if known.type in READABLE else None
        return found.title or topic(html.escape(found.text).encode(), "utf-8") if found else ""
    return topic(data, charset)
