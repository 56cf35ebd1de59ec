"""An open index file, for reading or for a run that updates it."""

from __future__ import annotations

import sqlite3

from archivebot.exceptions import StorageError
from archivebot.search.schema import failed
from archivebot.storage.sqlite.database import DatabaseFile


class IndexFile(DatabaseFile):
    """One connection to the index at a path."""

    def _failure(self, error: sqlite3.Error | UnicodeDecodeError) -> StorageError:
        return failed(self.uri, error)
