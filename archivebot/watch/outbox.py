"""The outbox: the alerts that are to be sent, what was sent, and how far each page was judged."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from pathlib import Path
from typing import Any

from archivebot.exceptions import Conflict
from archivebot.storage.sqlite.database import DatabaseFile
from archivebot.storage.sqlite.migration import transaction, upgrade
from archivebot.watch.alert import Alert

# "afwa" in ASCII: distinguishes an outbox from an archive and a frontier.
APPLICATION_ID = 0x61667761

ADVICE = "move it away"

# Seconds before the second attempt, doubled for each further one; after an hour and a half a day has 4 to 16.
FIRST_WAIT, LONGEST_WAIT = 60, 6 * 3600

# Seconds in which each attempt that was made by the present clock is due again: a time beyond them was noted
# while the clock was ahead.
FARTHEST = 24 * 3600

# Number of sent alerts that are kept for each rules file: a feed shows the last hundred.
KEPT = 1000

BUSY_TIMEOUT = 30  # seconds that a run waits for another run

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _first_schema(database: sqlite3.Connection) -> None:
    for statement in (
        """CREATE TABLE watch (
            id INTEGER PRIMARY KEY,
            archive TEXT NOT NULL,
            rules TEXT NOT NULL,
            run INTEGER NOT NULL DEFAULT 0,
            UNIQUE (archive, rules))""",
        """CREATE TABLE seen (
            watch INTEGER NOT NULL REFERENCES watch,
            url TEXT NOT NULL,
            captured_at INTEGER NOT NULL,
            PRIMARY KEY (watch, url)) WITHOUT ROWID""",
        """CREATE TABLE alert (
            number INTEGER PRIMARY KEY,
            watch INTEGER NOT NULL REFERENCES watch,
            id TEXT NOT NULL UNIQUE,
            record TEXT NOT NULL)""",
        """CREATE TABLE delivery (
            alert INTEGER NOT NULL REFERENCES alert,
            output TEXT NOT NULL,
            attempts INTEGER NOT NULL DEFAULT 0,
            due INTEGER NOT NULL DEFAULT 0,
            sent INTEGER NOT NULL DEFAULT 0,
            error TEXT NOT NULL DEFAULT '',
            PRIMARY KEY (alert, output)) WITHOUT ROWID""",
        "CREATE INDEX waiting ON delivery (output, due) WHERE NOT sent",
    ):
        database.execute(statement)


def _normal_paths(database: sqlite3.Connection) -> None:
    """Merge the states of a rules file that was named by several paths; its path is stored without ".."."""
    known: dict[tuple[str, str], int] = {}
    for watch, archive, rules in database.execute("SELECT id, archive, rules FROM watch").fetchall():
        path = os.path.normpath(rules)
        kept = known.setdefault((archive, path), watch)
        if kept == watch:
            continue
        database.execute(
            "INSERT INTO seen SELECT ?, url, captured_at FROM seen WHERE watch = ?"
            " ON CONFLICT DO UPDATE SET captured_at = max(captured_at, excluded.captured_at)",
            (kept, watch),
        )
        database.execute("UPDATE alert SET watch = ? WHERE watch = ?", (kept, watch))
        database.execute(
            "UPDATE watch SET run = run + (SELECT run FROM watch WHERE id = ?) WHERE id = ?", (watch, kept)
        )
        database.execute("DELETE FROM seen WHERE watch = ?", (watch,))
        database.execute("DELETE FROM watch WHERE id = ?", (watch,))
    database.executemany(
        "UPDATE watch SET rules = ? WHERE id = ?", [(path, watch) for (_, path), watch in known.items()]
    )


STEPS = (_first_schema, _normal_paths)


def _wait(attempts: int) -> int:
    """Return the seconds between an attempt that failed and the next one, after some earlier attempts.

    >>> _wait(0), _wait(1), _wait(99)
    (60, 120, 21600)
    """
    return min(FIRST_WAIT << min(attempts, 16), LONGEST_WAIT)


@dataclass(frozen=True, slots=True)
class Waiting:
    """An alert that an output has not taken yet."""

    number: int
    alert: Alert


class Outbox(DatabaseFile):
    """The outbox of one rules file for one archive, in a SQLite file that all of them share.

    Judging is one transaction: the alerts and how far the pages were judged are stored together. An attempt
    is stored before it is made, and its success after it: if the process is killed in between, the alert is
    sent again, with the same id.
    """

    damaged = "no outbox; move it away"

    def __init__(self, path: Path, archive: str, rules: Path) -> None:
        self.path, self._names = path, (archive, str(rules))
        super().__init__(str(path))

    def _connected(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=BUSY_TIMEOUT, isolation_level=None)

    def _prepare(self) -> None:
        upgrade(self.database, self.uri, APPLICATION_ID, STEPS, ADVICE)
        # A sent alert must not be unsent after a power cut.
        self.database.execute("PRAGMA synchronous = FULL")
        self.database.execute("INSERT OR IGNORE INTO watch (archive, rules) VALUES (?, ?)", self._names)
        self._id, self.run = self.database.execute(
            "SELECT id, run FROM watch WHERE archive = ? AND rules = ?", self._names
        ).fetchone()

    def _rows(self, sql: str, *values: object) -> list[Any]:
        with self._translated():
            return self.database.execute(sql, values).fetchall()

    def seen(self, url: str) -> datetime | None:
        """Return the time of the last judged capture of a page, None if none was judged."""
        rows = self._rows("SELECT captured_at FROM seen WHERE watch = ? AND url = ?", self._id, url)
        return _EPOCH + timedelta(microseconds=rows[0][0]) if rows else None

    def record(self, alerts: Iterable[tuple[Alert, Sequence[str]]], seen: Mapping[str, datetime]) -> None:
        """Store alerts, each with the outputs that get it, and how far the pages were judged.

        Raises Conflict if another run has judged since this outbox was opened; then nothing is stored.
        """
        times = ((self._id, url, (when - _EPOCH) // timedelta(microseconds=1)) for url, when in seen.items())
        with self._translated(), transaction(self.database):
            done = self.database.execute(
                "UPDATE watch SET run = run + 1 WHERE id = ? AND run = ?", (self._id, self.run)
            )
            if not done.rowcount:
                raise Conflict("another scrapy watch has judged the same captures meanwhile")
            self.database.executemany("INSERT OR REPLACE INTO seen VALUES (?, ?, ?)", times)
            for alert, outputs in alerts:
                added = self.database.execute(
                    "INSERT OR IGNORE INTO alert (watch, id, record) VALUES (?, ?, ?)",
                    (self._id, alert.id, json.dumps(alert.record())),
                )
                rows = [(added.lastrowid, output) for output in outputs] if added.rowcount else []
                self.database.executemany("INSERT INTO delivery (alert, output) VALUES (?, ?)", rows)
            self._prune()
        self.run += 1

    def _prune(self) -> None:
        """Drop the oldest sent alerts."""
        old = "SELECT number FROM alert WHERE watch = ? ORDER BY number DESC LIMIT -1 OFFSET ?"
        unsent = "SELECT alert FROM delivery WHERE NOT sent"
        self.database.execute(
            f"DELETE FROM delivery WHERE alert IN ({old}) AND alert NOT IN ({unsent})", (self._id, KEPT)
        )
        self.database.execute(
            f"DELETE FROM alert WHERE number IN ({old}) AND number NOT IN (SELECT alert FROM delivery)",
            (self._id, KEPT),
        )

    def claim(self, output: str, now: datetime, patience: float) -> Waiting | None:
        """Return the alert that is due first at an output, and count the attempt; None if none is due.

        Until the next attempt is due, after ``patience`` and a wait that doubles, no other run takes it.
        """
        second = int(now.timestamp())
        with self._translated(), transaction(self.database):
            row = self.database.execute(
                "SELECT number, record, attempts FROM delivery JOIN alert ON alert = number"
                " WHERE watch = ? AND output = ? AND NOT sent AND NOT due BETWEEN ? AND ?"
                " ORDER BY due, number LIMIT 1",
                (self._id, output, second + 1, second + FARTHEST),
            ).fetchone()
            if row is None:
                return None
            number, record, attempts = row
            self.database.execute(
                "UPDATE delivery SET attempts = attempts + 1, due = ?, error = ''"
                " WHERE alert = ? AND output = ?",
                (ceil(now.timestamp() + patience) + _wait(attempts), number, output),
            )
        return Waiting(number, Alert.from_json(record, self.path))

    def settle(self, output: str, numbers: Iterable[int], error: str = "") -> None:
        """Note that an output took alerts, or why it did not."""
        rows = [(not error, error, number, output) for number in numbers]
        with self._translated(), transaction(self.database):
            self.database.executemany(
                "UPDATE delivery SET sent = ?, error = ? WHERE alert = ? AND output = ?", rows
            )

    def make_due(self, now: datetime) -> None:
        """Make everything due that waits, except the alerts that another run is sending."""
        second = int(now.timestamp())
        with self._translated(), transaction(self.database):
            waiting = self.database.execute(
                "SELECT number, output, attempts, due, error FROM delivery JOIN alert ON alert = number"
                " WHERE watch = ? AND NOT sent",
                (self._id,),
            ).fetchall()
            self.database.executemany(
                "UPDATE delivery SET due = 0 WHERE alert = ? AND output = ?",
                [
                    (number, output)
                    for number, output, attempts, due, error in waiting
                    if error or not attempts or due - _wait(attempts - 1) < second
                ],
            )

    def last(self, output: str, limit: int) -> list[Waiting]:
        """Return the last alerts of an output, sent or not, the newest first."""
        rows = self._rows(
            "SELECT number, record FROM delivery JOIN alert ON alert = number"
            " WHERE watch = ? AND output = ? ORDER BY number DESC LIMIT ?",
            self._id,
            output,
            limit,
        )
        return [Waiting(number, Alert.from_json(record, self.path)) for number, record in rows]

    def elsewhere(self) -> dict[str, int]:
        """Return the number of alerts of the archive that wait for other rules files, by their paths."""
        return dict(
            self._rows(
                "SELECT rules, COUNT(DISTINCT number) FROM watch JOIN alert ON watch.id = watch"
                " JOIN delivery ON number = delivery.alert"
                " WHERE NOT sent AND watch.id <> ? AND archive = (SELECT archive FROM watch WHERE id = ?)"
                " GROUP BY rules ORDER BY rules",
                self._id,
                self._id,
            )
        )

    def unsent(self) -> dict[str, list[int]]:
        """Return the numbers of the alerts that wait, by output."""
        found: dict[str, list[int]] = {}
        for output, number in self._rows(
            "SELECT output, alert FROM delivery JOIN alert ON alert = number"
            " WHERE watch = ? AND NOT sent ORDER BY output, number",
            self._id,
        ):
            found.setdefault(output, []).append(number)
        return found
