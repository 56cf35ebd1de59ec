"""Read-only connections to SQLite files, also to files that this process may not write to."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from errno import EACCES, EISDIR
from pathlib import Path
from stat import S_ISDIR
from urllib.parse import quote

from archivebot.exceptions import NotArchived, StorageError

# Seconds to wait for a process that recovers the write-ahead log after another process was killed.
PATIENCE = 30

FIXED = "immutable=1"


def connect(path: str) -> tuple[sqlite3.Connection, bool]:
    """Return a read-only connection, and whether it relies on the absence of writers.

    Any thread may use it, one at a time. Raises sqlite3.Error if the file cannot be opened.
    """
    failed = sqlite3.OperationalError("unable to open database file")
    for way in _ways(path):
        database = sqlite3.connect(
            uri_of(path, way),
            uri=True,
            timeout=PATIENCE,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            database.execute("PRAGMA query_only = ON")
            database.execute("PRAGMA schema_version").fetchone()  # only this opens the file
        except sqlite3.Error as error:
            database.close()
            if not isinstance(error, sqlite3.OperationalError) or not _is_unwritable(error):
                raise
            failed = error
        else:
            return database, way == FIXED
    raise failed


def uri_of(path: str, way: str) -> str:
    """Return the URI with which SQLite opens a file in the given way.

    >>> uri_of("//srv/a?.db", "mode=ro")  # two slashes alone would stand before a host
    'file:////srv/a%3F.db?mode=ro'
    """
    return f"file://{quote(str(Path(path).absolute()))}?{way}"


def _ways(path: str) -> Iterator[str]:
    """Yield the URIs with which a file may be opened, the best first.

    Readers of a file in WAL mode share memory with its writers, through a file beside it. A process with
    write permission creates and removes that file; a process without it needs the file of a writer.
    """
    if os.access(path, os.W_OK):
        yield "mode=rw"
    if Path(log_of(path)).exists():
        yield "mode=ro"
    if not has_log(path):
        yield FIXED


def has_log(path: str) -> bool:
    """Return whether a writer has committed data that is not in the file itself yet."""
    try:
        return os.stat(log_of(path)).st_size > 0
    except FileNotFoundError:
        return False


def log_of(path: str) -> str:
    """Return the path of the write-ahead log of a file."""
    return f"{path}-wal"


def _is_unwritable(error: sqlite3.OperationalError) -> bool:
    return any(sign in str(error) for sign in ("unable to open", "readonly"))


def require(path: str, missing: NotArchived) -> None:
    """Raise ``missing`` if a file does not exist or is empty, StorageError if it may not be read.

    The file is not opened: when a process closes a file, the system ends all locks of the process on it, also
    those of its other connections. Another process would then delete their write-ahead log.
    """
    try:
        found = os.stat(path)
        if S_ISDIR(found.st_mode):
            raise IsADirectoryError(EISDIR, os.strerror(EISDIR))
        if not os.access(path, os.R_OK):
            raise PermissionError(EACCES, os.strerror(EACCES))
    except FileNotFoundError:
        raise missing from None
    except OSError as error:
        raise StorageError(f"sqlite:///{path} cannot be read: {error.strerror}") from error
    if not found.st_size:
        raise missing
