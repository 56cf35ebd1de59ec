"""Payload digests and waiting visits in the SQLite archive."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from archivebot.models import Outcome, Payload
from archivebot.storage.revisits import Waiting
from archivebot.storage.sqlite.captures import SQLiteCaptures
from archivebot.storage.sqlite.file import ArchiveFile
from archivebot.storage.sqlite.rows import DIGEST, PAGE_OF
from archivebot.storage.sqlite.sums import insert, intact, whole
from archivebot.storage.times import milliseconds, moment

_PAYLOAD = (
    f"SELECT {intact('payload')}, url, lower(hex(digest)) FROM payload"
    " JOIN version ON version.id = version JOIN page ON page.id = page WHERE payload.payload = ?"
)
_REMEMBER = (
    "INSERT INTO payload (payload, version, sum) SELECT ?3, id, checksum(?3, id) FROM version"
    f" WHERE page = {PAGE_OF} AND {DIGEST} LIMIT 1 ON CONFLICT DO"
)
# A row that would stay the same is not written again.
_AGAIN = (
    "UPDATE SET version = excluded.version, sum = excluded.sum"
    " WHERE (version, sum) IS NOT (excluded.version, excluded.sum)"
)
_WAITING = (
    f"SELECT {intact('waiting')}, url, time, payload, refers_to, refers_time"
    " FROM waiting JOIN page ON page.id = page"
)


class SQLiteRevisits:
    """The RevisitStore of an archive in a file."""

    def __init__(self, file: ArchiveFile, captures: SQLiteCaptures) -> None:
        self._file, self._captures = file, captures

    def remember(self, payload: str, url: str, digest: str, again: bool) -> None:
        values = url, bytes.fromhex(digest), bytes.fromhex(payload)
        with self._file.together():
            self._file.database.execute(f"{_REMEMBER} {_AGAIN if again else 'NOTHING'}", values)

    def payload(self, payload: str) -> tuple[str, str] | None:
        return self._file.one(whole, _PAYLOAD, bytes.fromhex(payload))

    def wait(self, waiting: Waiting) -> None:
        url, when, payload = waiting
        with self._file.together():
            database = self._file.database
            for page in database.execute(f"SELECT id FROM page WHERE id = {PAGE_OF}", (url,)).fetchall():
                refers_time = milliseconds(payload.when) if payload.when else None
                values = (milliseconds(when), bytes.fromhex(payload.digest), payload.url, refers_time)
                database.execute(insert("waiting", "OR IGNORE"), (*page, *values))

    def waiting(self, payload: str, url: str, when: datetime) -> list[Waiting]:
        second = milliseconds(when) // 1000 * 1000
        return self._file.all(
            waiting_of,
            f"{_WAITING} WHERE payload = ? AND payload <> x'' UNION {_WAITING} WHERE refers_to = ?"
            " AND refers_time BETWEEN ? AND ? ORDER BY 2, 3",
            bytes.fromhex(payload),
            url,
            second,
            second + 999,
        )

    def release(self, url: str, when: datetime) -> None:
        with self._file.together():
            (page,) = self._file.database.execute(f"SELECT {PAGE_OF}", (url,)).fetchone()
            visit = (page, milliseconds(when))
            self._file.database.execute("DELETE FROM waiting WHERE page = ? AND time = ?", visit)
            self._captures.take_out(page, url, visit[1], Outcome.UNRESOLVED, version=None)


def waiting_of(row: Any) -> Waiting:
    """Read a row of ``_WAITING``."""
    url, time, payload, refers_to, refers = whole(row)
    when = moment(refers) if refers is not None else None
    return url, moment(time), Payload(payload.hex(), refers_to, when)
