"""The result of an export, and the captures that earlier exports into a folder had."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from pathlib import Path

from archivebot.exceptions import ArchiveError, StorageError, UsageError
from archivebot.models import Capture
from archivebot.wire import Attachment

# The file beside exported WARC files that has a number of 8 bytes for each exported capture.
EXPORTED = "exported.ids"

_BYTES = 8  # of a billion captures two share a number with probability 0.03


@dataclass(slots=True)
class Exported:
    """The counts of an export.

    ``records`` are all records that were written, ``responses`` and ``revisits`` the captures among them,
    ``attached`` the attachments. ``without`` are captures without an answer, or whose answer is not kept:
    that of ``pruned`` of them was removed. ``damaged`` has the messages about what could not be read.
    """

    files: list[str] = field(default_factory=list)
    records: int = 0
    responses: int = 0
    revisits: int = 0
    bytes: int = 0
    attached: int = 0
    without: int = 0
    pruned: int = 0
    damaged: list[str] = field(default_factory=list)

    def record(self) -> dict[str, object]:
        """Return the result as a record for ``--json``."""
        return asdict(self)


class Progress:
    """What is called during an export; a subclass prints it."""

    def damaged(self, message: str) -> None:
        """A capture could not be rebuilt."""

    def written(self, result: Exported) -> None:
        """A capture was written."""


def leave_out(result: Exported, progress: Progress, error: ArchiveError) -> None:
    """Note that a capture or an attachment, or some of them, cannot be rebuilt."""
    result.damaged.append(str(error))
    progress.damaged(str(error))


class Earlier:
    """The captures and attachments that earlier exports into a folder had; none if they are not asked for.

    They are remembered one by one, because a file ingested later may bring captures of any date.
    """

    def __init__(self, folder: Path, *, asked: bool) -> None:
        self._path, self._asked = folder / EXPORTED, asked
        self._known: set[bytes] = set()
        self._new = bytearray()
        try:
            data = self._path.read_bytes() if self._path.exists() else b""
        except OSError as error:
            raise UsageError(f"{self._path} cannot be read: {error.strerror}") from error
        self._end = len(data) - len(data) % _BYTES  # a killed export may have left a part of a number
        self._known.update(data[at : at + _BYTES] for at in range(0, self._end, _BYTES))

    def has(self, item: Capture | Attachment) -> bool:
        """Return whether an earlier export had a capture or an attachment, if that is asked for."""
        return self._asked and bool(self._known) and _number(item) in self._known

    def add(self, item: Capture | Attachment) -> None:
        """Note that a capture or an attachment was written."""
        if (number := _number(item)) not in self._known:
            self._new += number

    def keep(self) -> None:
        """Remember the captures that were written, after their files are complete; raises StorageError."""
        try:
            with self._path.open("ab") as out:
                out.truncate(self._end)
                out.write(self._new)
                out.flush()
                os.fsync(out.fileno())
        except OSError as error:
            raise StorageError(f"{self._path} cannot be written: {error.strerror}") from error


def _number(item: Capture | Attachment) -> bytes:
    if isinstance(item, Attachment):
        name = f"{item.url} {item.when.isoformat()} {item.record} {sha256(item.block).hexdigest()}"
    else:
        name = f"{item.url} {item.captured_at.isoformat()} {item.outcome} {item.digest}"
    return sha256(name.encode("utf-8", "replace")).digest()[:_BYTES]
