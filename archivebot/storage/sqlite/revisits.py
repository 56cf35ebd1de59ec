"""Payload digests and waiting visits in the SQLite archive, and the removal of captures to replace."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime

from archivebot.models import Capture, Outcome, Payload
from archivebot.storage.revisits import Waiting
from archivebot.storage.sqlite.rows import DIGEST, PAGE_OF
from archivebot.storage.sqlite.sums import insert, intact, whole
from archivebot.storage.times import milliseconds, moment

_WAITING = (
    f"SELECT {intact('waiting')}, url, time, payload, refers_to, refers_time"
    " FROM waiting JOIN page ON page.id = page"
)
_CAPTURE = (
    "SELECT capture.page, capture.version, shape FROM capture JOIN shape ON shape.id = shape"
    f" LEFT JOIN version ON version.id = version WHERE capture.page = {PAGE_OF}"
    " AND time = ?2 AND outcome = ?3 AND lower(coalesce(hex(digest), '')) = ?4"
)


class SQLiteRevisits:
    """A RevisitStore in tables of the archive; ``together`` opens a transaction."""

    def __init__(
        self, database: sqlite3.Connection, together: Callable[[], AbstractContextManager[None]]
    ) -> None:
        self._db, self._together = database, together

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
            self._db.execute(
                "DELETE FROM capture WHERE page = ? AND time = ?"
                " AND shape IN (SELECT id FROM shape WHERE outcome = ?)",
                (*visit, Outcome.UNRESOLVED),
            )


def take_out(database: sqlite3.Connection, capture: Capture) -> int:
    """Delete the row of a capture that will be replaced; return its page."""
    when = milliseconds(capture.captured_at)
    values = (capture.url, when, capture.outcome, capture.sha256)
    page, version, shape = database.execute(_CAPTURE, values).fetchone()
    database.execute(
        "DELETE FROM capture WHERE page = ? AND time = ? AND version = ? AND shape = ?",
        (page, when, version, shape),
    )
    return int(page)
