"""What a body has in common with the versions of its page before it."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from archivebot.bodies import Bodies
from archivebot.exceptions import StorageError
from archivebot.models import ChangeKind
from archivebot.significance.habits import MOST_VERSIONS, Lines
from archivebot.significance.reading import Reading
from archivebot.significance.significance import Significance, significance
from archivebot.storage.base import ArchiveStore, StoredVersion

logger = logging.getLogger(__name__)


class Comparison:
    """Compares bodies with stored versions by what a reader sees."""

    def __init__(self, store: ArchiveStore, bodies: Bodies) -> None:
        self._store, self._bodies = store, bodies

    def with_version(self, before: StoredVersion, body: bytes, content_type: str) -> Significance:
        """Tell whether content changed since a version, or only furniture.

        The versions before it tell what comes and goes. What cannot be read or compared has changed.
        """
        known = self._bodies.readable(before)
        if known is None:
            return Significance(ChangeKind.CONTENT, f"version {before.number} cannot be read")
        try:
            readings = Reading(known.body, content_type), Reading(body, content_type)
            return significance(*readings, self._earlier(before, content_type))
        except StorageError:
            raise
        except Exception:
            logger.exception("what changed on %s cannot be told", before.url)
            return Significance(ChangeKind.CONTENT, "it cannot be told what changed")

    def _earlier(self, before: StoredVersion, content_type: str) -> Iterator[Lines]:
        """Give the lines of the versions stored before one, the latest first."""
        versions = [version for version in self._store.versions(before.url) if version.number]
        while versions and versions.pop().id != before.id:
            pass
        for version in reversed(versions[-MOST_VERSIONS:]):
            known = self._bodies.readable(version)
            if known is not None:
                yield Reading(known.body, content_type).lines
