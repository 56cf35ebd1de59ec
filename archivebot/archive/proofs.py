"""Proofs that captures are in the log of the archive, and the checkpoint of the log."""

from __future__ import annotations

from archivebot.exceptions import CorruptObject
from archivebot.models import Capture
from archivebot.proof.checkpoint import Checkpoint, origin_of
from archivebot.proof.merkle import WIDTH, leaf_hash, path_of, root_by_path, root_of, subtrees
from archivebot.proof.proof import Proof
from archivebot.storage.base import ArchiveStore
from archivebot.storage.record import canonical_record, digest_of


class Proofs:
    """The tree over the log of an archive."""

    def __init__(self, store: ArchiveStore) -> None:
        self._store = store

    def checkpoint(self) -> Checkpoint:
        """Return the state of the log."""
        return self._checkpoint(self._roots(self._store.log.size()))

    def proof(self, capture: Capture) -> Proof:
        """Return the proof of a capture; raises CorruptObject if the log does not have it as it is now."""
        leaf, log = digest_of(capture), self._store.log
        index = log.index(capture)
        if index is None:
            raise CorruptObject(
                f"the log does not have the capture of {capture.url} as it is stored: it was changed"
                " (scrapy verify lists all damage; restore a copy)"
            )
        size = log.size()
        roots = self._roots(size)
        number, place = divmod(index, WIDTH)
        start = number * WIDTH
        hashes = [leaf_hash(entry) for entry in log.entries(start, min(start + WIDTH, size))]
        path = *path_of(place, hashes), *path_of(number, roots[1])
        checkpoint = self._checkpoint(roots)
        if root_by_path(leaf, index, size, path) != checkpoint.root:
            raise CorruptObject(
                f"the entries of the log from {start} are not those that were written"
                " (scrapy verify lists all damage; restore a copy)"
            )
        record = canonical_record(capture)
        return Proof(capture.url, capture.captured_at, record, leaf, index, path, checkpoint)

    def _checkpoint(self, roots: tuple[int, list[bytes]]) -> Checkpoint:
        return Checkpoint(origin_of(self._store.position().archive), roots[0], root_of(roots[1]))

    def _roots(self, size: int) -> tuple[int, list[bytes]]:
        """Return a size of the log, and the roots of the subtrees of that many entries."""
        known, entries = self._store.log.subtrees(), self._store.log.entries
        roots = [
            known.get(number) or next(subtrees(entries(number * WIDTH, (number + 1) * WIDTH)))
            for number in range(size // WIDTH)
        ]
        return size, [*roots, *subtrees(entries(size - size % WIDTH, size))]
