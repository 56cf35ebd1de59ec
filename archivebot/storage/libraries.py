"""The libraries that keep an archive."""

from __future__ import annotations

import sqlite3


def sqlite_version() -> str:
    """Return the version of the SQLite library that reads and writes archives."""
    return sqlite3.sqlite_version
