"""Readers of an archive: the contract on both back ends, and what a file that only others may write asks."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pymongo import MongoClient

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import StorageError
from tests.contracts.reader import SITE, ReaderContract, keep
from tests.contracts.store import ROOT
from tests.factories import URL, html, make_page
from tests.permissions import as_nobody, forbid
from tests.servers import mongo_server, mongo_uri

__all__ = ["mongo_server", "mongo_uri"]


class TestSQLiteReader(ReaderContract):
    @pytest.fixture
    def uri(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/archive.db"

    def pretend(self, uri: str, step: int) -> None:
        with closing(sqlite3.connect(uri.removeprefix("sqlite:///"), isolation_level=None)) as database:
            (schema,) = database.execute("PRAGMA user_version").fetchone()
            database.execute(f"PRAGMA user_version = {schema + step}")


class TestMongoReader(ReaderContract):
    @pytest.fixture
    def uri(self, mongo_uri: str) -> str:
        return mongo_uri

    def pretend(self, uri: str, step: int) -> None:
        with MongoClient[dict[str, object]](uri) as client:
            client.get_default_database()["archive"].update_one({}, {"$inc": {"schema": step}})


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that other users may read."""
    with tempfile.TemporaryDirectory(prefix="archive-") as name:
        Path(name).chmod(0o755)
        yield Path(name)
        Path(name).chmod(0o755)


@pytest.fixture
def config(folder: Path) -> ArchiveConfig:
    return ArchiveConfig(uri=f"sqlite:///{folder}/a.db")


@pytest.fixture
def archive(config: ArchiveConfig) -> Iterator[Archive]:
    with Archive.open(config) as archive:
        keep(archive, 0)
        yield archive


def captures(config: ArchiveConfig) -> int:
    with Archive.reader(config) as reader:
        assert len(reader.body(reader.at(URL, None))) > 10
        return len(reader.captures(URL))


def test_it_leaves_the_folder_as_it_was(folder: Path, config: ArchiveConfig, archive: Archive) -> None:
    archive.close()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert captures(config) == 1
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_folder_and_a_file_that_may_not_be_written_are_read(
    folder: Path, config: ArchiveConfig, archive: Archive
) -> None:
    archive.close()
    forbid(folder)
    assert as_nobody(lambda: captures(config) == 1)
    folder.chmod(0o755)
    assert as_nobody(lambda: captures(config) == 1)
    assert [path.name for path in folder.iterdir()] == ["a.db"]


def test_an_archive_that_somebody_else_writes_is_read_where_this_user_may_not_write(
    folder: Path, config: ArchiveConfig, archive: Archive
) -> None:
    forbid(folder)
    assert as_nobody(lambda: captures(config) == 1)
    keep(archive, 1)
    assert as_nobody(lambda: captures(config) == 2)


@pytest.mark.parametrize("closed", [False, True])
def test_a_file_that_nobody_wrote_may_be_written_while_it_is_read(
    folder: Path, config: ArchiveConfig, archive: Archive, closed: bool
) -> None:
    archive.close()
    path = folder / "a.db"
    path.chmod(0o644)
    (ready, told), (go, goes) = os.pipe(), os.pipe()

    def work() -> bool:
        with Archive.reader(config) as reader:
            before = len(reader.captures(URL))
            os.write(told, b".")
            os.read(go, 1)
            return (before, len(reader.captures(URL))) == (1, 2)

    child = os.fork()
    if child == 0:
        os._exit(not as_nobody(work))
    os.read(ready, 1)
    with Archive.open(config) as again:
        keep(again, 1)
        if closed:
            again.close()
        os.write(goes, b".")
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for end in (ready, told, go, goes):
        os.close(end)


def test_what_a_killed_writer_committed_is_read(folder: Path, config: ArchiveConfig) -> None:
    code = (
        "import os, signal; from archivebot import *; from tests.contracts.reader import keep;"
        f"archive = Archive.open(ArchiveConfig(uri={config.uri!r}));"
        "keep(archive, 0); keep(archive, 1); os.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == -signal.SIGKILL
    assert (folder / "a.db-wal").stat().st_size > 0
    forbid(folder)
    assert as_nobody(lambda: captures(config) == 2)
    folder.chmod(0o755)
    assert captures(config) == 2


def test_a_part_that_was_read_holds_no_writer_back(
    folder: Path, config: ArchiveConfig, archive: Archive
) -> None:
    for url in SITE:
        keep(archive, 0, url=url, links=3)
    with Archive.reader(config) as reader:
        reader.captures(URL, None, 1)
        reader.site(URL, None, 2)
        reader.versions(URL, None, 1)
        assert list(reader.links_to("http://example.org/0", "", 1))
        keep(archive, 1)
        with closing(sqlite3.connect(folder / "a.db")) as database:
            (busy, _, _) = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        assert not busy
        assert len(reader.captures(URL)) == 2


def test_an_archive_that_was_deleted_or_replaced_is_not_read_on(
    folder: Path, config: ArchiveConfig, archive: Archive
) -> None:
    archive.close()
    with Archive.reader(config) as reader:
        (folder / "a.db").rename(folder / "b.db")
        with pytest.raises(StorageError, match="was deleted, moved or replaced while it was read"):
            reader.captures(URL)


@pytest.mark.parametrize("text", [b"<html>no database</html>" * 400, b"SQLite format 3\0" + bytes(5000)])
def test_a_file_that_is_no_archive_is_refused(folder: Path, config: ArchiveConfig, text: bytes) -> None:
    (folder / "a.db").write_bytes(text)
    with pytest.raises(StorageError, match="damaged or no archive"):
        Archive.reader(config)


def test_a_database_of_another_program_is_refused(folder: Path, config: ArchiveConfig) -> None:
    with closing(sqlite3.connect(folder / "a.db")) as database:
        database.execute("CREATE TABLE theirs (id)")
    with pytest.raises(StorageError, match="of another program; give another ARCHIVE_URI"):
        Archive.reader(config)


def test_a_file_that_may_not_be_read_is_named_with_the_reason(
    folder: Path, config: ArchiveConfig, archive: Archive
) -> None:
    archive.close()
    (folder / "a.db").chmod(0)

    def work() -> bool:
        with pytest.raises(StorageError, match=r"a\.db cannot be read: Permission denied"):
            Archive.reader(config)
        return True

    assert as_nobody(work)


def test_changes_by_others_are_seen_without_reading(tmp_path: Path) -> None:
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")
    with Archive.open(config) as archive:
        archive.add(archive.segment(make_page(html("first"))))
        with Archive.reader(config) as reader:
            begun = reader.changes()
            assert begun is not None
            assert reader.changes() == begun
            archive.add(archive.segment(make_page(html("second"), 1)))
            assert reader.changes() not in (None, begun)
            (tmp_path / "a.db").rename(tmp_path / "b.db")
            assert reader.changes() is None
            (tmp_path / "b.db").rename(tmp_path / "a.db")
