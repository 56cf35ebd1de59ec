"""The SQLite frontier: the contract, and what only a file can do."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from archivebot.exceptions import StorageError
from archivebot.frontier import file as frontier_file
from archivebot.frontier.base import Counts, Frontier, State
from archivebot.frontier.rows import STATES
from archivebot.frontier.schema import APPLICATION_ID, STEPS
from archivebot.frontier.sqlite import SQLiteFrontier
from archivebot.storage.sqlite.store import SQLiteStore
from tests.contracts.frontier import FrontierContract
from tests.contracts.frontier_workers import entry, url_of
from tests.test_storage_sqlite_store import change, pragma

COUNTED = (
    ", ".join(f"coalesce(sum(state = {number}), 0) AS {state}" for number, state in enumerate(STATES))
    + ", coalesce(sum(state = 2 AND entry.answered), 0) AS answered"
)
KEPT = "queued, leased, done, failed, rejected, answered"


class TestSQLiteFrontier(FrontierContract):
    @pytest.fixture
    def uri(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/archive.frontier.db"

    def make(self, uri: str, crawl: str, patience: float, clock: Callable[[], float]) -> Frontier:
        return SQLiteFrontier(uri.removeprefix("sqlite:///"), crawl, patience, clock)

    def check(self, uri: str) -> None:
        with closing(sqlite3.connect(uri.removeprefix("sqlite:///"))) as database:
            for kept, counted in (
                (
                    f"SELECT id, {KEPT} FROM host",
                    f"SELECT host.id, {COUNTED} FROM host LEFT JOIN entry ON host = host.id GROUP BY host.id",
                ),
                (
                    f"SELECT id, {KEPT} FROM crawl",
                    f"SELECT crawl.id, {COUNTED} FROM crawl LEFT JOIN host ON crawl = crawl.id"
                    " LEFT JOIN entry ON host = host.id GROUP BY crawl.id",
                ),
                (
                    "SELECT id, best, first, standing FROM host",
                    "SELECT id, (SELECT max(score) FROM entry WHERE host = host.id AND state = 0),"
                    " (SELECT id FROM entry WHERE host = host.id AND state = 0 ORDER BY score DESC, id"
                    " LIMIT 1),"
                    " 2 * (queued > 0 AND leased < concurrency) FROM host",
                ),
                ("SELECT count(*) FROM entry WHERE owner IS NOT NULL", "SELECT sum(leased) FROM crawl"),
                ("PRAGMA integrity_check", "SELECT 'ok'"),
            ):
                assert sorted(database.execute(kept)) == sorted(database.execute(counted)), kept


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "archive.frontier.db"


@pytest.fixture
def frontier(path: Path) -> Iterator[SQLiteFrontier]:
    frontier = SQLiteFrontier(str(path), "crawl")
    frontier.begin("", None)
    yield frontier
    frontier.close()


def test_the_file_is_in_wal_mode_and_says_whose_it_is(frontier: SQLiteFrontier, path: Path) -> None:
    assert pragma(path, "journal_mode") == "wal"
    assert pragma(path, "application_id") == APPLICATION_ID
    assert pragma(path, "user_version") == len(STEPS)


def test_closing_leaves_one_file(path: Path) -> None:
    frontier = SQLiteFrontier(str(path), "crawl")
    frontier.begin("", None)
    frontier.close()
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_an_archive_is_no_frontier(tmp_path: Path) -> None:
    SQLiteStore(f"{tmp_path}/archive.db").close()
    with pytest.raises(StorageError, match="SQLite database of another program; move it away"):
        SQLiteFrontier(f"{tmp_path}/archive.db", "crawl")


def test_a_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    change(path, "CREATE TABLE theirs (id)")
    before = path.read_bytes()
    with pytest.raises(StorageError, match="of another program"):
        SQLiteFrontier(str(path), "crawl")
    assert path.read_bytes() == before


def test_a_newer_frontier_is_refused(frontier: SQLiteFrontier, path: Path) -> None:
    change(path, f"PRAGMA user_version = {len(STEPS) + 1}")
    with pytest.raises(StorageError, match=rf"schema {len(STEPS) + 1}\); upgrade archivebot"):
        SQLiteFrontier(str(path), "crawl")


def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    path.write_bytes(b"<html>no database</html>" * 400)
    with pytest.raises(StorageError, match="damaged or no frontier; move it away"):
        SQLiteFrontier(str(path), "crawl")


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"missing/f\.db.*does the folder exist"):
        SQLiteFrontier(f"{tmp_path}/missing/f.db", "crawl")


def test_a_writer_waits_only_so_long_for_another(
    frontier: SQLiteFrontier, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frontier_file, "BUSY_TIMEOUT", 0.1)
    hasty = SQLiteFrontier(str(path), "crawl")
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="another process is writing; try again"):
            hasty.add([entry("A")])
        assert hasty.counts() == Counts()
    assert hasty.add([entry("A")]) == 1
    hasty.close()


def test_a_batch_that_fails_leaves_nothing_behind(frontier: SQLiteFrontier) -> None:
    with pytest.raises(StorageError, match=r"NOT NULL constraint failed: entry\.score"):
        frontier.add([entry("A"), entry("B", float("nan"))])
    assert frontier.counts() == Counts()
    assert frontier.add([entry("A")]) == 1


def test_processes_that_open_a_new_file_at_once_make_it_once(path: Path) -> None:
    errors: list[Exception] = []

    def open_one() -> None:
        try:
            SQLiteFrontier(str(path), "crawl").close()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=open_one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_text_of_the_next_urls_is_read_while_they_are_leased(frontier: SQLiteFrontier) -> None:
    frontier.pace("example.com", 9, 0)
    frontier.add([entry(name) for name in "ABC"])
    records = frontier.records(State.QUEUED)
    first = next(records)
    frontier.lease()
    frontier.settle(url_of("A"), State.DONE)
    assert [first.entry.url, *(record.entry.url for record in records)] == [url_of(name) for name in "ABC"]


def test_calls_made_together_count_together_or_not_at_all(tmp_path: Path) -> None:
    with closing(SQLiteFrontier(str(tmp_path / "f.db"), "one")) as frontier:
        frontier.begin("{}", None)
        with suppress(ZeroDivisionError), frontier.together():
            frontier.add([entry("a", 1)])
            assert frontier.lease() is not None
            raise ZeroDivisionError
        assert frontier.counts() == Counts()
        assert frontier.add([entry("a", 1)]) == 1


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_is_deleted_or_replaced_takes_no_more(
    frontier: SQLiteFrontier, path: Path, replaced: bool
) -> None:
    frontier.add([entry("A")])
    path.rename(path.with_suffix(".away"))
    if replaced:
        SQLiteFrontier(str(path), "crawl").close()
    with pytest.raises(StorageError, match="was deleted, moved or replaced while it was written to: put it"):
        frontier.add([entry("B")])
    if not replaced:
        path.with_suffix(".away").rename(path)
        assert frontier.add([entry("B")]) == 1
