"""The contract of removing the frames of versions, which every back end fulfils."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from archivebot.storage.versions import PageHead, StoredDictionary, StoredVersion


class RetentionStore(Protocol):
    """Removes the frames of versions, and frees their space.

    A version without a frame keeps its record, and its captures show that they are pruned. No version has it
    as its base.
    """

    def dependents(self, bases: Sequence[StoredVersion | StoredDictionary]) -> list[StoredVersion]:
        """Return the versions of all pages that have one of the bases, in the order they were stored."""

    def rewrite(self, pruned: Sequence[StoredVersion], frames: Mapping[StoredVersion, bytes]) -> None:
        """Remove the frames of ``pruned``, after the frames of their dependents were replaced.

        Each key of ``frames`` is a stored version with its new base and its new cost. A version with another
        cost and an empty frame keeps its frame. A crash leaves every other version as it was or as it will
        be, and the next call removes the frames that are left over.

        Raises Conflict, and changes nothing, if a version outside ``frames`` has one of ``pruned`` as its
        base, or if another writer pruned a version of ``frames`` or removed a new base.
        """

    def restore(self, version: StoredVersion, frame: bytes, head: PageHead, lineages: int) -> None:
        """Store the removed frame of a version again, with the base, the cost and the cut of ``version``.

        ``head`` is the result of :meth:`VersionStore.head` when the version was cut, ``lineages`` the new
        counter of the page. Raises Conflict, and changes nothing, if another writer restored the version,
        removed the base, or changed the counters.
        """

    def count(self) -> int:
        """Return the number of versions whose frames were removed."""

    def compact(self) -> None:
        """Remove what nothing needs, and return the free space to the file system if it is worth the work."""
