"""The schema of the SQLite archive."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import StorageError
from archivebot.storage.sqlite.schema import PAGE_SIZE, STEPS, migrate
from tests.factories import URL, html, make_page


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


def test_nothing_is_written_to_an_archive_that_a_newer_archivebot_has_upgraded_meanwhile(
    tmp_path: Path,
) -> None:
    path = tmp_path / "archive.db"
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{path}")) as archive:
        archive.add(archive.segment(make_page(html("one"), 0)))
        with closing(sqlite3.connect(path)) as newer:
            newer.execute(f"PRAGMA user_version = {len(STEPS) + 1}")
        with pytest.raises(StorageError, match=r"was written by a newer archivebot \(schema \d+\); upgrade"):
            archive.add(archive.segment(make_page(html("two"), 1)))
        with closing(sqlite3.connect(path)) as older:
            older.execute(f"PRAGMA user_version = {len(STEPS)}")
        archive.add(archive.segment(make_page(html("three"), 2)))
        assert len(list(archive.captures(URL))) == 2
