"""The SQLite store: the contract, and what only a file can do."""

from __future__ import annotations

import hashlib
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import pytest

from archivebot.exceptions import CorruptObject, StorageError
from archivebot.models import Duplicate, Fingerprint, FoundForm, Kind, Link, Outcome, Payload
from archivebot.storage.attachments import Packed
from archivebot.storage.base import LearnedTemplate, PageHead
from archivebot.storage.checksum import checksum
from archivebot.storage.frames import encode
from archivebot.storage.sqlite.file import JOURNAL_LIMIT
from archivebot.storage.sqlite.reader import SQLiteReader
from archivebot.storage.sqlite.schema import APPLICATION_ID, PAGE_SIZE, STEPS
from archivebot.storage.sqlite.store import SQLiteStore
from archivebot.storage.sqlite.sums import SUMMED, enable
from archivebot.storage.sqlite.visits import Visit, runs
from archivebot.storage.times import milliseconds
from archivebot.urls import urlkey
from archivebot.wire import Attachment
from tests.contracts.store import URL, StoreContract, at, digest_of, put, version_of, visit, wire_of


class TestSQLiteStore(StoreContract):
    @pytest.fixture
    def uri(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/archive.db"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "archive.db"


@pytest.fixture
def store(path: Path) -> Iterator[SQLiteStore]:
    store = SQLiteStore(str(path))
    yield store
    store.close()


def pragma(path: Path, name: str) -> object:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(f"PRAGMA {name}").fetchone()[0]


def change(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute(sql)


def test_the_file_is_in_wal_mode_and_says_whose_it_is(store: SQLiteStore, path: Path) -> None:
    assert pragma(path, "journal_mode") == "wal"
    assert pragma(path, "application_id") == APPLICATION_ID
    assert pragma(path, "user_version") == len(STEPS)


def test_readers_go_on_while_a_writer_writes(store: SQLiteStore, path: Path) -> None:
    put(store, b"body", 0)
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        assert len(store.versions(URL)) == 1


@pytest.mark.parametrize("event", ["an error", "a reader"])
def test_a_writer_keeps_its_log_when_another_process_closes_the_file(
    store: SQLiteStore, path: Path, event: str
) -> None:
    if event == "an error":
        with pytest.raises(CorruptObject), store.reading():
            store.database.execute("SELECT * FROM nowhere")
    else:
        SQLiteReader(str(path)).close()
    program = f"import sqlite3; file = sqlite3.connect({str(path)!r}); file.execute('ANALYZE'); file.close()"
    subprocess.run([sys.executable, "-c", program], check=True)
    put(store, b"body", 0)
    with closing(SQLiteReader(str(path))) as reader:
        assert len(reader.versions(URL)) == 1


def test_payloads_are_found_without_the_lock_of_a_writer(
    path: Path, store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    version, waits = put(store, b"body", 0), (URL, at(1), Payload("cd" * 16))
    store.revisits.remember("ab" * 16, URL, version.digest, again=False)
    store.revisits.wait(waits)
    monkeypatch.setattr("archivebot.storage.sqlite.file.BUSY_TIMEOUT", 0.1)
    with (
        closing(SQLiteStore(str(path))) as hasty,
        closing(SQLiteReader(str(path))) as reader,
        closing(sqlite3.connect(path, isolation_level=None)) as writer,
    ):
        writer.execute("BEGIN IMMEDIATE")
        for each in (hasty, reader):
            assert each.revisits.payload("ab" * 16) == (URL, version.digest)
            assert each.revisits.waiting("cd" * 16, URL, at(9)) == [waits]


def test_a_payload_is_written_once_and_again_if_its_row_is_damaged(store: SQLiteStore, path: Path) -> None:
    version = put(store, b"body", 0)
    store.revisits.remember("ab" * 16, URL, version.digest, again=True)
    store.sync()
    store.revisits.remember("ab" * 16, URL, version.digest, again=True)
    assert store.is_durable
    change(path, "UPDATE payload SET sum = 0")
    store.revisits.remember("ab" * 16, URL, version.digest, again=True)
    assert store.revisits.payload("ab" * 16) == (URL, version.digest)


def test_a_writer_waits_only_so_long_for_another(
    path: Path, store: SQLiteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("archivebot.storage.sqlite.file.BUSY_TIMEOUT", 0.1)
    hasty = SQLiteStore(str(path))
    with closing(sqlite3.connect(path, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        with pytest.raises(StorageError, match="another process is writing"):
            hasty.add(visit(0), PageHead(), None)
    assert hasty.add(visit(0), PageHead(), None)
    hasty.close()


def test_closing_leaves_one_file(path: Path) -> None:
    store = SQLiteStore(str(path))
    put(store, b"body", 0)
    store.close()
    assert [file.name for file in path.parent.iterdir()] == ["archive.db"]


@pytest.mark.long
def test_the_log_is_cut_back(store: SQLiteStore, path: Path) -> None:
    put(store, b"body", 0, frame=bytes(2 * JOURNAL_LIMIT))
    put(store, b"next", 1)
    put(store, b"last", 2)
    assert path.with_name("archive.db-wal").stat().st_size <= JOURNAL_LIMIT


def test_an_empty_file_becomes_an_archive(path: Path) -> None:
    path.touch()
    store = SQLiteStore(str(path))
    assert put(store, b"body", 0).number == 1
    store.close()


def test_a_database_of_another_program_is_refused_and_left_alone(path: Path) -> None:
    change(path, "CREATE TABLE theirs (id)")
    before = path.read_bytes()
    with pytest.raises(StorageError, match=r"another program; give another ARCHIVE_URI"):
        SQLiteStore(str(path))
    assert path.read_bytes() == before


def test_a_newer_archive_is_refused(path: Path) -> None:
    SQLiteStore(str(path)).close()
    change(path, f"PRAGMA user_version = {len(STEPS) + 1}")
    with pytest.raises(StorageError, match=rf"schema {len(STEPS) + 1}\); upgrade archivebot"):
        SQLiteStore(str(path))


def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    path.write_bytes(b"<html>no database</html>" * 400)
    with pytest.raises(StorageError, match="damaged or no archive"):
        SQLiteStore(str(path))


def test_a_damaged_file_is_a_storage_error(path: Path) -> None:
    store = SQLiteStore(str(path))
    for minute in range(80):
        put(store, b"body %d" % minute, minute, frame=os.urandom(5000))
    store.close()
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 4)
        file.write(b"\xff" * (size // 2))
    store = SQLiteStore(str(path))
    with pytest.raises(CorruptObject, match="the file is damaged"):
        list(store.captures(URL))
    store.close()


def test_a_check_names_what_is_damaged(store: SQLiteStore, path: Path) -> None:
    put(store, b"body", 0)
    change(path, "DELETE FROM version")
    assert store.check() == [f"the capture of {URL} at 1767312000000 points at no version"]


def test_a_check_names_broken_pages(path: Path) -> None:
    store = SQLiteStore(str(path))
    put(store, b"body", 0)
    store.close()
    change(path, "PRAGMA writable_schema = ON")
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA writable_schema = ON")
        database.execute(
            "UPDATE sqlite_master SET sql = replace(sql, '(page)', '(number)') WHERE name = 'version_page'"
        )
    store = SQLiteStore(str(path))
    assert any("version_page" in line for line in store.check())
    store.close()


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"missing/archive\.db.*does the folder exist"):
        SQLiteStore(str(tmp_path / "missing" / "archive.db"))


@pytest.fixture
def readonly() -> Iterator[Path]:
    """A folder in which this process may read and not write, also where it is root."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        SQLiteStore(f"{folder}/archive.db").close()
        folder.chmod(0o555)
        (folder / "archive.db").chmod(0o444)
        root = os.geteuid() == 0
        if root:
            os.seteuid(65534)
        yield folder
        if root:
            os.seteuid(0)
        folder.chmod(0o755)


def test_a_folder_without_the_right_to_write_is_a_storage_error(readonly: Path) -> None:
    with pytest.raises(StorageError, match="may you write to it"):
        SQLiteStore(str(readonly / "new.db"))


def test_a_file_without_the_right_to_write_is_a_storage_error(readonly: Path) -> None:
    with pytest.raises(StorageError, match="may you write to it"):
        SQLiteStore(str(readonly / "archive.db"))


def test_a_full_disk_stores_nothing_of_the_visit_and_hides_no_error(store: SQLiteStore) -> None:
    put(store, b"body", 0)
    store.database.execute("PRAGMA max_page_count = 60")
    head = store.head(URL)
    large = version_of(b"large", head, frame=os.urandom(1_000_000))
    with pytest.raises(StorageError, match="full"):
        store.add(visit(1, large.record), head, large)
    assert len(store.versions(URL)) == 1
    assert len(list(store.captures(URL))) == 1
    assert put(store, b"small", 2).number == 2


def make_older(path: Path, schema: int = 1) -> None:
    """Make an archive of an older schema, with one page, one version and one capture."""
    frame = encode(b"body", None, 3)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        enable(database)
        for step in STEPS[:schema]:
            step(database)
        page = {"url": URL, "urlkey": urlkey(URL), "versions": 1, "lineages": 1, "sketch": b""}
        version = {
            "page": 1,
            "number": 1,
            "digest": hashlib.sha256(b"body").digest(),
            "length": 4,
            "charset": "utf-8",
            **dict.fromkeys(("level", "segmenter", "layout", "blocks", "new_blocks", "new_bytes"), 1),
            "cost": 4,
            "base": None,
            "frame_sum": checksum(frame),
        }
        capture = {
            "page": 1,
            "time": milliseconds(at(0)),
            "version": 1,
            "shape": 1,
            "place": 12,
            "outcome": "fetched",
            "kind": "new",
            **dict.fromkeys(("status", "stored_bytes", "new_blocks", "links"), 1),
            "reason": None,
            "location": None,
            "origin": "a.warc:12",
            **dict.fromkeys(("headers", "quality", "reference", "wire")),
        }
        visit = Visit(capture["time"], 1, 13, version=1, stored_bytes=1, new_blocks=1, links=1)
        capture["visits"] = next(runs([visit], lambda shape: b"")).data
        shape = {**capture, "origin": "a.warc:"}
        rows = {"page": page, "page_key": {"key": urlkey(URL), "page": 1}, "version": version}
        for table, columns in (rows | {"shape": shape, "capture": capture}).items():
            known = {row[1] for row in database.execute(f"PRAGMA table_info({table})")}
            row = {name: value for name, value in columns.items() if name in known}
            if "sum" in known:
                row["sum"] = checksum(*row.values())
            names, values = ", ".join(row), ", ".join("?" * len(row))
            if known:
                database.execute(f"INSERT INTO {table} ({names}) VALUES ({values})", tuple(row.values()))
        database.execute("INSERT INTO frame VALUES (1, ?)", (frame,))
        database.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        database.execute(f"PRAGMA user_version = {schema}")


@pytest.fixture
def older(path: Path) -> Path:
    make_older(path)
    assert pragma(path, "user_version") == 1
    return path


def test_an_archive_of_schema_1_keeps_what_it_has_and_takes_links(older: Path) -> None:
    store = SQLiteStore(str(older))
    store.links.add(URL, [Link("http://example.org/")], at(1))
    assert pragma(older, "user_version") == len(STEPS)
    assert [version.digest for version in store.versions(URL)] == [digest_of(b"body")]
    assert len(list(store.links.all())) == 1
    assert store.check() == []
    store.close()


def test_an_archive_of_schema_2_keeps_what_it_has_and_takes_fingerprints(path: Path) -> None:
    make_older(path, schema=2)
    store = SQLiteStore(str(path))
    assert [*store.fingerprints.near([1]), *store.fingerprints.all(), *store.fingerprints.marks()] == []
    assert [capture.duplicate for capture in store.captures(URL)] == [None]
    head = store.head(URL)
    fingerprint = Fingerprint(digest=1, simhash=None, keys=(1,), words=3)
    new = replace(version_of(b"next", head), fingerprint=fingerprint)
    assert store.add(visit(1, new.record), head, new)
    assert list(store.fingerprints.near([1])) == [(URL, 2, fingerprint)]
    assert store.check() == []
    store.close()


def test_an_empty_archive_takes_little_room(store: SQLiteStore, path: Path) -> None:
    store.close()
    assert path.stat().st_size <= 40 * PAGE_SIZE


def test_links_of_a_capture_that_fails_are_not_stored(store: SQLiteStore) -> None:
    with suppress(ZeroDivisionError), store.together():
        store.links.add(URL, [Link("http://example.org/")], at(0))
        raise ZeroDivisionError
    assert list(store.links.all()) == []


def test_links_of_a_capture_that_fails_leave_no_number_behind(store: SQLiteStore) -> None:
    store.links.add(URL, [Link("http://example.org/first")], at(0))
    with suppress(ZeroDivisionError), store.together():
        store.links.add(URL, [Link("http://example.org/lost")], at(1))
        raise ZeroDivisionError
    for minute, target in enumerate(("other", "lost", "first"), 2):
        store.links.add(URL, [Link(f"http://example.org/{target}")], at(minute))
    assert {edge.target.rpartition("/")[2]: edge.last for edge in store.links.of(URL)} == {
        "first": at(4),
        "other": at(2),
        "lost": at(3),
    }
    assert store.check() == []


def test_a_nul_in_an_anchor_does_no_harm(store: SQLiteStore) -> None:
    store.links.add(URL, [Link("http://example.org/", "a\0b"), Link("http://example.org/a", "a")], at(0))
    assert sorted(edge.anchor for edge in store.links.all()) == ["a", "a\ufffdb"]


def test_links_that_did_not_fit_on_the_disk_leave_no_number_behind(store: SQLiteStore) -> None:
    count = store.database.execute("PRAGMA page_count").fetchone()[0]
    store.database.execute(f"PRAGMA max_page_count = {count + 4}")
    many = [Link(f"http://example.com/{number}", f"page {number}") for number in range(2000)]
    with pytest.raises(StorageError, match="full"):
        store.links.add(URL, many, at(0))
    assert list(store.links.all()) == []
    store.database.execute("PRAGMA max_page_count = 100000")
    store.links.add(URL, many, at(1))
    assert {(edge.target, edge.anchor) for edge in store.links.all()} == {
        (link.url, link.anchor) for link in many
    }


def test_a_page_takes_little_room_for_the_links_that_it_shares_with_others(
    store: SQLiteStore, path: Path, tmp_path: Path
) -> None:
    SQLiteStore(str(tmp_path / "empty.db")).close()
    empty = (tmp_path / "empty.db").stat().st_size
    navigation = [
        Link(f"http://example.com/section/{n}/", f"Section {n}", role="navigation") for n in range(29)
    ]
    pages = [f"http://example.com/article/{number}.html" for number in range(400)]
    for page, following in pairwise(pages):
        store.links.add(page, [*navigation, Link(following, f"Article {following}")], at(0))
    store.close()
    assert path.stat().st_size - empty < 600 * len(pages)


NOBODY = 65534


def as_nobody(path: Path, read: Callable[[str], int]) -> int:
    """Let a process read an archive that lies where it may not write; give its exit code."""
    path.chmod(0o444)
    path.parent.chmod(0o555)
    child = os.fork()
    if child == 0:  # as a user who may not write there; root may write anywhere
        if os.getuid() == 0:
            os.setuid(NOBODY)
        os._exit(read(str(path)))
    _, status = os.waitpid(child, 0)
    path.parent.chmod(0o755)
    return os.waitstatus_to_exitcode(status)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A path for an archive that other users may read."""
    with tempfile.TemporaryDirectory(prefix="archive-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder) / "a.db"


def test_an_archive_in_a_place_that_cannot_be_written_is_read_and_refused_to_writers(shared: Path) -> None:
    def read(path: str) -> int:
        try:
            SQLiteStore(path)
        except StorageError:
            store = SQLiteStore(path, writable=False)
            whole = (
                store.totals()[""].captures == len(list(store.version_ids())) == len(list(store.links.all()))
            )
            return 0 if whole else 2
        return 3

    store = SQLiteStore(str(shared))
    put(store, b"body", 0)
    store.links.add(URL, [Link("http://example.org/")], at(0))
    store.close()
    assert as_nobody(shared, read) == 0


@pytest.mark.parametrize("schema", range(1, len(STEPS)))
def test_an_older_archive_that_cannot_be_written_is_read_from_an_upgraded_copy(
    shared: Path, schema: int
) -> None:
    def read(path: str) -> int:
        store = SQLiteStore(path, writable=False)
        links = [*store.links.all(), *store.links.of(URL), *store.links.to(URL)]
        known = [
            *store.fingerprints.near([1]),
            *store.fingerprints.all(),
            *store.fingerprints.marks(),
            *store.fingerprints.marks(URL),
        ]
        whole = store.totals()[""].captures == len(list(store.captures(URL))) == 1
        return 0 if whole and not links and not known and not store.check() else 2

    make_older(shared, schema)
    assert as_nobody(shared, read) == 0


# What is durable, and how far the archive has come


@pytest.mark.parametrize("replaced", [False, True])
def test_an_archive_that_is_deleted_or_replaced_under_way_is_an_error(
    store: SQLiteStore, path: Path, replaced: bool
) -> None:
    put(store, b"body", 0)
    store.sync()
    path.unlink()
    if replaced:
        path.touch()
    store.sync()  # nothing was stored since
    put(store, b"next", 1)
    with pytest.raises(StorageError, match="was deleted, moved or replaced while it was written to"):
        store.sync()
    with pytest.raises(StorageError, match="was deleted"):
        store.close()
    store.close()


@pytest.mark.parametrize("schema", range(1, len(STEPS)))
def test_captures_of_an_older_archive_stay_as_they_are(path: Path, schema: int) -> None:
    make_older(path, schema)
    store = SQLiteStore(str(path))
    (capture,) = store.captures(URL)
    assert (capture.url, capture.urlkey, capture.captured_at) == (URL, urlkey(URL), at(0))
    assert (capture.outcome, capture.kind, capture.status) == (Outcome.FETCHED, Kind.NEW, 1)
    assert (capture.origin, capture.number, capture.links, capture.headers) == ("a.warc:12", 1, 1, ())
    assert not store.add(capture, store.head(URL), 1)
    assert list(store.urls("com,", "com-")) == [(urlkey(URL), URL)]
    store.close()


@pytest.mark.parametrize(
    ("schema", "sql", "told"),
    [
        (8, "UPDATE page SET lineages = 9", URL),
        (8, "UPDATE capture SET status = 201", "the run of captures from 1767312000000 of page 1"),
        (9, "UPDATE capture SET links = 9", "the run of captures from 1767312000000 of page 1"),
        (9, "UPDATE capture SET wire = x'ff'", "the run of captures from 1767312000000 of page 1"),
    ],
)
def test_a_damaged_row_of_an_older_archive_gets_no_checksum(
    path: Path, schema: int, sql: str, told: str
) -> None:
    make_older(path, schema)
    change(path, sql)
    store = SQLiteStore(str(path))
    assert store.check() == [f"{told} does not have its checksum"]
    store.close()


def test_an_archive_of_schema_4_gets_an_identity_and_checksums_of_what_it_has(path: Path) -> None:
    make_older(path, schema=4)
    store = SQLiteStore(str(path))
    assert store.check() == []
    assert len(store.position().archive) == 16
    change(path, "UPDATE frame SET data = x'00'")
    assert store.check() == ["the frame of version 1 does not have its checksum"]
    store.close()


@pytest.mark.parametrize("schema", range(1, len(STEPS)))
def test_a_table_that_gets_its_checksum_later_does_not_hinder_the_step_before(
    path: Path, monkeypatch: pytest.MonkeyPatch, schema: int
) -> None:
    make_older(path, schema)
    before = dict(SUMMED)
    monkeypatch.setitem(SUMMED, "later", ("a", "b"))
    monkeypatch.setitem(SUMMED, "form", (*before["form"], "later"))
    SQLiteStore(str(path)).close()
    monkeypatch.undo()
    store = SQLiteStore(str(path))
    assert store.check() == []
    store.close()


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("UPDATE archive SET identity = '0123456789abcdef'", "a row does not have the checksum"),
        ("DELETE FROM archive", "its identity is lost"),
    ],
)
def test_a_damaged_identity_gets_no_new_checksum(store: SQLiteStore, path: Path, sql: str, told: str) -> None:
    put(store, b"body", 0)
    store.sync()
    change(path, sql)
    damage = store.check()
    assert len(damage) == 1
    put(store, b"next", 1)
    with pytest.raises(CorruptObject, match=rf"{told}.*restore a copy"):
        store.sync()
    assert store.check() == damage
    with pytest.raises(CorruptObject, match=told):
        store.close()


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE form_page SET first = first - 1000",
        "UPDATE form_page SET last = last - 1000",
        "UPDATE form SET data = '[2]'",
    ],
)
def test_a_damaged_form_gets_no_new_checksum(store: SQLiteStore, path: Path, sql: str) -> None:
    seen = "example.com", URL, [FoundForm("ab", "[]")]
    store.forms.add(*seen, at(1))
    change(path, sql)
    damage = store.check()
    assert len(damage) == 1
    with pytest.raises(CorruptObject, match=r"damaged.*restore a copy"):
        store.forms.add(*seen, at(0))
    assert store.check() == damage
    store.forms.add("example.com", f"{URL}other", [FoundForm("cd", "[]")], at(2))


def test_the_checksum_of_a_row_covers_every_column(store: SQLiteStore) -> None:
    for table, covered in SUMMED.items():
        columns = [row[1] for row in store.database.execute(f"PRAGMA table_info({table})")]
        assert [column for column in columns if column not in ("id", "sum")] == list(covered)
        assert "sum" in columns


def test_what_is_written_has_its_checksum(store: SQLiteStore) -> None:
    fingerprint = Fingerprint(digest=1, simhash=1 << 63, keys=(1, 1, -2), words=3)
    duplicate = Duplicate("http://example.org/", 1, 2, 0.93, "shingles")
    for minute, body in enumerate((b"first", b"next")):
        head = store.head(URL)
        new = replace(version_of(body, head), fingerprint=fingerprint, duplicate=duplicate)
        told = visit(minute, new.record, headers=(("A", "b"),), wire=wire_of(minute))
        assert store.add(told, head, new)
        store.links.add(URL, [Link("http://example.org/", f"link {minute}")], at(minute))
        store.forms.add("example.com", URL, [FoundForm("ab", f"[{minute}]")], at(minute))
        store.templates.add(LearnedTemplate("example.com", at(minute), 3, "{}"))
        store.revisits.remember("ab", URL, new.record.digest, again=True)
        store.revisits.wait((URL, at(minute), Payload("cd", "http://example.org/", at(9))))
        store.dictionaries.add("com,example", 3, b"abc")
        store.attachments.add(Packed.of(Attachment(URL, at(minute), b"WARC/1.1\r\n", body), 3))
    store.sync()
    assert store.check() == []
    rows = {table: store.database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in SUMMED}
    assert all(rows.values()), rows


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        (
            "UPDATE capture SET visits = x'00'",
            "the run of captures from 1767312000000 of page 1 does not have",
        ),
        ("UPDATE capture SET page = 2", "the run of captures from 1767312000000 of page 2 does not have its"),
        ("UPDATE shape SET status = 201", "the shape 1 of captures does not have its checksum"),
        ("DELETE FROM shape", f"the capture of {URL} at 1767312000000 has lost its shape"),
        ("DELETE FROM page_key", f"{URL} is not found by its key"),
        ("UPDATE page_key SET key = 'com,example)/a'", "com,example)/a is not the key of its page"),
        ("UPDATE shape SET outcome = 'fetchee'", "the shape 1 of captures does not have its checksum"),
        ("UPDATE reference SET data = x'00'", "the reference 1 of com,example does not have its checksum"),
        ("UPDATE dictionary SET length = 4", "the dictionary 1 of com,example does not have its checksum"),
        ("DELETE FROM frame WHERE version = -1", "the frame of the dictionary 1 of com,example does not"),
        ("DELETE FROM reference", f"the capture of {URL} at 1767312000000 has lost its reference"),
        ("UPDATE version SET charset = 'utf-9'", "version 1 does not have its checksum"),
        ("UPDATE page SET lineages = 9", f"{URL} does not have its checksum"),
        ("UPDATE frame SET data = x'00'", "the frame of version 1 does not have its checksum"),
        ("UPDATE link SET links = x'00'", "the links of page 1 does not have its checksum"),
        ("DELETE FROM fingerprint_key", "the keys by which near-duplicates are found are not those of the"),
        ("UPDATE archive SET position = -1", "the identity of the archive does not have its checksum"),
        ("DELETE FROM archive", "the identity of the archive is lost"),
        ("DROP INDEX version_page", "the definition of the index version_page is not what it was"),
        ("UPDATE text SET data = x'00'", "the pack of texts from 1 does not have its checksum"),
        ("UPDATE attachment SET data = x'00' WHERE url", "an attachment at 1767312000000 of the URL "),
        ("UPDATE attachment SET data = x'00' WHERE url = 0", "a block of attachments does not have its"),
        ("DELETE FROM attachment WHERE url = 0", "an attachment at 1767312000000 has lost its block"),
        ("DELETE FROM text_key", f"the text '{URL}' is not found by its key"),
        ("UPDATE text_key SET number = 9", "the key of the text 9 is not that of its text"),
    ],
)
def test_a_check_finds_what_was_changed(store: SQLiteStore, path: Path, sql: str, told: str) -> None:
    head = store.head(URL)
    fingerprint = Fingerprint(digest=1, simhash=None, keys=(1,), words=3)
    new = replace(version_of(b"body", head), fingerprint=fingerprint)
    store.add(visit(0, new.record, wire=wire_of(0)), head, new)
    store.links.add(URL, [Link("http://example.org/")], at(0))
    store.dictionaries.add("com,example", 3, b"abc")
    store.attachments.add(Packed.of(Attachment(URL, at(0), b"WARC/1.1\r\n", b"block"), 3))
    store.sync()
    assert store.check() == []
    change(path, sql)
    assert any(line.startswith(told) for line in store.check())


def test_a_check_finds_nothing_while_another_writer_stores_pages(store: SQLiteStore, path: Path) -> None:
    with closing(SQLiteStore(str(path))) as other:

        def meanwhile(_: str) -> None:
            """Store a version with a fingerprint before the next statement of the check."""
            head = other.head(URL)
            number = head.versions
            fingerprint = Fingerprint(digest=1, simhash=None, keys=(number,), words=3)
            new = replace(version_of(b"body %d" % number, head), fingerprint=fingerprint)
            other.add(visit(number, new.record), head, new)

        store.database.set_trace_callback(meanwhile)
        assert store.check() == []
        store.database.set_trace_callback(None)
        assert other.head(URL).versions > 9


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE shape SET outcome = 'fetchee'",
        "DELETE FROM shape",
        "UPDATE capture SET visits = x'ff'",
        "UPDATE capture SET visits = CAST(x'ff' AS TEXT)",
        "UPDATE capture SET time = 1 << 62",
        "UPDATE reference SET data = x'00'",
        "DELETE FROM reference",
        "UPDATE version SET charset = 'utf-9'",
        "UPDATE link SET links = x'00'",
        "UPDATE template SET tree = x'00'",
        "UPDATE form SET data = '{'",
        "UPDATE page SET versions = 'one'",
        "UPDATE text SET data = x'00'",
        "DELETE FROM text",
        "DROP TABLE link",
        "UPDATE attachment SET data = x'00' WHERE url",
        "UPDATE attachment SET data = x'00' WHERE url = 0",
        "DELETE FROM attachment WHERE url = 0",
    ],
)
def test_a_damaged_row_is_not_read_as_another_one(store: SQLiteStore, path: Path, sql: str) -> None:
    put(store, b"body", 0)
    store.add(visit(1, wire=wire_of(1)), store.head(URL), None)
    store.links.add(URL, [Link("http://example.org/")], at(0))
    store.templates.add(LearnedTemplate("example.com", at(0), 3, "{}"))
    store.forms.add("example.com", URL, [FoundForm("ab", "[]")], at(0))
    store.attachments.add(Packed.of(Attachment(URL, at(0), b"WARC/1.1\r\n", b"block"), 3))

    def read() -> None:
        list(store.attachments.of(URL))
        list(store.captures(URL)), store.latest(URL), list(store.links.all()), store.head(URL)
        store.templates.latest("example.com"), list(store.forms.all()), store.totals()

    read()
    enabled = sqlite3.connect(path, isolation_level=None)
    with closing(enabled):
        enabled.execute(sql)
    with pytest.raises(CorruptObject, match=r"damaged.*restore a copy"):
        read()


