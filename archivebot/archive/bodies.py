"""The contents of versions, rebuilt from their frames."""

from __future__ import annotations

import logging
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass, field

from archivebot.exceptions import CorruptObject, NotArchived, Pruned
from archivebot.fields.kept import Kept
from archivebot.fingerprint import sha256_hex
from archivebot.segmentation.segmenter import partition
from archivebot.storage import frames
from archivebot.storage.base import ArchiveStore, StoredDictionary, StoredVersion, VersionId
from archivebot.storage.content import Slot, body_of, notes_of, slots_of
from archivebot.urls import host_of_key

logger = logging.getLogger(__name__)

# Bytes of contents in the cache: the next version of a page is compressed against its last one. A
# larger cache hardly helps: with 8 MB 637 MB are decompressed while history-dev is stored, with 16 MB 586.
KEPT_BYTES = 4 * 1024 * 1024

# Dictionaries that are kept beside these contents, each with 2 MB.
READY = 2


@dataclass(frozen=True, slots=True)
class Content:
    """A version in full: its body, and the table of its blocks."""

    packed: bytes = field(repr=False)
    charset: str
    level: int
    segmenter: int

    @property
    def body(self) -> bytes:
        """The bytes as they were fetched."""
        return body_of(self.packed)

    @property
    def slots(self) -> tuple[Slot, ...]:
        """The blocks with their positions in the body."""
        return slots_of(self.packed)

    @property
    def kept(self) -> Kept:
        """The fields of the version, and the selectors by which its changes were judged."""
        return Kept.of(notes_of(self.packed))

    def recut(self, level: int, segmenter: int) -> tuple[Slot, ...]:
        """Return the blocks at another level, or of another segmenter, for comparison.

        A block that the version does not have at its own level has lineage 0. A body that is a single block
        is not markup and stays a single block.
        """
        slots, body = self.slots, self.body
        if (level, segmenter) == (self.level, self.segmenter) or (slots and slots[0].end == len(body)):
            return slots
        known = {(slot.start, slot.end): slot for slot in slots}
        return tuple(
            known.get((block.start, block.end)) or Slot(block.start, block.end, block.level, 0)
            for block in partition(body, level, f"text/html; charset={self.charset}").blocks
        )


class Bodies:
    """Rebuilds contents and caches the most recently used."""

    def __init__(self, store: ArchiveStore) -> None:
        self._store = store
        self._kept: OrderedDict[VersionId, bytes] = OrderedDict()
        self._ready: OrderedDict[VersionId, frames.Dictionary] = OrderedDict()
        self._size = 0
        self._undone = 0  # of the store when the contents were kept

    def get(self, version: StoredVersion) -> Content:
        """Rebuild a version; raises CorruptObject if its body does not match the recorded digest.

        Raises Pruned if its bytes were removed.
        """
        if version.pruned:
            raise _pruned(version)
        self._forget_undone()
        packed = self._kept.get(version.id)
        if packed is None:
            packed = self._checked(version)
            self._keep(version.id, packed)
        self._kept.move_to_end(version.id)
        return Content(packed, version.charset, version.level, version.segmenter)

    def forget(self, version: StoredVersion) -> None:
        """Remove a version from the cache, because it was stored in another way."""
        self._size -= len(self._kept.pop(version.id, b""))

    def _forget_undone(self) -> None:
        """Empty the cache if a transaction was rolled back: another version may get an id of it."""
        if self._undone != self._store.undone:
            self._undone, self._size = self._store.undone, 0
            self._kept.clear()
            self._ready.clear()

    def readable(self, version: StoredVersion | None) -> Content | None:
        """Rebuild a version for comparison; None if there is none, or if it is damaged (which is logged).

        A pruned version is none.
        """
        if version is None or version.pruned:
            return None
        try:
            return self.get(version)
        except CorruptObject as error:
            logger.error("%s", error)
            return None

    def dictionary(self, stored: StoredDictionary) -> bytes:
        """Rebuild a dictionary; raises CorruptObject."""
        try:
            return self._dictionary(stored.id).content
        except (CorruptObject, NotArchived) as error:
            raise CorruptObject(
                f"the dictionary of {host_of_key(stored.host)} is damaged: {error}; see scrapy verify"
            ) from error

    def _dictionary(self, identity: VersionId) -> frames.Dictionary:
        self._forget_undone()
        if identity not in self._ready:
            self._ready[identity] = frames.Dictionary(frames.decode([self._store.frame(identity)]))
            if len(self._ready) > READY:
                self._ready.popitem(last=False)
        self._ready.move_to_end(identity)
        return self._ready[identity]

    def _checked(self, version: StoredVersion) -> bytes:
        # The frame may be written against another base between two reads.
        for decoded in (self._by_base, self._by_chain):
            try:
                packed = decoded(version)
                if packed is not None and sha256_hex(body_of(packed)) == version.digest:
                    return packed
                error: Exception = CorruptObject("its bytes have another digest")
            except NotArchived:
                error = CorruptObject("its frame, or one that it needs, is lost")
            except CorruptObject as found:
                error = found
        if self._is_pruned_now(version):
            raise _pruned(version)
        name = f"version {version.number}" if version.number else f"a body ({version.digest[:12]})"
        raise CorruptObject(f"{name} of {version.url} is damaged: {error}; see scrapy verify") from error

    def _is_pruned_now(self, version: StoredVersion) -> bool:
        """Return whether another process pruned a version after its record was read."""
        with suppress(NotArchived, CorruptObject):
            return self._store.version(version.id).pruned
        return False

    def _by_base(self, version: StoredVersion) -> bytes | None:
        """Rebuild a version from its base; None if the base is a version that is not in the cache."""
        if version.base is None:
            return None
        if self._store.dictionaries.is_dictionary(version.base):
            return self._dictionary(version.base).decode(self._store.frame(version.id))
        base = self._kept.get(version.base)
        return None if base is None else frames.decode([self._store.frame(version.id)], base)

    def _by_chain(self, version: StoredVersion) -> bytes:
        return frames.decode(self._store.frames(version.id))

    def _keep(self, version: VersionId, packed: bytes) -> None:
        self._kept[version] = packed
        self._size += len(packed)
        while self._size > KEPT_BYTES and len(self._kept) > 1:
            self._size -= len(self._kept.popitem(last=False)[1])


def _pruned(version: StoredVersion) -> Pruned:
    return Pruned(
        f"version {version.number} of {version.url} was pruned: scrapy history shows the versions that"
        " were kept"
    )
