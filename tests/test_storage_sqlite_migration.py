"""Steps from schema to schema, taken once and wholly or not at all, and transactions."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from archivebot.exceptions import StorageError
from archivebot.storage.sqlite.migration import Step, transaction, upgrade

APPLICATION_ID = 0x74657374
PAGE_SIZE = 1024


def first(database: sqlite3.Connection) -> None:
    database.execute("CREATE TABLE page (url)")


def second(database: sqlite3.Connection) -> None:
    database.execute("ALTER TABLE page ADD COLUMN more")


def broken(database: sqlite3.Connection) -> None:
    database.execute("CREATE TABLE half (id)")
    database.execute("no SQL")


def migrate(database: sqlite3.Connection, *steps: Step) -> None:
    upgrade(database, "uri", APPLICATION_ID, steps, "give another", PAGE_SIZE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "file.db"


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


def test_an_empty_file_takes_all_steps(database: sqlite3.Connection) -> None:
    migrate(database, first, second)
    assert tables(database) == {"page"}
    assert value(database, "PRAGMA application_id") == APPLICATION_ID
    assert value(database, "PRAGMA user_version") == 2
    assert value(database, "PRAGMA page_size") == PAGE_SIZE
    assert value(database, "PRAGMA journal_mode") == "wal"


def test_migrating_again_changes_nothing(database: sqlite3.Connection) -> None:
    migrate(database, first, second)
    before = list(database.iterdump())
    migrate(database, first, second)
    assert list(database.iterdump()) == before


def test_a_file_of_an_older_schema_takes_the_steps_it_lacks(database: sqlite3.Connection) -> None:
    migrate(database, first)
    database.execute("INSERT INTO page VALUES ('u')")
    migrate(database, first, second)
    assert value(database, "PRAGMA user_version") == 2
    assert database.execute("SELECT url, more FROM page").fetchall() == [("u", None)]


def test_a_step_that_fails_leaves_the_schema_before_it(database: sqlite3.Connection) -> None:
    with pytest.raises(sqlite3.OperationalError, match="syntax error"):
        migrate(database, first, broken)
    assert tables(database) == {"page"}
    assert value(database, "PRAGMA user_version") == 1


@pytest.mark.parametrize("sql", ["CREATE TABLE theirs (id)", "PRAGMA application_id = 77"])
def test_a_database_of_another_program_is_refused(database: sqlite3.Connection, sql: str) -> None:
    database.execute(sql)
    with pytest.raises(StorageError, match=r"^uri is a SQLite database of another program; give another$"):
        migrate(database, first)
    assert value(database, "PRAGMA journal_mode") == "delete"


def test_a_newer_schema_is_refused(database: sqlite3.Connection) -> None:
    migrate(database, first, second)
    with pytest.raises(StorageError, match=r"^uri was written by a newer archivebot \(schema 2\); upgrade"):
        migrate(database, first)


def test_a_step_that_another_process_made_meanwhile_is_not_made_again(
    database: sqlite3.Connection, path: Path
) -> None:
    errors: list[Exception] = []

    def other() -> None:
        with closing(connect(path)) as database:
            try:
                migrate(database, first)
            except Exception as error:
                errors.append(error)

    database.execute("PRAGMA journal_mode = WAL")
    thread = threading.Thread(target=other)
    with transaction(database):
        thread.start()
        time.sleep(0.3)
        first(database)
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
