"""The attachments that an export writes: each once, with its capture or by itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime

from archivebot.archive import ArchiveReader
from archivebot.exceptions import CorruptObject
from archivebot.export.attachment import attached
from archivebot.export.record import NewRecord
from archivebot.jobs.exported import Earlier, Exported, Progress, leave_out
from archivebot.jobs.selection import Selection
from archivebot.models import Capture
from archivebot.wire import Attachment


class Attached:
    """Makes the records of attachments, except for those that ``earlier`` exports had.

    A damaged attachment is noted in ``result``, and the others are written.
    """

    def __init__(
        self, archive: ArchiveReader, earlier: Earlier | None, result: Exported, progress: Progress
    ) -> None:
        self._attachments, self._earlier = archive.attachments, earlier
        self._result, self._progress = result, progress
        self._last: tuple[str, datetime] | None = None

    def of(self, capture: Capture, answer: str = "") -> list[NewRecord]:
        """Return the records of a capture that has ``answer`` as the id of its own record, if it has one.

        Of several captures of a page at one time the first has them all.
        """
        place = capture.url, capture.captured_at
        if place == self._last:
            return []
        self._last = place
        old = capture.wire.record if capture.wire else ""
        return [attached(each, old, answer) for each in self._new(self._attachments.at(*place))]

    def loose(self, selection: Selection) -> Iterator[NewRecord]:
        """Yield the records whose capture the archive does not hold, as far as a selection takes them."""
        try:
            for place in self._attachments.loose():
                if selection.takes(*place):
                    yield from map(attached, self._new(self._attachments.at(*place)))
        except CorruptObject as error:
            leave_out(self._result, self._progress, error)

    def _new(self, found: Iterable[Attachment]) -> Iterator[Attachment]:
        """Yield the attachments that earlier exports did not have, and note the error that comes last."""
        try:
            for each in found:
                if self._earlier and self._earlier.has(each):
                    continue
                if self._earlier:
                    self._earlier.add(each)
                self._result.attached += 1
                yield each
        except CorruptObject as error:
            leave_out(self._result, self._progress, error)
