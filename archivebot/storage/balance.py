"""A comparison of two large sets of digests in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self


class Balance:
    """Counts digests in a temporary file: how often each was added, less how often it was taken away."""

    def __init__(self) -> None:
        import sqlite3  # not for every program that has an archive

        self._database = sqlite3.connect("", isolation_level=None)
        self._database.execute("PRAGMA journal_mode = OFF")
        self._database.execute(
            "CREATE TABLE count (digest BLOB PRIMARY KEY, number INTEGER, place INTEGER) WITHOUT ROWID"
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._database.close()

    def add(self, digest: bytes, place: int) -> None:
        """Add a digest that stands at a place."""
        self._change(digest, 1, place)

    def take(self, digest: bytes) -> bool:
        """Take a digest away; False if there was none."""
        return self._change(digest, -1, -1) >= 0

    def _change(self, digest: bytes, number: int, place: int) -> int:
        (now,) = self._database.execute(
            "INSERT INTO count VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET"
            " number = number + ?2, place = max(place, ?3) RETURNING number",
            (digest, number, place),
        ).fetchone()
        return int(now)

    def is_short_of(self, digest: bytes) -> bool:
        """Return whether a digest was taken away more often than it was added."""
        sql = "SELECT 1 FROM count WHERE digest = ? AND number < 0"
        return self._database.execute(sql, (digest,)).fetchone() is not None

    def rest(self, end: int) -> Iterator[int]:
        """Yield the places before ``end`` of the digests that are left."""
        sql = "SELECT place FROM count WHERE number > 0 AND place < ? ORDER BY place"
        yield from (place for (place,) in self._database.execute(sql, (end,)))
