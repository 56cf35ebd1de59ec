"""The dictionaries of hosts, as rows of the SQLite archive.

The id of a dictionary is negative, and its frame is in the same table as the frames of versions.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

from archivebot.storage.base import StoredDictionary, StoredVersion, VersionId
from archivebot.storage.checksum import checksum
from archivebot.storage.frames import cost
from archivebot.storage.sqlite.file import ArchiveFile
from archivebot.storage.sqlite.rows import VERSION, version_of
from archivebot.storage.sqlite.sums import intact, renew, whole

LATEST = f"SELECT {intact('dictionary')}, id, host, length FROM dictionary WHERE host = ? ORDER BY id LIMIT 1"

# Versions of content without an earlier version of their page as their base.
ORIGINS = (
    f"{VERSION} WHERE version.page IN (SELECT page FROM page_key WHERE key > ?1 AND key < ?2)"
    " AND number IS NOT NULL AND cost > 0 AND NOT EXISTS"
    " (SELECT 1 FROM version AS before WHERE before.id = version.base AND before.page = version.page)"
    " ORDER BY version.id DESC LIMIT ?3"
)


class SQLiteDictionaries:
    """The DictionaryStore of an archive in a file."""

    def __init__(self, file: ArchiveFile) -> None:
        self._file = file

    def is_dictionary(self, base: VersionId | None) -> bool:
        return is_dictionary(base)

    def latest(self, host: str) -> StoredDictionary | None:
        return self._file.one(dictionary_of, LATEST, host)

    def add(self, host: str, length: int, frame: bytes) -> StoredDictionary:
        with self._file.together():
            database = self._file.database
            (lowest,) = database.execute("SELECT coalesce(min(id), 0) FROM dictionary").fetchone()
            identity = min(lowest, 0) - 1
            database.execute(
                "INSERT INTO dictionary VALUES (?1, ?2, ?3, ?4, checksum(?2, ?3, ?4))",
                (identity, host, length, checksum(frame)),
            )
            database.execute("INSERT INTO frame VALUES (?, ?)", (identity, frame))
        return StoredDictionary(identity, host, length)

    def origins(self, host: str, most: int) -> list[StoredVersion]:
        found = self._file.all(version_of, ORIGINS, f"{host})", f"{host})\U0010ffff", most)
        return found[::-1]

    def rebase(self, dictionary: StoredDictionary, frames: Iterable[tuple[StoredVersion, bytes]]) -> None:
        with self._file.together():
            database = self._file.database
            for version, frame in frames:
                # A smaller frame in the place of the old frame would leave a tenth of the file empty.
                database.execute("DELETE FROM frame WHERE version = ?", (version.id,))
                database.execute("INSERT INTO frame VALUES (?, ?)", (version.id, frame))
                database.execute(
                    "UPDATE version SET base = ?, cost = ?, frame_sum = ? WHERE id = ?",
                    (dictionary.id, cost(version.length, dictionary.length), checksum(frame), version.id),
                )
                database.execute(f"{renew('version')} WHERE id = ?", (version.id,))

    def remove(self, dictionary: StoredDictionary) -> None:
        with self._file.together():
            database = self._file.database
            needed = database.execute("SELECT 1 FROM version WHERE base = ?", (dictionary.id,)).fetchone()
            if needed is None:
                database.execute("DELETE FROM dictionary WHERE id = ?", (dictionary.id,))
                database.execute("DELETE FROM frame WHERE version = ?", (dictionary.id,))


def is_dictionary(base: VersionId | None) -> bool:
    """Return whether an id names a dictionary and not a version.

    >>> is_dictionary(-1), is_dictionary(1), is_dictionary(None)
    (True, False, False)
    """
    return isinstance(base, int) and base < 0


def has_base(database: sqlite3.Connection, base: VersionId | None) -> bool:
    """Return whether a base is still there: a dictionary may be removed, a version be pruned."""
    if base is None:
        return True
    where = "dictionary WHERE id = ?" if is_dictionary(base) else "version WHERE id = ? AND cost > 0"
    return database.execute(f"SELECT 1 FROM {where}", (base,)).fetchone() is not None


def dictionary_of(row: Any) -> StoredDictionary:
    """Read a row of ``LATEST``."""
    return StoredDictionary(*whole(row))
