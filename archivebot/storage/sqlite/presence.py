"""Whether a path still names the file that was opened there."""

from __future__ import annotations

import os
from contextlib import suppress

from archivebot.exceptions import StorageError


class Presence:
    """The file that a path names now: SQLite continues to write into a deleted file."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = _identity(path)

    def check(self, used: str = "written to") -> None:
        """Raise StorageError if the file was deleted or replaced since it was opened to be ``used``."""
        if _identity(self._path) != self._file:
            raise StorageError(
                f"sqlite:///{self._path} was deleted, moved or replaced while it was {used}:"
                " put it back, and give the same command again"
            )


def _identity(path: str) -> tuple[int, int] | None:
    with suppress(OSError):
        found = os.stat(path)
        return found.st_dev, found.st_ino
    return None
