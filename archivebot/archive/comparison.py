"""The comparison of a body with the earlier versions of its page."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator
from dataclasses import replace

from archivebot.archive.bodies import Bodies, Content
from archivebot.archive.compressed import Compressed
from archivebot.archive.readings import PageReading, Readings
from archivebot.exceptions import StorageError
from archivebot.fields.changes import edited
from archivebot.fields.kept import Kept
from archivebot.fields.sites import Sites
from archivebot.models import REQUISITE, UNTOLD, AttributeChange, ChangeKind
from archivebot.significance.beside import beside, described
from archivebot.significance.habits import MOST_VERSIONS, Lines
from archivebot.significance.significance import SAME_TEXT, Significance, significance
from archivebot.significance.watched import with_watched
from archivebot.storage.base import ArchiveStore, StoredVersion

logger = logging.getLogger(__name__)

# Number of the latest versions whose rows are read to find MOST_VERSIONS versions of content. Walls and
# errors are among them, and are not compared.
MOST_ROWS = 4 * MOST_VERSIONS

# The reason of a capture that was stored without blocks begins so.
NOT_CUT = "not cut: "


class Comparison:
    """Compares bodies with stored versions by their visible content and their fields.

    ``sites`` are the selectors of the configuration. For a page that they do not name, the selectors kept
    with the later version hold, else those kept with the earlier one.
    """

    def __init__(
        self,
        store: ArchiveStore,
        bodies: Bodies,
        readings: Readings,
        counted: Collection[str],
        sites: Sites,
    ) -> None:
        self._store, self._bodies, self._readings, self._counted = store, bodies, readings, counted
        self._sites = sites
        self._past = Compressed[
            Lines
        ]()  # of versions before the latest ones, which show the habits of a line

    def with_version(
        self, before: StoredVersion, now: PageReading, content_type: str, kept: Kept | None = None
    ) -> Significance:
        """Return whether content changed since a version, or only furniture.

        The earlier versions show which lines come and go. ``kept`` is what the later version keeps, if it is
        stored. A page that cannot be read or compared counts as changed. A version stored uncut is not read:
        it may be uncut because it could not be read.
        """
        known = self._bodies.readable(before) if before.segmenter else None
        if known is None:
            return Significance(ChangeKind.CONTENT, f"version {before.number} {self._unread(before)}")
        try:
            return self._compared(before, known, now, content_type, kept or Kept())
        except StorageError:
            raise
        except Exception:
            logger.exception("the changes of %s cannot be determined", before.url)
            return Significance(ChangeKind.CONTENT, UNTOLD)

    def _unread(self, version: StoredVersion) -> str:
        """Return why a version is not read; the capture that brought an uncut one has its reason."""
        if version.pruned:
            return "was pruned"
        if version.segmenter:
            return "cannot be read"
        for capture in self._store.captures(version.url, newest_first=True, brief=True):
            if capture.digest != f"sha256:{version.digest}":
                continue
            if capture.origin == REQUISITE:
                return "was not cut: it is a page requisite"
            if capture.reason.startswith(NOT_CUT):
                return f"was {capture.reason}"
        return "cannot be read"

    def _compared(
        self, before: StoredVersion, known: Content, now: PageReading, content_type: str, kept: Kept
    ) -> Significance:
        declared = _declared(before, now, content_type)
        then = self._readings.of(known.body, declared)
        if then.body == now.body:
            return Significance(ChangeKind.FURNITURE, "the same bytes")
        parts = self._parts(before.url, known.kept, kept)
        shown = self._without(then, declared, parts)
        found = significance(
            shown,
            self._without(now, content_type, parts),
            self._earlier(before, now, content_type, parts),
            self._counted,
        )
        self._past.keep((before.digest, declared, parts.ignore), shown.lines)
        then.is_past = now.has_past = True
        if found.reason == SAME_TEXT and then.lines != now.lines:
            found = replace(found, reason="only ignored parts")
        if parts.watch:
            found = with_watched(found, then, now, parts.watch)
        edits = self._edited(before.url, known.kept, then, kept, now)
        if decisive := next((edit for edit in edits if edit.content), None):
            return replace(found, kind=ChangeKind.CONTENT, reason=described(decisive))
        return found

    def beside_text(
        self, before: StoredVersion, now: PageReading, content_type: str, kept: Kept
    ) -> tuple[AttributeChange, ...]:
        """Return the changed fields, title, links and images; nothing if either page cannot be read.

        Those in ignored parts are furniture.
        """
        known = self._bodies.readable(before) if before.segmenter else None
        if known is None:
            return ()
        try:
            declared = _declared(before, now, content_type)
            then = self._readings.of(known.body, declared)
            parts = self._parts(before.url, known.kept, kept)
            pages = ((then, declared), (now, content_type))
            counted = beside(*(self._without(page, its_type, parts) for page, its_type in pages))
            others = (replace(each, content=False) for each in beside(then, now) if each not in counted)
            return (*self._edited(before.url, known.kept, then, kept, now), *counted, *others)
        except Exception:
            logger.exception("the changes of %s beside its text cannot be determined", before.url)
            return ()

    def _parts(self, url: str, before: Kept, after: Kept) -> Kept:
        """Return the selectors of ignored and watched parts that hold for a page."""
        if site := self._sites.of(url):
            return Kept.by(site)
        return after if after.ignore or after.watch else before

    def _without(self, reading: PageReading, content_type: str, parts: Kept) -> PageReading:
        return self._readings.of(reading.body, content_type, parts.ignore) if parts.ignore else reading

    def _edited(
        self, url: str, before: Kept, then: PageReading, after: Kept, now: PageReading
    ) -> tuple[AttributeChange, ...]:
        """Return the changed fields: found by the selectors of the configuration, else as kept."""
        site = self._sites.of(url)
        if site and site.rules:
            return edited(then.fields(site, url), now.fields(site, url))
        return edited(before.fields, after.fields)

    def _earlier(
        self, before: StoredVersion, now: PageReading, content_type: str, parts: Kept
    ) -> Iterator[Lines]:
        """Yield the lines of the versions stored before ``before``, the latest first."""
        found = self._store.versions(before.url, last=MOST_ROWS)
        if len(found) == MOST_ROWS and found[-1].id != before.id:
            found = self._store.versions(before.url)
        versions = [version for version in found if version.number]
        while versions and versions.pop().id != before.id:
            pass
        for version in reversed(versions[-MOST_VERSIONS:]):
            lines = self._lines_of(version, _declared(version, now, content_type), parts.ignore)
            if lines is not None:
                yield lines

    def _lines_of(self, version: StoredVersion, content_type: str, ignored: tuple[str, ...]) -> Lines | None:
        """Return the lines of a version; None if it cannot be read, or was stored uncut."""
        key = version.digest, content_type, ignored
        lines = self._past.get(key)
        if lines is None:
            known = self._bodies.readable(version) if version.segmenter else None
            if known is None:
                return None
            lines = self._readings.of(known.body, content_type, ignored).lines
            self._past.keep(key, lines)
        return lines


def _declared(version: StoredVersion, now: PageReading, content_type: str) -> str:
    """Return the Content-Type to read a version with, from that of a later one: its charset may differ."""
    if not version.charset or version.charset == now.media.charset:
        return content_type
    return f"{content_type.partition(';')[0]}; charset={version.charset}"
