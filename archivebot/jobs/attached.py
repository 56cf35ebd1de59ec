"""The attachments that an export writes: each once, with its capture or by itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from archivebot.archive import ArchiveReader
from archivebot.exceptions import CorruptObject
from archivebot.export.attachment import attached
from archivebot.export.record import NewRecord
from archivebot.jobs.exported import Earlier, Exported, Progress
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

    def of(self, capture: Capture, answer: str) -> list[NewRecord]:
        """Return the records of a capture that has ``answer`` as the id of its own record.

        Of several captures of a page at one time the first has them all.
        """
        place = capture.url, capture.captured_at
        if place == self._last:
            return []
        self._last = place
        try:
            found = self._new(self._attachments.at(*place))
        except CorruptObject as error:
            self._note(error)
            return []
        old = capture.wire.record if capture.wire else ""
        return [attached(each, old, answer) for each in found]

    def loose(self, selection: Selection) -> Iterator[NewRecord]:
        """Yield the records whose capture the archive does not hold, as far as a selection takes them."""
        try:
            for each in self._attachments.loose():
                if selection.takes(each.url, each.when):
                    yield from map(attached, self._new([each]))
        except CorruptObject as error:
            self._note(error)

    def _new(self, found: list[Attachment]) -> list[Attachment]:
        new = [each for each in found if not (self._earlier and self._earlier.has(each))]
        for each in new:
            if self._earlier:
                self._earlier.add(each)
        self._result.attached += len(new)
        return new

    def _note(self, error: CorruptObject) -> None:
        self._result.damaged.append(str(error))
        self._progress.damaged(str(error))
