"""The schema of the SQLite archive."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from archivebot.storage.sqlite.schema import PAGE_SIZE, migrate


def test_an_empty_file_gets_all_tables(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "archive.db", isolation_level=None)) as database:
        migrate(database, "uri")
        found = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        assert {name for (name,) in found} == {
            *("page", "page_key", "version", "frame", "capture", "shape"),
            *("text", "text_key", "link"),
            *("fingerprint", "fingerprint_key", "duplicate", "template"),
            *("form", "form_page", "archive"),
            *("payload", "waiting", "reference", "dictionary", "log", "subtree"),
            "attachment",
        }
        assert database.execute("PRAGMA page_size").fetchone() == (PAGE_SIZE,)
