"""Payload digests and waiting visits in the SQLite archive."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime

from archivebot.models import Outcome, Payload
from archivebot.storage.revisits import Waiting
from archivebot.storage.sqlite.captures import SQLiteCaptures
from archivebot.storage.sqlite.rows import DIGEST, PAGE_OF
from archivebot.storage.sqlite.sums import insert, intact, whole
from archivebot.storage.times import milliseconds, moment

_WAITING = (
    f"SELECT {intact('waiting')}, url, time, payload, refers_to, refers_time"
    " FROM waiting JOIN page ON page.id = page"
)


class SQLiteRevisits:
    """A RevisitStore in tables of the archive; ``together`` opens a transaction."""

    def __init__(
        self,
        database: sqlite3.Connection,
        together: Callable[[], AbstractContextManager[None]],
        captures: SQLiteCaptures,
    ) -> None:
        self._db, self._together, self._captures = database, together, captures

    def remember(self, payload: str, url: str, digest: str, again: bool) -> None:
        with self._together():
            version = self._db.execute(
                f"SELECT id FROM version WHERE page = {PAGE_OF} AND {DIGEST}",
                (url, bytes.fromhex(digest)),
            ).fetchone()
            if version:
                otherwise = "OR REPLACE" if again else "OR IGNORE"
                self._db.execute(insert("payload", otherwise), (bytes.fromhex(payload), *version))

    def payload(self, payload: str) -> tuple[str, str] | None:
        with self._together():
            row = self._db.execute(
                f"SELECT {intact('payload')}, url, lower(hex(digest)) FROM payload"
                " JOIN version ON version.id = version JOIN page ON page.id = page WHERE payload.payload = ?",
                (bytes.fromhex(payload),),
            ).fetchone()
        if row is None:
            return None
        url, digest = whole(row)
        return url, digest

    def wait(self, waiting: Waiting) -> None:
        url, when, payload = waiting
        with self._together():
            for page in self._db.execute(f"SELECT id FROM page WHERE id = {PAGE_OF}", (url,)).fetchall():
                refers_time = milliseconds(payload.when) if payload.when else None
                values = (milliseconds(when), bytes.fromhex(payload.digest), payload.url, refers_time)
                self._db.execute(insert("waiting", "OR IGNORE"), (*page, *values))

    def waiting(self, payload: str, url: str, when: datetime) -> list[Waiting]:
        second = milliseconds(when) // 1000 * 1000
        with self._together():
            rows = self._db.execute(
                f"{_WAITING} WHERE payload = ? AND payload <> x'' UNION {_WAITING} WHERE refers_to = ?"
                " AND refers_time BETWEEN ? AND ? ORDER BY 2, 3",
                (bytes.fromhex(payload), url, second, second + 999),
            ).fetchall()
        return [
            (
                url,
                moment(time),
                Payload(payload.hex(), refers_to, moment(refers) if refers is not None else None),
            )
            for url, time, payload, refers_to, refers in map(whole, rows)
        ]

    def release(self, url: str, when: datetime) -> None:
        with self._together():
            (page,) = self._db.execute(f"SELECT {PAGE_OF}", (url,)).fetchone()
            visit = (page, milliseconds(when))
            self._db.execute("DELETE FROM waiting WHERE page = ? AND time = ?", visit)
            self._captures.take_out(page, url, visit[1], Outcome.UNRESOLVED, version=None)
