"""The tables of the SQLite archive and the steps from one schema to the next."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from archivebot.exceptions import StorageError

# "abot" in ASCII; tells an archive from any other SQLite file.
APPLICATION_ID = 0x61626F74

# Frames are 3 KB in the median: small database pages waste least at their ends.
PAGE_SIZE = 2048


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Run a block as one write transaction: all of it is kept, or nothing.

    The lock is taken at once (BEGIN IMMEDIATE): a transaction that reads before it writes would
    fail instead of waiting when two processes write.
    """
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:  # a full disk ends it by itself
            database.execute("ROLLBACK")
        raise


def _first_schema(database: sqlite3.Connection) -> None:
    for statement in (
        """CREATE TABLE page (
            id INTEGER PRIMARY KEY,
            url TEXT NOT NULL UNIQUE,
            urlkey TEXT NOT NULL,
            versions INTEGER NOT NULL,
            lineages INTEGER NOT NULL,
            sketch BLOB NOT NULL)""",
        "CREATE INDEX page_urlkey ON page (urlkey)",
        """CREATE TABLE version (
            id INTEGER PRIMARY KEY,
            page INTEGER NOT NULL REFERENCES page,
            number INTEGER,
            digest BLOB NOT NULL,
            length INTEGER NOT NULL,
            charset TEXT NOT NULL,
            level INTEGER NOT NULL,
            segmenter INTEGER NOT NULL,
            layout INTEGER NOT NULL,
            blocks INTEGER NOT NULL,
            new_blocks INTEGER NOT NULL,
            new_bytes INTEGER NOT NULL,
            cost INTEGER NOT NULL,
            base INTEGER REFERENCES version)""",
        "CREATE UNIQUE INDEX version_digest ON version (page, digest)",
        "CREATE INDEX version_page ON version (page)",
        """CREATE TABLE frame (
            version INTEGER PRIMARY KEY REFERENCES version,
            data BLOB NOT NULL)""",
        """CREATE TABLE capture (
            page INTEGER NOT NULL REFERENCES page,
            time INTEGER NOT NULL,
            version INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            kind TEXT NOT NULL,
            status INTEGER,
            stored_bytes INTEGER NOT NULL,
            new_blocks INTEGER NOT NULL,
            links INTEGER NOT NULL,
            reason TEXT,
            location TEXT,
            origin TEXT,
            headers BLOB,
            PRIMARY KEY (page, time, version, outcome)) WITHOUT ROWID""",
    ):
        database.execute(statement)


def _links(database: sqlite3.Connection) -> None:
    # Navigation repeats its URLs and labels on every page of a site: each text is kept once.
    for statement in (
        """CREATE TABLE text (
            id INTEGER PRIMARY KEY,
            value TEXT NOT NULL UNIQUE)""",
        """CREATE TABLE link (
            source INTEGER PRIMARY KEY REFERENCES text,
            links BLOB NOT NULL)""",
    ):
        database.execute(statement)


# One function per step; the position in the list is the version it leads to (PRAGMA user_version).
STEPS: list[Callable[[sqlite3.Connection], None]] = [_first_schema, _links]


def migrate(database: sqlite3.Connection, uri: str) -> None:
    """Bring a database to the newest schema; each step is one transaction.

    Raises StorageError for a database of another program or of a newer archivebot.
    """
    (application,) = database.execute("PRAGMA application_id").fetchone()
    (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if application not in (0, APPLICATION_ID) or (application == 0 and tables):
        raise StorageError(f"{uri} is a SQLite database of another program; give another ARCHIVE_URI")
    if not tables:
        database.execute(f"PRAGMA page_size = {PAGE_SIZE}")
    database.execute("PRAGMA journal_mode = WAL")
    (version,) = database.execute("PRAGMA user_version").fetchone()
    if version > len(STEPS):
        raise StorageError(f"{uri} was written by a newer archivebot (schema {version}); upgrade archivebot")
    for number, step in enumerate(STEPS[version:], version + 1):
        with transaction(database):
            (now,) = database.execute("PRAGMA user_version").fetchone()
            if now >= number:
                continue  # another process made this step while we waited for the lock
            step(database)
            database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            database.execute(f"PRAGMA user_version = {number}")
