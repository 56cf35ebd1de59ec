"""The append-only log of an archive: one entry for each capture that was stored or removed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from archivebot.exceptions import CorruptObject
from archivebot.models import Capture


class LogStore(Protocol):
    """The entries of the log, in the order in which they were written.

    An entry is the digest of the record of a capture, or a removal (:mod:`archivebot.storage.record`). It is
    written together with its capture. The entries are the leaves of a Merkle tree
    (:mod:`archivebot.proof.merkle`), of which the roots of the whole subtrees of WIDTH entries are stored.
    """

    def size(self) -> int:
        """Return the number of entries."""

    def entries(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the entries with an index in [start, end).

        Raises CorruptObject if one is missing.
        """

    def index(self, capture: Capture) -> int | None:
        """Return the index of the entry of a capture, None if it has none as it is now."""

    def subtrees(self) -> Mapping[int, bytes]:
        """Return the stored roots of subtrees by their number, from 0."""


def lost_entry(index: int) -> CorruptObject:
    """Return the error about an entry that was written but is missing."""
    return CorruptObject(f"the entry {index} of the log is lost: restore a copy of the archive")