@pytest.mark.parametrize("sql", ["url = CAST(x'68ff' AS TEXT)", "url = x'68'", "versions = 9"])
def test_a_page_that_cannot_be_read_is_named_and_the_others_are_listed(
    store: SQLiteStore, path: Path, sql: str
) -> None:
    urls = [f"{URL}{number}" for number in range(3)]
    for url in urls:
        put(store, b"body", 0, url=url)
    change(path, f"UPDATE page SET {sql} WHERE id = 2")
    for listed in (store.tallies, partial(store.urls, "", "\U0010ffff")):
        errors: list[CorruptObject] = []
        assert len(list(listed(damaged=errors.append))) == 2
        (error,) = errors
        assert "does not have its checksum or its key" in str(error)
    assert [url for _, url in store.urls("", "\U0010ffff", damaged=errors.append)] == urls[::2]


def test_the_error_of_a_full_disk_says_what_to_do(store: SQLiteStore) -> None:
    store.database.execute("PRAGMA max_page_count = 1")  # no more than there are
    with pytest.raises(StorageError, match="disk is full \\(make room on the disk"):
        put(store, random.Random(1).randbytes(99_999), 0)


def test_a_capture_does_not_show_a_damaged_version(store: SQLiteStore, path: Path) -> None:
    put(store, b"body", 0)
    assert [capture.size for capture in store.captures(URL)] == [4]
    change(path, "UPDATE version SET length = length + 1")
    with pytest.raises(CorruptObject, match=r"damaged.*restore a copy"):
        list(store.captures(URL))


