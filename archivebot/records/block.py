"""Blocks as JSON: stored blocks and described blocks."""

from __future__ import annotations

from typing import Any

from archivebot.labels.description import Description
from archivebot.models import BlockChange, Label, PlacedBlock


def block_record(block: PlacedBlock) -> dict[str, Any]:
    """Return one block of a version that is being stored as a record."""
    change = block.change.value if block.change else None
    return stored_block_record(block) | {"change": change, "new": block.new}


def stored_block_record(block: PlacedBlock) -> dict[str, Any]:
    """Return one block of a stored version as a record."""
    return {
        "lineage": block.lineage,
        "topic": block.topic,
        "level": block.level,
        "start": block.start,
        "end": block.end,
        **label_record(block.label),
    }


def label_record(label: Label | None) -> dict[str, str | None]:
    """Return the label and the role of a block as fields, None if they were not recorded.

    >>> label_record(Label.LIST), label_record(Label.FORM)
    ({'label': 'list', 'role': 'content'}, {'label': 'form', 'role': 'furniture'})
    """
    if label is None:
        return {"label": None, "role": None}
    return {"label": label.value, "role": "furniture" if label.is_furniture else "content"}


def edit_record(change: BlockChange) -> dict[str, Any]:
    """Return a block that was compared between two versions as a record, with its texts before and after."""
    return {
        "change": change.change.value,
        "lineage": change.lineage,
        "topic": change.topic,
        "before": change.before,
        "after": change.after,
        "similarity": change.similarity,
        **label_record(change.label),
    }


def described_record(lineage: str | None, described: Description) -> dict[str, Any]:
    """Return a described block as a record, with the fingerprint as 16 hex digits.

    >>> from archivebot.labels.description import describe
    >>> from archivebot.models import Block
    >>> [record] = [described_record("a-1", found) for found in describe(b"<p>Hello", [Block(0, 8, 1)])]
    >>> record["lineage"], record["size"], record["label"], record["simhash"]
    ('a-1', 8, 'main', None)
    """
    block = described.block
    return {
        "lineage": lineage,
        "level": block.level,
        "start": block.start,
        "end": block.end,
        "size": block.end - block.start,
        **label_record(described.label),
        "reason": described.reason,
        "topic": described.topic,
        "simhash": None if described.simhash is None else f"{described.simhash:016x}",
        "words": described.words,
    }
