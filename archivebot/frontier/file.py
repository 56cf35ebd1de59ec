"""The SQLite file of frontiers: its connection, its transactions and its errors."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from archivebot.frontier.schema import check, migrate
from archivebot.storage.sqlite.database import DatabaseFile
from archivebot.storage.sqlite.migration import transaction
from archivebot.storage.sqlite.presence import Presence
from archivebot.storage.sqlite.readonly import connect

# Seconds that a writer waits for another writer. The crawl stands still meanwhile; beyond that its own
# timeout applies.
BUSY_TIMEOUT = 4

# The write-ahead log is copied into the file each time it has grown by this many pages of 4 KB. In a frontier
# of 300,000 URLs a batch of 30 changes 95 pages: with SQLite's default of 1,000 every tenth batch waits for
# the disk, with this value every eightieth.
CHECKPOINT = 8_000
JOURNAL_LIMIT = 64 * 1024 * 1024

# Maximum of values in one statement: SQLite may be built for at most 999.
MOST_VALUES = 500


class FrontierFile(DatabaseFile):
    """The file at a path, created if it does not exist."""

    damaged = "no frontier; move it away and crawl again"

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._presence = Presence(path)

    def _connected(self) -> sqlite3.Connection:
        return sqlite3.connect(self._path, timeout=BUSY_TIMEOUT, isolation_level=None)

    def _prepare(self) -> None:
        migrate(self.database, self.uri)
        # A commit survives a crash of the process. After a power cut the last commits may be missing, but
        # never an earlier one without the later ones: no page is lost, see Frontier.mark_followed.
        self.database.execute("PRAGMA synchronous = NORMAL")
        self.database.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
        self.database.execute(f"PRAGMA journal_size_limit = {JOURNAL_LIMIT}")

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Run a block as one transaction, or as part of the transaction under way."""
        self._presence.check()
        with self._translated(), transaction(self.database):
            yield

    def one(self, sql: str, *values: object) -> Any:
        """Return the first row of an answer, or None."""
        return self._execute(sql, values).fetchone()

    def rows(self, sql: str, *values: object) -> Iterator[Any]:
        """Yield the rows of an answer as they are read."""
        with self._translated():
            yield from self.database.execute(sql, values)

    def among(self, sql: str, values: Sequence[object]) -> Iterator[Any]:
        """Yield the rows of a query that ends with IN, for any number of values."""
        for first in range(0, len(values), MOST_VALUES):
            some = values[first : first + MOST_VALUES]
            yield from self.rows(f"{sql} ({', '.join('?' * len(some))})", *some)

    def change(self, sql: str, *values: object) -> int:
        """Run a statement that writes, and return the number of changed rows."""
        return self._execute(sql, values).rowcount

    def change_each(self, sql: str, rows: Iterable[Sequence[object]]) -> None:
        """Run a statement that writes with the values of each row."""
        with self._translated():
            self.database.executemany(sql, rows)

    def insert(self, sql: str, *values: object) -> int:
        """Run a statement that adds a row, and return the id of the row."""
        return int(self._execute(sql, values).lastrowid or 0)

    def _execute(self, sql: str, values: Sequence[object]) -> sqlite3.Cursor:
        try:  # a context manager would cost more than some of the statements
            return self.database.execute(sql, values)
        except sqlite3.Error as error:
            raise self._failure(error) from error

    def forget(self, crawl: str) -> int:
        """Remove all data of a crawl, and return the number of its URLs."""
        known = self.one("SELECT id FROM crawl WHERE name = ?", crawl)
        if known is None:
            return 0
        hosts = list(self.rows("SELECT id FROM host WHERE crawl = ?", *known))
        for table, column in (("host", "crawl"), ("owner", "crawl"), ("budget", "crawl"), ("crawl", "id")):
            self.change(f"DELETE FROM {table} WHERE {column} = ?", *known)
        # After the hosts, so that no counts have to be updated.
        return sum(self.change("DELETE FROM entry WHERE host = ?", *host) for host in hosts)


class ReadOnlyFile(FrontierFile):
    """A connection that only reads, whether the file may be written or not; see :func:`readonly.connect`."""

    def _connected(self) -> sqlite3.Connection:
        return connect(self._path)[0]

    def _prepare(self) -> None:
        check(self.database, self.uri)


class CopiedFile(ReadOnlyFile):
    """An upgraded copy in memory of the file of an older archivebot, for a file that cannot be written."""

    def _prepare(self) -> None:
        with closing(self.database) as older:
            self.database = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
            older.backup(self.database)
        migrate(self.database, self.uri)
