"""What a body has in common with the versions of its page before it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from functools import cache, partial

from archivebot.bodies import Bodies
from archivebot.exceptions import StorageError
from archivebot.models import UNTOLD, ChangeKind
from archivebot.significance.habits import MOST_VERSIONS, Lines
from archivebot.significance.reading import Reading
from archivebot.significance.significance import Significance, significance
from archivebot.storage.base import ArchiveStore, StoredVersion

logger = logging.getLogger(__name__)

Read = Callable[[], Reading]


def reader(body: bytes, content_type: str) -> Read:
    """Give what reads a body when its reading is asked for, and once."""
    return cache(partial(Reading, body, content_type))


class Comparison:
    """Compares bodies with stored versions by what a reader sees."""

    def __init__(self, store: ArchiveStore, bodies: Bodies) -> None:
        self._store, self._bodies = store, bodies

    def with_version(self, before: StoredVersion, read: Read, content_type: str) -> Significance:
        """Tell whether content changed since a version, or only furniture; ``read`` reads the page of now.

        The versions before it tell what comes and goes. What cannot be read or compared has changed; nor
        is a version read that was stored uncut, for it may have been for that.
        """
        known = self._bodies.readable(before) if before.segmenter else None
        if known is None:
            return Significance(ChangeKind.CONTENT, f"version {before.number} cannot be read")
        try:
            then = Reading(known.body, content_type)
            return significance(then, read(), self._earlier(before, content_type))
        except StorageError:
            raise
        except Exception:
            logger.exception("what changed on %s cannot be told", before.url)
            return Significance(ChangeKind.CONTENT, UNTOLD)

    def _earlier(self, before: StoredVersion, content_type: str) -> Iterator[Lines]:
        """Give the lines of the versions stored before one, the latest first."""
        versions = [version for version in self._store.versions(before.url) if version.number]
        while versions and versions.pop().id != before.id:
            pass
        for version in reversed(versions[-MOST_VERSIONS:]):
            known = self._bodies.readable(version) if version.segmenter else None
            if known is not None:
                yield Reading(known.body, content_type).lines