def test_a_table_that_cannot_be_read_has_no_error_of_python(store: SQLiteStore, path: Path) -> None:
    store.attachments.add(Packed.of(Attachment(URL, at(0), b"WARC/1.1\r\n", b"block"), 3))
    store.database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    ((page,),) = store.database.execute("SELECT rootpage FROM sqlite_master WHERE name = 'text'")
    with path.open("r+b") as file:
        file.seek((page - 1) * PAGE_SIZE)
        file.write(bytes(PAGE_SIZE))
    with closing(SQLiteReader(str(path))) as reader, pytest.raises(CorruptObject, match="malformed"):
        list(reader.attachments.all())


def test_the_search_for_the_sources_of_links_ends_when_all_are_found(store: SQLiteStore, path: Path) -> None:
    for number in range(3):
        store.links.add(f"{URL}{number}", [Link(f"{URL}{number + 1}")], at(0))
    change(path, "UPDATE link SET sum = sum + 1 WHERE source = (SELECT max(source) FROM link)")
    assert store.links.sources([f"{URL}1", f"{URL}2"]) == {f"{URL}1": f"{URL}0", f"{URL}2": f"{URL}1"}
    with pytest.raises(CorruptObject):
        store.links.sources([f"{URL}3"])


def test_bases_that_form_a_circle_end(store: SQLiteStore, path: Path) -> None:
    first = put(store, b"first", 0)
    put(store, b"next", 1, base=first)
    change(path, "UPDATE version SET base = 2")
    assert len(store.frames(2)) == 1


def test_the_texts_that_the_links_of_pages_share_are_read_once(store: SQLiteStore) -> None:
    pages = [f"http://example.com/{number}" for number in range(20)]
    for page in pages:
        store.links.add(page, [Link(target, "words") for target in pages], at(0))
    asked: list[str] = []
    store.database.set_trace_callback(asked.append)
    for page in pages:
        assert {edge.target for edge in store.links.of(page)} == set(pages)
    assert sum("text_at" in sql for sql in asked) < 80  # of 820
    store.database.set_trace_callback(None)
    with suppress(ZeroDivisionError), store.together():
        store.links.add("http://example.org/a", [Link("http://example.org/b")], at(0))
        assert [edge.target for edge in store.links.of("http://example.org/a")] == ["http://example.org/b"]
        raise ZeroDivisionError
    store.links.add("http://example.org/c", [Link("http://example.org/d")], at(0))
    [edge] = store.links.of("http://example.org/c")
    assert (edge.source, edge.target) == ("http://example.org/c", "http://example.org/d")
