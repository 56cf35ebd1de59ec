"""Upgrades a SQLite file to the newest schema; safe if several processes try at once."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from archivebot.exceptions import Closed, CorruptObject, StorageError

# The error messages of SQLite for a file changed by a faulty disk or memory.
DAMAGE = re.compile(
    "malformed|decode to UTF-8|codec can't decode|user-defined function raised|unsupported file format"
    "|no such (table|column)|has no column|duplicate column|already exists"
)

Step = Callable[[sqlite3.Connection], None]


@contextmanager
def transaction(database: sqlite3.Connection) -> Iterator[None]:
    """Run a block as one write transaction, or as part of the current transaction.

    The lock is taken at once (BEGIN IMMEDIATE): a transaction that reads before it writes would
    fail instead of waiting when two processes write.
    """
    if database.in_transaction:
        yield
        return
    database.execute("BEGIN IMMEDIATE")
    try:
        yield
        database.execute("COMMIT")
    except BaseException:
        if database.in_transaction:  # a full disk ends it by itself
            database.execute("ROLLBACK")
        raise


def failure(uri: str, error: sqlite3.Error | UnicodeDecodeError, damaged: str) -> StorageError:
    """Return the error of a file with advice; ``damaged`` is the advice for a damaged or foreign file.

    >>> failure("sqlite:///a.db", sqlite3.OperationalError("database is locked"), "")
    StorageError('sqlite:///a.db: database is locked (another process is writing; try again)')
    """
    text, advice = str(error), ""
    if "closed database" in text:
        return Closed(f"{uri} was closed: open it again")
    if DAMAGE.search(text):
        return CorruptObject(f"{uri}: {text} (the file is damaged or {damaged})")
    if "unable to open" in text or "readonly" in text:
        advice = " (does the folder exist, and may you write to it?)"
    elif "not a database" in text:
        advice = f" (the file is damaged or {damaged})"
    elif "locked" in text:
        advice = " (another process is writing; try again)"
    elif "disk is full" in text:
        advice = " (make room on the disk, and give the same command again)"
    return StorageError(f"{uri}: {text}{advice}")


def upgrade(
    database: sqlite3.Connection,
    uri: str,
    application: int,
    steps: Sequence[Step],
    advice: str,
    page_size: int | None = None,
) -> None:
    """Run the missing upgrade steps, each in one transaction; PRAGMA user_version counts the steps done.

    Raises StorageError for a file of another ``application`` (PRAGMA application_id), with the advice, and
    for a file with a newer schema.
    """
    version = schema_of(database, uri, application, len(steps), advice)
    if not version and page_size:
        database.execute(f"PRAGMA page_size = {page_size}")
    database.execute("PRAGMA journal_mode = WAL")
    for number, step in enumerate(steps[version:], version + 1):
        with transaction(database):
            (now,) = database.execute("PRAGMA user_version").fetchone()
            if now >= number:
                continue  # another process made this step while we waited for the lock
            step(database)
            database.execute(f"PRAGMA application_id = {application}")
            database.execute(f"PRAGMA user_version = {number}")


def schema_of(database: sqlite3.Connection, uri: str, application: int, newest: int, advice: str) -> int:
    """Return the schema of a file, 0 for an empty one; raises StorageError as :func:`upgrade` does."""
    owner, tables, version = _state(database)
    if owner not in (0, application) or (owner == 0 and tables):
        raise StorageError(f"{uri} is a SQLite database of another program; {advice}")
    check_version(version, newest, uri)
    return version


def check_version(version: int, newest: int, uri: str) -> None:
    """Raise StorageError if a file has a newer schema."""
    if version > newest:
        raise StorageError(f"{uri} was written by a newer archivebot (schema {version}); upgrade archivebot")


def _state(database: sqlite3.Connection) -> tuple[int, int, int]:
    """Read application, number of tables and version in one transaction: another process may change them."""
    database.execute("BEGIN")
    try:
        (tables,) = database.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (owner,) = database.execute("PRAGMA application_id").fetchone()
        (version,) = database.execute("PRAGMA user_version").fetchone()
    finally:
        database.execute("ROLLBACK")
    return owner, tables, version
