"""The archive in one SQLite file, opened read-only."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Hashable, Iterator
from contextlib import contextmanager, suppress

from archivebot.exceptions import StorageError
from archivebot.storage.base import missing, read_only
from archivebot.storage.sqlite.readonly import connect, has_log, require
from archivebot.storage.sqlite.schema import is_archive
from archivebot.storage.sqlite.store import SQLiteStore


class SQLiteReader(SQLiteStore):
    """Reads an archive in a file while other processes may write to it.

    Any thread may use an instance, one at a time. Raises NotArchived if there is no archive, Outdated if its
    schema is older than the schema of this version, and StorageError if it is newer or cannot be read.
    """

    def __init__(self, path: str) -> None:
        super().__init__(path, writable=False)

    def _connected(self) -> sqlite3.Connection:
        require(self._path, missing(self.uri))
        self._state = _state(self._path)
        database, self._fixed = connect(self._path)
        return database

    def _prepare(self) -> None:
        if not is_archive(self.database, self.uri):
            raise missing(self.uri)

    @contextmanager
    def reading(self) -> Iterator[None]:
        if self._is_open:
            self._presence.check("read")
            self._keep_up()
        with super().reading():
            yield

    def _keep_up(self) -> None:
        """Open the file again if it was opened as a file without writers, and was written to since."""
        if self._fixed and (has_log(self._path) or _state(self._path) != self._state):
            with self._translated():
                self.database.close()
                self.database = self._connected()
                self._prepare()

    def changes(self) -> Hashable | None:
        with suppress(StorageError, OSError):
            self._presence.check("read")
            return (_state(self._path), has_log(self._path)) if self._fixed else super().changes()
        return None

    @contextmanager
    def together(self) -> Iterator[None]:
        raise read_only(self.uri)
        yield

    def close(self) -> None:
        self._is_open = False
        self.database.close()


def _state(path: str) -> tuple[int, int]:
    """Return the modification time and size of a file, which show whether it was written to."""
    found = os.stat(path)
    return found.st_mtime_ns, found.st_size
