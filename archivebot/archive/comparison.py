"""The comparison of a body with the earlier versions of its page."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator

from archivebot.archive.bodies import Bodies
from archivebot.archive.readings import Readings
from archivebot.config import CONTENT_ATTRIBUTES
from archivebot.exceptions import StorageError
from archivebot.models import UNTOLD, AttributeChange, ChangeKind
from archivebot.significance.beside import beside
from archivebot.significance.habits import MOST_VERSIONS, Lines
from archivebot.significance.reading import Reading
from archivebot.significance.significance import Significance, significance
from archivebot.storage.base import ArchiveStore, StoredVersion

logger = logging.getLogger(__name__)


class Comparison:
    """Compares bodies with stored versions by their visible content."""

    def __init__(
        self,
        store: ArchiveStore,
        bodies: Bodies,
        readings: Readings,
        counted: Collection[str] = CONTENT_ATTRIBUTES,
    ) -> None:
        self._store, self._bodies, self._readings, self._counted = store, bodies, readings, counted

    def with_version(self, before: StoredVersion, now: Reading, content_type: str) -> Significance:
        """Return whether content changed since a version, or only furniture.

        The earlier versions show which lines come and go. A page that cannot be read or compared counts as
        changed. A version stored uncut is not read: it may be uncut because it could not be read.
        """
        known = self._bodies.readable(before) if before.segmenter else None
        if known is None:
            return Significance(ChangeKind.CONTENT, f"version {before.number} cannot be read")
        try:
            then = self._readings.of(known.body, content_type)
            return significance(then, now, self._earlier(before, content_type), self._counted)
        except StorageError:
            raise
        except Exception:
            logger.exception("the changes of %s cannot be determined", before.url)
            return Significance(ChangeKind.CONTENT, UNTOLD)

    def beside_text(
        self, before: StoredVersion, now: Reading, content_type: str
    ) -> tuple[AttributeChange, ...]:
        """Return the changed title, links and images; nothing if either page cannot be read."""
        known = self._bodies.readable(before) if before.segmenter else None
        try:
            return beside(self._readings.of(known.body, content_type), now) if known else ()
        except Exception:
            logger.exception("the changes of %s beside its text cannot be determined", before.url)
            return ()

    def _earlier(self, before: StoredVersion, content_type: str) -> Iterator[Lines]:
        """Yield the lines of the versions stored before ``before``, the latest first."""
        versions = [version for version in self._store.versions(before.url) if version.number]
        while versions and versions.pop().id != before.id:
            pass
        for version in reversed(versions[-MOST_VERSIONS:]):
            known = self._bodies.readable(version) if version.segmenter else None
            if known is not None:
                yield self._readings.of(known.body, content_type).lines
