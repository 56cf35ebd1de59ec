"""The schema of the SQLite archive, and transactions."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from archivebot.exceptions import StorageError
from archivebot.storage import schema
from archivebot.storage.migration import transaction
from archivebot.storage.schema import APPLICATION_ID, PAGE_SIZE, STEPS, migrate


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "archive.db"


@pytest.fixture
def database(path: Path) -> Iterator[sqlite3.Connection]:
    with closing(connect(path)) as database:
        yield database


def connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=10, isolation_level=None)


def value(database: sqlite3.Connection, sql: str) -> object:
    return database.execute(sql).fetchone()[0]


def tables(database: sqlite3.Connection) -> set[str]:
    return {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_an_empty_file_gets_all_tables(database: sqlite3.Connection) -> None:
    migrate(database, "uri")
    assert tables(database) == {"page", "version", "frame", "capture", "text", "link"}
    assert value(database, "PRAGMA application_id") == APPLICATION_ID
    assert value(database, "PRAGMA user_version") == len(STEPS)
    assert value(database, "PRAGMA page_size") == PAGE_SIZE
    assert value(database, "PRAGMA journal_mode") == "wal"


def test_migrating_again_changes_nothing(database: sqlite3.Connection, path: Path) -> None:
    migrate(database, "uri")
    before = list(database.iterdump())
    migrate(database, "uri")
    assert list(database.iterdump()) == before


def test_an_archive_of_an_older_schema_gets_the_steps_it_lacks(
    database: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(database, "uri")
    database.execute("INSERT INTO page VALUES (1, 'u', 'k', 0, 0, x'')")
    later = [*STEPS, lambda db: db.execute("ALTER TABLE page ADD COLUMN more TEXT")]
    monkeypatch.setattr(schema, "STEPS", later)
    migrate(database, "uri")
    assert value(database, "PRAGMA user_version") == len(later)
    assert database.execute("SELECT url, more FROM page").fetchall() == [("u", None)]


def test_a_step_that_fails_leaves_the_schema_before_it(
    database: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE half (id)")
        db.execute("no SQL")

    monkeypatch.setattr(schema, "STEPS", [*STEPS, broken])
    with pytest.raises(sqlite3.OperationalError, match="syntax error"):
        migrate(database, "uri")
    assert "half" not in tables(database)
    assert value(database, "PRAGMA user_version") == len(STEPS)


@pytest.mark.parametrize("sql", ["CREATE TABLE theirs (id)", "PRAGMA application_id = 77"])
def test_a_database_of_another_program_is_refused(database: sqlite3.Connection, sql: str) -> None:
    database.execute(sql)
    with pytest.raises(StorageError, match=r"^uri is a SQLite database of another program"):
        migrate(database, "uri")
    assert value(database, "PRAGMA journal_mode") == "delete"


def test_a_newer_schema_is_refused(database: sqlite3.Connection) -> None:
    migrate(database, "uri")
    database.execute(f"PRAGMA user_version = {len(STEPS) + 1}")
    with pytest.raises(StorageError, match=r"^uri was written by a newer archivebot"):
        migrate(database, "uri")


def test_a_step_that_another_process_made_meanwhile_is_not_made_again(
    database: sqlite3.Connection, path: Path
) -> None:
    errors: list[Exception] = []

    def second() -> None:
        with closing(connect(path)) as other:
            try:
                migrate(other, "uri")
            except Exception as error:
                errors.append(error)

    database.execute("PRAGMA journal_mode = WAL")
    thread = threading.Thread(target=second)
    with transaction(database):
        thread.start()
        time.sleep(0.3)
        STEPS[0](database)
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute("PRAGMA user_version = 1")
    thread.join()
    assert errors == []


def test_a_transaction_is_kept_whole(database: sqlite3.Connection) -> None:
    with transaction(database):
        database.execute("CREATE TABLE t (id)")
        database.execute("INSERT INTO t VALUES (1)")
    assert value(database, "SELECT count(*) FROM t") == 1


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_transaction_that_fails_keeps_nothing(
    database: sqlite3.Connection, error: type[BaseException]
) -> None:
    def fail() -> None:
        with transaction(database):
            database.execute("CREATE TABLE t (id)")
            raise error

    with pytest.raises(error):
        fail()
    assert tables(database) == set()
    assert not database.in_transaction


def test_a_transaction_that_the_database_ended_itself_hides_no_error(database: sqlite3.Connection) -> None:
    database.execute("CREATE TABLE t (id UNIQUE ON CONFLICT ROLLBACK)")
    database.execute("INSERT INTO t VALUES (1)")
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"), transaction(database):
        database.execute("INSERT INTO t VALUES (1)")


def test_a_commit_that_is_refused_leaves_no_transaction_open(database: sqlite3.Connection) -> None:
    database.execute("PRAGMA foreign_keys = ON")
    database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
    database.execute("CREATE TABLE u (t REFERENCES t DEFERRABLE INITIALLY DEFERRED)")
    with pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"), transaction(database):
        database.execute("INSERT INTO u VALUES (1)")
    assert not database.in_transaction
