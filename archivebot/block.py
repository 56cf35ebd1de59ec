"""The blocks of a page: their places, labels, and changes."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum


class Label(StrEnum):
    """The function of a block for a reader.

    >>> [str(label) for label in Label if label.is_furniture]
    ['navigation', 'header', 'footer', 'form', 'advert']
    """

    MAIN = "main"
    NAVIGATION = "navigation"
    HEADER = "header"
    FOOTER = "footer"
    FORM = "form"
    LIST = "list"
    TABLE = "table"
    MEDIA = "media"
    ADVERT = "advert"
    RELATED = "related"
    COMMENT = "comment"

    @property
    def is_furniture(self) -> bool:
        """Whether blocks of this label are furniture; all others are content."""
        return self in (Label.NAVIGATION, Label.HEADER, Label.FOOTER, Label.FORM, Label.ADVERT)


class Change(StrEnum):
    """What happened to one block between two versions."""

    ADDED = "ADDED"
    REMOVED = "REMOVED"
    MODIFIED = "MODIFIED"
    MOVED = "MOVED"
    MARKUP = "MARKUP"  # the same text in other markup; only in a delta
    UNCHANGED = "UNCHANGED"


@dataclass(frozen=True, slots=True)
class Block:
    """One unit of a page: the byte range [start, end) of its body, cut at depth ``level``."""

    start: int
    end: int
    level: int


@dataclass(frozen=True, slots=True)
class Partition:
    """The blocks of one body in order; the bytes between them are the layout.

    ``labels`` has the label of each block; it is empty if the blocks were not labelled.
    """

    length: int
    level: int
    charset: str
    segmenter: int
    blocks: tuple[Block, ...] = field(repr=False)
    labels: tuple[Label, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class PlacedBlock:
    """A block of a stored version with its identity through time.

    ``lineage`` is the stable id of the block through all versions of its page. While a version is being
    stored, ``change`` is what happened to the block since the previous version, and ``new`` whether its bytes
    were never seen on the page. ``label`` is None if it was not recorded.
    """

    lineage: str
    level: int
    start: int
    end: int
    topic: str
    change: Change | None = None
    new: bool = False
    label: Label | None = None
