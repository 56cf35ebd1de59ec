"""An open SQLite file: its connection, and the errors of SQLite in words."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from archivebot.exceptions import StorageError
from archivebot.storage.sqlite.migration import failure

# The exceptions of SQLite; a message may repeat damaged text.
UNREADABLE = (sqlite3.Error, UnicodeDecodeError)


class DatabaseFile(ABC):
    """One connection to the file at a path; errors of SQLite come out as StorageError with advice."""

    # The advice for a damaged or foreign file.
    damaged: str

    def __init__(self, path: str) -> None:
        self._path = path
        self.uri = f"sqlite:///{path}"
        with self._translated():
            self.database = self._connected()
        try:
            with self._translated():
                self._prepare()
        except BaseException:
            self.database.close()
            raise

    @abstractmethod
    def _connected(self) -> sqlite3.Connection:
        """Return a connection to the file."""

    @abstractmethod
    def _prepare(self) -> None:
        """Check the tables of the file, or make them."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection."""
        self.database.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except UNREADABLE as error:
            raise self._failure(error) from error

    def _failure(self, error: sqlite3.Error | UnicodeDecodeError) -> StorageError:
        return failure(self.uri, error, self.damaged)
