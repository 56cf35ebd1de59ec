"""Removes the frames of versions in the SQLite archive, and frees their space."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from archivebot.exceptions import Conflict
from archivebot.storage.base import PageHead, StoredDictionary, StoredVersion
from archivebot.storage.checksum import checksum
from archivebot.storage.sqlite.attachments import SWEEP
from archivebot.storage.sqlite.dictionaries import has_base
from archivebot.storage.sqlite.file import ArchiveFile
from archivebot.storage.sqlite.rows import VERSION, version_of
from archivebot.storage.sqlite.sums import renew

DEPENDENTS = f"{VERSION} WHERE base IN (SELECT value FROM json_each(?)) ORDER BY version.id"

# The file is written again if at least this share of it is free: later pages fill smaller gaps.
FREE = 0.02


class SQLiteRetention:
    """The RetentionStore of an archive in a file; each call is one transaction."""

    def __init__(self, file: ArchiveFile) -> None:
        self._file = file

    def dependents(self, bases: Sequence[StoredVersion | StoredDictionary]) -> list[StoredVersion]:
        return self._file.all(version_of, DEPENDENTS, _ids(bases))

    def rewrite(self, pruned: Sequence[StoredVersion], frames: Mapping[StoredVersion, bytes]) -> None:
        with self._file.together():
            for version, frame in frames.items():
                self._put(version, frame, was_pruned=False)
            if {version.id for version in self.dependents(pruned)} - {version.id for version in pruned}:
                raise Conflict("another writer stored a version against one that is to be pruned")
            database, ids = self._file.database, _ids(pruned)
            among = "IN (SELECT value FROM json_each(?))"
            database.execute(f"DELETE FROM frame WHERE version {among}", (ids,))
            database.execute(f"DELETE FROM payload WHERE version {among}", (ids,))
            database.execute(
                f"UPDATE version SET base = NULL, cost = 0, frame_sum = 0 WHERE id {among}", (ids,)
            )
            database.execute(f"{renew('version')} WHERE id {among}", (ids,))

    def restore(self, version: StoredVersion, frame: bytes, head: PageHead, lineages: int) -> None:
        with self._file.together():
            self._put(version, frame, was_pruned=True)
            database = self._file.database
            database.execute(
                "UPDATE version SET charset = ?, level = ?, segmenter = ?, layout = ? WHERE id = ?",
                (version.charset, version.level, version.segmenter, version.layout, version.id),
            )
            database.execute(f"{renew('version')} WHERE id = ?", (version.id,))
            own = "id = (SELECT page FROM version WHERE id = ?)"
            counted = database.execute(
                f"UPDATE page SET lineages = ? WHERE {own} AND versions = ? AND lineages = ?",
                (lineages, version.id, head.versions, head.lineages),
            )
            if not counted.rowcount:
                raise Conflict(f"another writer stored a version of {version.url}")
            database.execute(f"{renew('page')} WHERE {own}", (version.id,))

    def _put(self, version: StoredVersion, frame: bytes, was_pruned: bool) -> None:
        """Store the base and the cost of a version, and its frame unless that is empty.

        Raises Conflict if another writer pruned or restored the version, or removed the base of the frame.
        """
        database = self._file.database
        is_pruned = database.execute("SELECT cost = 0 FROM version WHERE id = ?", (version.id,)).fetchone()
        if is_pruned != (was_pruned,):
            raise Conflict("another writer pruned or restored a version")
        if frame and not has_base(database, version.base):
            raise Conflict("another writer replaced the dictionary of the site, or pruned a version")
        if frame:
            # A smaller frame in the place of the old frame would leave a part of its place empty.
            database.execute("DELETE FROM frame WHERE version = ?", (version.id,))
            database.execute("INSERT INTO frame VALUES (?, ?)", (version.id, frame))
            database.execute(
                "UPDATE version SET base = ?, frame_sum = ? WHERE id = ?",
                (version.base, checksum(frame), version.id),
            )
        values = version.cost, version.blocks, version.id
        database.execute("UPDATE version SET cost = ?, blocks = ? WHERE id = ?", values)
        database.execute(f"{renew('version')} WHERE id = ?", (version.id,))

    def count(self) -> int:
        return self._file.number("SELECT count(*) FROM version WHERE cost = 0")

    def compact(self) -> None:
        with self._file.together():
            self._file.database.execute(SWEEP)
        free, pages = (self._file.number(f"PRAGMA {name}") for name in ("freelist_count", "page_count"))
        if free < FREE * pages:
            return
        with self._file.reading():
            self._file.database.execute("VACUUM")
            # Without it the new file is only in the log, and the old one keeps its size.
            self._file.database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def _ids(bases: Sequence[StoredVersion | StoredDictionary]) -> str:
    return json.dumps([base.id for base in bases])
