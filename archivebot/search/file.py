"""An open index file, for reading or for a run that updates it."""

from __future__ import annotations

import sqlite3
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from archivebot.search.schema import failed


class IndexFile(ABC):
    """One connection to the index at a path; errors of SQLite come out as StorageError with advice."""

    def __init__(self, path: str) -> None:
        self.uri = f"sqlite:///{path}"
        with self._translated():
            self._db = self._connected(path)
        try:
            with self._translated():
                self._prepare()
        except BaseException:
            self._db.close()
            raise

    @abstractmethod
    def _connected(self, path: str) -> sqlite3.Connection:
        """Return a connection to the file."""

    @abstractmethod
    def _prepare(self) -> None:
        """Check the tables of the file, or make them."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._db.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise failed(self.uri, error) from error
