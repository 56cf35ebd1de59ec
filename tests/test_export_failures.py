"""Exports that cannot go on: full disks, damaged pages, names that are no files."""

from __future__ import annotations

import gzip
import json
import os
import random
import resource
import sqlite3
import subprocess
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import CorruptObject, StorageError, UsageError
from archivebot.export.files import Folder, WarcFiles, written
from archivebot.export.record import NewRecord
from archivebot.jobs.export import export_warc
from archivebot.jobs.exported import Exported, Progress
from archivebot.jobs.packages import export_cdxj, export_wacz
from archivebot.jobs.selection import Selection
from archivebot.storage.mongo.store import MongoStore
from archivebot.versioning.keep import Keep
from archivebot.wire import Attachment
from tests.commands import run_scrapy
from tests.factories import URL, html, make_page
from tests.servers import mongo_server, mongo_uri

__all__ = ["mongo_server", "mongo_uri"]

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@contextmanager
def no_room(beyond: int = 20_000) -> Iterator[None]:
    """Let no file of this process grow beyond so many bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (beyond, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_file_with_a_cut_record_is_never_finished(tmp_path: Path) -> None:
    files = WarcFiles(Folder(tmp_path), NOW, ())
    fields = (("WARC-Record-ID", "<urn:uuid:1>"),)
    record = NewRecord("resource", fields, (random.Random(1).randbytes(15_000),))
    files.write([record])
    with no_room(), pytest.raises(StorageError, match="cannot be written"):
        files.write([record] * 3)
    for go_on in (lambda: files.write([record]), files.finish):  # although there is room again
        with pytest.raises(StorageError, match="cannot be written"):
            go_on()
    assert [path.suffix for path in tmp_path.iterdir()] == [".open"]
    files.abandon()
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_page_whose_bytes_another_page_has_does_not_end_an_export(tmp_path: Path) -> None:
    path, other = tmp_path / "a.db", "http://example.com/zzz"
    body = html("The first paragraph.", "The second.")
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{path}")) as archive:
        for day, url in enumerate((URL, other)):
            archive.add(archive.segment(make_page(body, day, url=url)))
        last = archive.at(other, None)
    with closing(sqlite3.connect(path)) as database, database:
        found = database.execute("SELECT max(id) FROM version").fetchone()
        database.execute("UPDATE frame SET data = zeroblob(20) WHERE version = ?", found)
    with Archive.reader(ArchiveConfig(uri=f"sqlite:///{path}")) as reader:
        with pytest.raises(CorruptObject):
            reader.body(last)
        result = export_wacz(reader, tmp_path / "x.wacz", Selection(), NOW, progress=Progress())
    assert (result.responses, result.revisits, result.damaged) == (1, 1, [])
    assert (tmp_path / "x.wacz").exists()


def test_the_attachments_of_a_capture_whose_bytes_are_damaged_are_exported(tmp_path: Path) -> None:
    path, record = tmp_path / "a.db", b"WARC/1.1\r\nWARC-Type: metadata\r\n\r\n"
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{path}")) as archive:
        capture = archive.add(archive.segment(make_page(html("The text."))))
        archive.attach(Attachment(URL, capture.captured_at, record, b"via: the start page"))
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("UPDATE frame SET data = zeroblob(20)")
    with Archive.reader(ArchiveConfig(uri=f"sqlite:///{path}")) as reader:
        result = export_warc(reader, tmp_path / "out", Selection(), NOW)
    assert (result.responses, result.attached, len(result.damaged)) == (0, 1, 1)
    [file] = (tmp_path / "out").glob("*.warc.gz")
    assert b"via: the start page" in gzip.decompress(file.read_bytes())


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE capture SET visits = x'00' WHERE page = 2",
        "UPDATE page SET lineages = lineages + 1 WHERE id = 2",
        "UPDATE page_key SET key = 'com,example)/z' WHERE page = 2",
    ],
)
@pytest.mark.parametrize("form", ["warc", "wacz", "cdxj", "jsonl"])
def test_captures_that_cannot_be_read_do_not_end_an_export(tmp_path: Path, form: str, damage: str) -> None:
    path, output = tmp_path / "a.db", tmp_path / f"out.{form}"
    urls = [f"{URL}{number}" for number in range(4)]
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{path}")) as archive:
        for url in urls:
            archive.add(archive.segment(make_page(html(f"The text of {url}."), url=url)))
    with closing(sqlite3.connect(path)) as database, database:
        assert database.execute(damage).rowcount == 1
    environment = {**os.environ, "ARCHIVE_URI": f"sqlite:///{path}"}
    done = run_scrapy(["export", form, "--output", str(output), "--json"], environment=environment)
    assert done.returncode == 4, done.stderr
    found = json.loads(done.stdout)
    assert len(found["damaged"]) == 1
    assert done.stderr.startswith("scrapy export: left out: ")
    if form in ("warc", "wacz"):
        again = ArchiveConfig(uri=f"sqlite:///{tmp_path}/b.db")
        environment["ARCHIVE_URI"] = again.uri
        assert run_scrapy(["ingest", str(output)], environment=environment).returncode == 0
        with Archive.reader(again) as archive:
            assert [url for _, url in archive.pages()] == [url for url in urls if url != urls[1]]
    else:
        text = output.read_text()
        assert [url in text for url in urls] == [True, False, True, True]


def _nine_days(path: Path) -> list[bytes]:
    """Make an archive of a page at nine days, each capture with a row of its own, and return the bodies."""
    bodies = [html(f"The text of day {day}.", random.Random(day).randbytes(99).hex()) for day in range(9)]
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{path}")) as archive:
        for day, body in enumerate(bodies):
            headers = (("Content-Type", "text/html"), ("X-Odd", random.Random(day).randbytes(150).hex()))
            archive.add(archive.segment(make_page(body, day, headers=headers)))
    return bodies


def test_the_captures_before_and_after_a_damaged_one_are_exported(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    bodies = _nine_days(path)
    with closing(sqlite3.connect(path)) as database, database:
        runs = database.execute("SELECT time FROM capture ORDER BY time").fetchall()
        assert len(runs) == len(bodies)
        database.execute("UPDATE capture SET visits = x'00' WHERE time = ?", runs[4])
    with Archive.reader(ArchiveConfig(uri=f"sqlite:///{path}")) as reader:
        result = export_warc(reader, tmp_path / "out", Selection(), NOW)
        assert (result.responses, len(result.damaged)) == (8, 1)
        assert result.damaged[0].startswith(f"captures of {URL} cannot be read: sqlite:///")
        found = list(Selection().captures(reader, lambda error: None))
        assert [reader.body(each) for each in found] == bodies[:4] + bodies[5:]
        with pytest.raises(CorruptObject):
            list(Selection().captures(reader))


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE capture SET visits = x'00' WHERE time IN (SELECT time FROM capture ORDER BY time LIMIT 6, 1)"
        " OR time IN (SELECT time FROM capture ORDER BY time LIMIT 2, 1)",
        "UPDATE version SET length = length + 1 WHERE number IN (3, 7)",
    ],
)
def test_the_captures_between_two_damaged_ones_are_exported(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "a.db"
    bodies = _nine_days(path)
    with closing(sqlite3.connect(path)) as database, database:
        assert database.execute(damage).rowcount == 2
    with Archive.reader(ArchiveConfig(uri=f"sqlite:///{path}")) as reader:
        result = export_warc(reader, tmp_path / "out", Selection(), NOW)
        assert (result.responses, len(result.damaged)) == (7, 1)
        found = list(Selection().captures(reader, lambda error: None))
        assert [reader.body(each) for each in found] == [*bodies[:2], *bodies[3:6], *bodies[7:]]
        with pytest.raises(CorruptObject):
            list(Selection().captures(reader))


@pytest.mark.long
def test_the_captures_between_two_damaged_ones_of_mongodb_are_exported(
    mongo_uri: str, tmp_path: Path
) -> None:
    with Archive.open(ArchiveConfig(uri=mongo_uri)) as archive:
        for day in range(9):
            archive.add(archive.segment(make_page(html(f"The text of day {day}."), day)))
        assert isinstance(archive._store, MongoStore)
        collection = archive._store.collection("captures")
        collection.update_many({"number": {"$in": [3, 7]}}, {"$inc": {"links": 1}})
    with Archive.reader(ArchiveConfig(uri=mongo_uri)) as reader:
        result = export_warc(reader, tmp_path / "out", Selection(), NOW)
    assert (result.responses, len(result.damaged)) == (7, 2)


def test_what_is_left_of_a_file_that_was_cut_short_is_exported_as_its_error_says(tmp_path: Path) -> None:
    path, output = tmp_path / "a b.db", tmp_path / "out"
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{path}")) as archive:
        for number in range(60):
            body = html(random.Random(number).randbytes(1500).hex())
            archive.add(archive.segment(make_page(body, number // 10, url=f"{URL}{number % 10}")))
    os.truncate(path, path.stat().st_size * 9 // 10)
    environment = {**os.environ, "ARCHIVE_URI": f"sqlite:///{path}"}
    words = ["export", "warc", "--output", str(output), "--json"]
    for command in (words, ["verify"], ["stats"]):
        done = run_scrapy(command, environment=environment)
        assert (done.returncode, "malformed (the file is damaged or cut short: " in done.stderr) == (4, True)
    advice = done.stderr[done.stderr.index("truncate -s") : done.stderr.index(" does, and")]
    subprocess.run(advice, shell=True, check=True)
    done = run_scrapy(words, environment=environment)
    assert (done.returncode, json.loads(done.stdout)["responses"] >= 20) == (4, True), done.stderr


def test_a_package_leaves_out_what_was_pruned(tmp_path: Path) -> None:
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")) as archive:
        for day in range(3):
            archive.add(archive.segment(make_page(html("The first paragraph.", f"Day {day}."), day)))
        assert archive.prune(URL, Keep.parse("ends"), NOW).versions
        result = export_wacz(archive, tmp_path / "x.wacz", Selection(), NOW, progress=Progress())
        assert len(list(export_cdxj(archive, Selection(), Exported()))) == 2
    assert (result.responses, result.pruned) == (2, 1)
    with zipfile.ZipFile(tmp_path / "x.wacz") as package:
        assert len(package.read("pages/pages.jsonl").splitlines()) == 3  # with the head


def test_a_package_lists_what_is_a_page_by_its_bytes(tmp_path: Path) -> None:
    bodies = {
        "bytes": (html("The first paragraph."), "application/octet-stream"),
        "document": (b"%PDF-1.7\n", "text/html"),
        "untyped": (html("The second paragraph."), ""),
    }
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")) as archive:
        for name, (body, type_) in bodies.items():
            headers = (("Content-Type", type_),) if type_ else ()
            archive.add(archive.segment(make_page(body, url=f"{URL}{name}", headers=headers)))
        export_wacz(archive, tmp_path / "x.wacz", Selection(), NOW, progress=Progress())
    with zipfile.ZipFile(tmp_path / "x.wacz") as package:
        _, *pages = map(json.loads, package.read("pages/pages.jsonl").splitlines())
    assert [page["url"].removeprefix(URL) for page in pages] == ["bytes", "untyped"]


def test_a_package_that_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")) as archive:
        text = random.Random(1).randbytes(30_000).hex()
        archive.add(archive.segment(make_page(html(text))))
        (folder := tmp_path / "out").mkdir()
        with no_room(), pytest.raises(StorageError, match="cannot be written"):
            export_wacz(archive, folder / "x.wacz", Selection(), NOW, progress=Progress())
    assert list(folder.iterdir()) == []


def test_wherever_a_package_cannot_go_on_the_reason_is_told(tmp_path: Path) -> None:
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")) as archive:
        for number in range(60):
            url = URL + random.Random(number).randbytes(90).hex()
            archive.add(archive.segment(make_page(html(f"Text {number}."), url=url)))
        (folder := tmp_path / "out").mkdir()
        export_wacz(archive, folder / "x.wacz", Selection(), NOW, progress=Progress())
        size = (folder / "x.wacz").stat().st_size
        (folder / "x.wacz").unlink()
        for room in range(0, size, size // 20):
            with no_room(room), pytest.raises(StorageError, match="cannot be written: File too large"):
                export_wacz(archive, folder / "x.wacz", Selection(), NOW, progress=Progress())
            assert list(folder.iterdir()) == []


def test_captures_since_the_first_moment_of_the_calendar_are_all(tmp_path: Path) -> None:
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")) as archive:
        archive.add(archive.segment(make_page(html("The first paragraph."))))
        first = datetime.min.replace(tzinfo=UTC)
        assert len(list(Selection(since=first).captures(archive))) == 1
        assert len(list(archive.mementos.keyed("", "\U0010ffff", since=first))) == 1


@pytest.mark.parametrize("name", [".", "folder", "link", "pipe"])
def test_an_output_that_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "folder")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="is no file: give --output the name of a file"):
        written(tmp_path / name, lambda out: None)
    assert (tmp_path / "pipe").is_fifo()


def test_the_file_that_a_link_names_is_written(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "file")
    written(link, _text)
    assert link.is_symlink()
    assert (tmp_path / "file").read_bytes() == b"text"


def _text(out: BinaryIO) -> None:
    out.write(b"text")
