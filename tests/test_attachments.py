"""Attachments: the records of WARC files that are no captures are kept, shown, exported and pruned."""

from __future__ import annotations

import asyncio
import json
import os
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from warcio.archiveiterator import ArchiveIterator

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig, UserFile
from archivebot.jobs.export import export_warc
from archivebot.jobs.ingest import ingest as ingest_files
from archivebot.jobs.selection import Selection
from archivebot.metadata import Metadata
from archivebot.models import Label, Outcome
from archivebot.storage.sqlite.sums import enable, sum_of
from archivebot.versioning.keep import Keep
from archivebot.wire import Attachment
from tests.commands import run_scrapy
from tests.factories import URL, html, make_page
from tests.servers import mongo_server, mongo_uri
from tests.test_collections import BODY, RULES
from tests.test_ingest import record_of

__all__ = ["mongo_server", "mongo_uri"]

DAY = "2020-01-01T00:00:00Z"
WHEN = datetime(2020, 1, 1, tzinfo=UTC)
OTHER = "http://example.com/other"
HTTP = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
BINARY = bytes(range(256))

Ask = Callable[..., subprocess.CompletedProcess[str]]


def warc(folder: Path) -> Path:
    """A file with a page, its request, and records about the page, another page, the crawl, and nothing."""
    page, asked = "<urn:uuid:11111111-1111-1111-1111-111111111111>", "<urn:uuid:2222>"

    def about(block: bytes, kind: str, url: str, date: str = DAY, **more: str) -> bytes:
        fields = {"Content-Type": "text/plain"} | {
            key.replace("_", "-"): value for key, value in more.items()
        }
        return record_of(block, kind, date, url, fields)

    path = folder / "x.warc"
    path.write_bytes(
        b"".join(
            (
                about(HTTP + html("The text."), "response", URL, WARC_Record_ID=page),
                record_of(
                    b"GET /page HTTP/1.1\r\nHost: example.com\r\n\r\n",
                    "request",
                    DAY,
                    URL,
                    {"WARC-Record-ID": asked, "WARC-Concurrent-To": page},
                ),
                about(b"fetchTimeMs: 5\r\n", "metadata", URL, "2020-01-01T00:00:09Z", WARC_Refers_To=page),
                about(b"The text.", "conversion", URL, X_Odd="caf\u00e9"),
                about(BINARY, "resource", "urn:screen:1", "2020-01-01T00:00:07Z", WARC_Concurrent_To=asked),
                about(b"{}", "resource", f"urn:pageinfo:{OTHER}"),
                about(b"--warc", "resource", "metadata://gnu.org/a b"),
                about(b"--warc", "metadata", "", WARC_Record_ID="<urn:uuid:3333>"),
            )
        )
    )
    return path


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/a.db"


@pytest.fixture
def ask(uri: str) -> Ask:
    def run(*words: object, uri: str = uri) -> subprocess.CompletedProcess[str]:
        return run_scrapy(tuple(map(str, words)), environment={**os.environ, "ARCHIVE_URI": uri})

    return run


def listed(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, list)
    return found


def kept(attachments: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Return what an export keeps of attachments: all but references to captures, in any order."""
    left = {"WARC-Refers-To", "WARC-Concurrent-To", "WARC-Block-Digest", "WARC-Warcinfo-ID"}
    return sorted(
        (
            each["url"], each["captured_at"], each["type"], each["target"], each["digest"],
            str(each["text"]), str(each["base64"]),
            sorted([name, value] for name, value in each["fields"] if name not in left),
        )
        for each in attachments
    )  # fmt: skip


def test_records_are_kept_with_their_page_or_by_their_own_uri_and_stored_once(
    ask: Ask, tmp_path: Path
) -> None:
    path = warc(tmp_path)
    (found,) = json.loads(ask("ingest", path, "--json").stdout)["files"]
    assert found["attached"] == {"metadata": 2, "conversion": 1, "resource": 3}
    (again,) = json.loads(ask("ingest", path, "--json").stdout)["files"]
    assert (again["attached"], again["known"]) == ({}, 7)

    mine = listed(ask("history", URL, "--attachments", "--json"))
    assert {each["captured_at"] for each in mine} == {"20200101000000"}
    assert {(each["type"], each["text"]) for each in mine} == {
        ("metadata", "fetchTimeMs: 5\r\n"),
        ("conversion", "The text."),
        ("resource", None),
    }
    (conversion,) = (each for each in mine if each["type"] == "conversion")
    assert ["X-Odd", "caf\u00e9"] in conversion["fields"]
    all_of_them = listed(ask("history", "--attachments", "--json"))
    assert {each["url"] for each in all_of_them} == {*(URL, OTHER, "metadata://gnu.org/a b", "urn:uuid:3333")}
    table = ask("history", "metadata://gnu.org/a b", "--attachments").stdout.splitlines()
    assert [line.split()[2:] for line in table[1:]] == [
        ["resource", "text/plain", "6", "B", "metadata://gnu.org/a", "b"]
    ]
    assert ask("history", "http://example.com/none", "--attachments", "--json").stdout == "[]\n"
    assert ask("history").returncode == 2


def test_an_archive_without_attachments_says_so(ask: Ask, uri: str) -> None:
    Archive.open(ArchiveConfig(uri=uri)).close()
    none = ask("history", "--attachments")
    assert (none.returncode, none.stdout) == (1, "")
    assert "has no attachments" in none.stderr


def test_the_bytes_are_kept_exactly_and_a_block_once(ask: Ask, uri: str, tmp_path: Path) -> None:
    data = warc(tmp_path).read_bytes()
    ask("ingest", tmp_path / "x.warc")
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        for each in archive.attachments.all():
            assert each.head + each.block + b"\r\n\r\n" in data
        assert archive.verify()[1] == []


def test_an_export_brings_them_back_the_same(ask: Ask, tmp_path: Path) -> None:
    ask("ingest", warc(tmp_path))
    done = ask("export", "warc", "--output", tmp_path / "out", "--json")
    assert json.loads(done.stdout)["attached"] == 6
    other = f"sqlite:///{tmp_path}/b.db"
    ask("ingest", tmp_path / "out", uri=other)
    first, second = (listed(ask("history", "--attachments", "--json", uri=each)) for each in (
        f"sqlite:///{tmp_path}/a.db", other))  # fmt: skip
    assert kept(first) == kept(second)
    ask("export", "warc", "--output", tmp_path / "again", uri=other)
    names = [exported(tmp_path / folder) for folder in ("out", "again")]
    assert names[0] == names[1]
    answers = {name for kind, name, _ in names[0] if kind == "response"}
    named = {reference for kind, _, reference in names[0] if kind in ("conversion", "request")}
    assert named == answers
    (conversion,) = [fields for fields in fields_of(tmp_path / "out") if fields["WARC-Type"] == "conversion"]
    assert conversion.keys() & {"WARC-Refers-To", "WARC-Concurrent-To"} == {"WARC-Refers-To"}

    more = json.loads(ask("export", "warc", "--output", tmp_path / "out", "--since-last", "--json").stdout)
    assert more["records"] == 0
    (part,) = (tmp_path / "part",)
    found = json.loads(ask("export", "warc", OTHER, "--output", part, "--json").stdout)
    assert (found["attached"], found["responses"]) == (1, 0)


def fields_of(folder: Path) -> list[dict[str, str]]:
    """Return the named fields of the records of an export."""
    found = []
    for path in folder.glob("*.warc.gz"):
        with path.open("rb") as file:
            found += [dict(record.rec_headers.headers) for record in ArchiveIterator(file)]
    return found


def exported(folder: Path) -> list[tuple[str, str, str]]:
    """Return the types and ids of the records of an export, with the ids that they refer to."""
    found = []
    for path in folder.glob("*.warc.gz"):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                head = record.rec_headers
                refers = head.get_header("WARC-Concurrent-To") or head.get_header("WARC-Refers-To") or ""
                if record.rec_type != "warcinfo":
                    found.append((record.rec_type, head.get_header("WARC-Record-ID"), refers))
                record.content_stream().read()
    return sorted(found)


def test_an_attachment_that_came_later_is_in_the_next_export(ask: Ask, uri: str, tmp_path: Path) -> None:
    ask("ingest", warc(tmp_path))
    ask("export", "warc", "--output", tmp_path / "out")
    later = tmp_path / "later.warc"
    later.write_bytes(record_of(b"late", "conversion", DAY, URL))
    ask("ingest", later)
    found = json.loads(ask("export", "warc", "--output", tmp_path / "out", "--since-last", "--json").stdout)
    assert (found["attached"], found["responses"], found["records"]) == (1, 0, 2)


def test_a_conversion_may_come_before_its_page_and_in_another_file(ask: Ask, tmp_path: Path) -> None:
    for name, block, kind in (("a", b"text", "conversion"), ("b", HTTP + html("text"), "response")):
        (tmp_path / f"{name}.warc").write_bytes(record_of(block, kind, DAY, URL))
        assert ask("ingest", tmp_path / f"{name}.warc").returncode == 0
    ask("export", "warc", "--output", tmp_path / "out")
    found = exported(tmp_path / "out")
    (answer,) = (name for kind, name, _ in found if kind == "response")
    assert [refers for kind, _, refers in found if kind == "conversion"] == [answer]


def test_a_record_that_lacks_its_date_or_was_cut_is_reported(ask: Ask, tmp_path: Path) -> None:
    path = tmp_path / "x.warc"
    path.write_bytes(
        record_of(b"a", "metadata", "", URL) + record_of(b"b" * 99, "conversion", DAY, URL)[:-60]
    )
    done = ask("ingest", path, "--json")
    (found,) = json.loads(done.stdout)["files"]
    assert (done.returncode, found["attached"], len(found["damaged"])) == (5, {}, 2)


def stored(uri: str, *times: int) -> Archive:
    """Return an archive with a page that changed each day, and an attachment of each of its captures."""
    archive = Archive.open(ArchiveConfig(uri=uri))
    for day in times:
        page = replace(make_page(html(f"The text of day {day}.")), captured_at=WHEN + timedelta(days=day))
        archive.add(archive.segment(page))
        archive.attach(
            Attachment(URL, page.captured_at, b"WARC/1.0\r\nWARC-Type: metadata\r\n\r\n", b"of %d" % day)
        )
    return archive


def check_pruning(uri: str) -> None:
    with stored(uri, 0, 1, 2) as archive:
        assert archive.verify()[1] == []
        archive.prune(URL, Keep.parse("yearly"), datetime.now(UTC))
        archive.compact()
        assert [each.block for each in archive.attachments.of(URL)] == [b"of 0", b"of 2"]
        assert archive.verify()[1] == []


def test_pruning_removes_what_belongs_to_the_pruned_captures(uri: str) -> None:
    check_pruning(uri)


@pytest.mark.long
def test_pruning_removes_it_from_mongodb_and_a_lost_block_is_found(mongo_uri: str) -> None:
    check_pruning(mongo_uri)
    with Archive.open(ArchiveConfig(uri=mongo_uri)) as archive:
        frame, _ = (each["frame"] for each in archive._store.collection("attachments").find())
        archive._store.collection("frames").delete_many({"_id": f"{frame.partition('/')[0]}:0"})
        assert archive.verify()[1]


def check_pruning_beside_an_error(uri: str) -> None:
    """An error had the bytes of a version that is pruned, as a body of its own that stays."""
    with stored(uri, 0) as archive:
        for day, outcome, text in (
            (1, Outcome.SERVER_ERROR, "It broke."),
            (2, Outcome.FETCHED, "It broke."),
            (3, Outcome.FETCHED, "The text of day 3."),
        ):
            page = replace(
                make_page(html(text), outcome=outcome, status=503 if day == 1 else 200),
                captured_at=WHEN + timedelta(days=day),
            )
            archive.add(archive.segment(page))
            archive.attach(
                Attachment(URL, page.captured_at, b"WARC/1.0\r\nWARC-Type: metadata\r\n\r\n", b"of %d" % day)
            )
        (pruned,) = archive.prune(URL, Keep.parse("yearly"), datetime.now(UTC)).versions
        archive.compact()
        assert pruned.digest == sha256(html("It broke.")).hexdigest()
        assert [each.pruned for each in archive.captures(URL)] == [False, False, True, False]
        assert [each.block for each in archive.attachments.of(URL)] == [b"of 0", b"of 1", b"of 3"]


def test_pruning_keeps_what_belongs_to_an_error_with_the_same_bytes(uri: str) -> None:
    check_pruning_beside_an_error(uri)


@pytest.mark.long
def test_pruning_keeps_what_belongs_to_an_error_in_mongodb(mongo_uri: str) -> None:
    check_pruning_beside_an_error(mongo_uri)


def check_damaged(uri: str, folder: Path, damage: Callable[[bytes], None]) -> None:
    """Check that an export has all attachments but the damaged ones, with a capture and without."""
    with stored(uri, 0, 1, 2) as archive:
        for url in (URL, OTHER):
            for block in (b"a", b"b", b"c"):
                archive.attach(Attachment(url, WHEN, b"WARC/1.0\r\nWARC-Type: metadata\r\n\r\n", block))
    damage(b"b")
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        result = export_warc(archive, folder / "out", Selection(), datetime.now(UTC))
    assert (result.responses, result.attached, len(result.damaged)) == (3, 3 + 2 + 2, 2)


def test_a_damaged_attachment_does_not_keep_the_others_from_an_export(uri: str, tmp_path: Path) -> None:
    def damage(block: bytes) -> None:
        with closing(sqlite3.connect(uri.removeprefix("sqlite:///"))) as database, database:
            key = sha256(block).digest()
            database.execute("UPDATE attachment SET data = x'00' WHERE url = 0 AND key = ?", (key,))

    check_damaged(uri, tmp_path, damage)


@pytest.mark.long
def test_a_lost_attachment_does_not_keep_the_others_of_mongodb_from_an_export(
    mongo_uri: str, tmp_path: Path
) -> None:
    def damage(block: bytes) -> None:
        with Archive.open(ArchiveConfig(uri=mongo_uri)) as archive:
            found = archive._store.collection("attachments").find_one({"digest": sha256(block).hexdigest()})
            archive._store.collection("frames").delete_many({"_id": f"{found['frame'].partition('/')[0]}:0"})

    check_damaged(mongo_uri, tmp_path, damage)


def test_a_package_of_attachments_only_is_written(uri: str, ask: Ask, tmp_path: Path) -> None:
    file, package = tmp_path / "x.warc", tmp_path / "x.wacz"
    file.write_bytes(
        record_of(b"{}", "resource", DAY, f"urn:pageinfo:{OTHER}", {"Content-Type": "text/plain"})
    )
    assert ask("ingest", file).returncode == 0
    assert ask("export", "wacz", URL, "--output", package).returncode == 1
    assert not package.exists()
    done = ask("export", "wacz", "--output", package)
    assert (done.returncode, package.exists()) == (0, True), done.stderr
    again = f"sqlite:///{tmp_path}/b.db"
    assert ask("ingest", package, uri=again).returncode == 0
    first, second = (listed(ask("history", "--attachments", "--json", uri=each)) for each in (uri, again))
    assert (len(first), kept(first)) == (1, kept(second))


def check_reported_once(uri: str, folder: Path, damage: Callable[[], None]) -> None:
    """Check that an export reports a damaged attachment of a capture once, and of one without once."""
    with stored(uri, 0) as archive:
        for url in (URL, OTHER):
            archive.attach(Attachment(url, WHEN, b"WARC/1.0\r\nWARC-Type: metadata\r\n\r\n", b"a"))
    damage()
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        for url, count in ((OTHER, 1), (URL, 1), ("", 2)):
            chosen = Selection.below(url) if url else Selection()
            result = export_warc(archive, folder / str(len(url)), chosen, datetime.now(UTC))
            assert len(result.damaged) == count, url


def test_a_damaged_attachment_is_reported_once(uri: str, tmp_path: Path) -> None:
    def damage() -> None:
        with closing(sqlite3.connect(tmp_path / "a.db")) as database, database:
            assert database.execute("UPDATE attachment SET data = x'00' WHERE url > 0").rowcount > 1

    check_reported_once(uri, tmp_path, damage)


@pytest.mark.long
def test_a_damaged_attachment_of_mongodb_is_reported_once(mongo_uri: str, tmp_path: Path) -> None:
    def damage() -> None:
        with Archive.open(ArchiveConfig(uri=mongo_uri)) as archive:
            archive._store.collection("attachments").update_many({}, {"$set": {"head": b"x"}})

    check_reported_once(mongo_uri, tmp_path, damage)


@pytest.mark.parametrize(("where", "renewed"), [("url > 0", False), ("url = 0", False), ("url = 0", True)])
def test_a_changed_byte_is_found(uri: str, tmp_path: Path, where: str, renewed: bool) -> None:
    """A changed block is found even if the checksum of its row was made anew."""
    stored(uri, 0).close()
    changed = "CAST(substr(data, 1, 3) || x'00' || substr(data, 5) AS BLOB)"
    with closing(sqlite3.connect(tmp_path / "a.db")) as database:
        enable(database)
        database.execute(f"UPDATE attachment SET data = {changed} WHERE {where}")
        if renewed:
            database.execute(f"UPDATE attachment SET sum = {sum_of('attachment')}")
        database.commit()
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        assert archive.verify()[1]


def test_the_metadata_of_a_page_and_its_blocks_come_back_from_an_export(tmp_path: Path) -> None:
    rules = UserFile("rules.toml", RULES)
    url, folder = "http://harbour.example/tides", tmp_path / "out"
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db", collections=rules)) as archive:
        archive.add(archive.segment(replace(make_page(BODY), url=url)))
        before = archive.metadata(url)
        export_warc(archive, folder, Selection(), datetime.now(UTC))
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/b.db")) as archive:
        (result,) = asyncio.run(ingest_files(archive, sorted(folder.glob("*.warc.gz"))))
        after = archive.metadata(url, archive.version(url, 1))
        assert before.terms["rights"] == ("Harbour office",)
        assert after.terms == before.terms
        assert after.of(Label.FOOTER) == before.of(Label.FOOTER) != after.terms
        assert result.attached == {}
        assert result.skipped == {
            "warcinfo: describes the file": 1,
            "metadata: the terms of a page, read back with it": 1,
            "metadata: the blocks of a page, which are found anew": 1,
        }
        assert list(archive.attachments.all()) == []


def test_hostile_records_in_the_place_of_our_own_change_nothing(tmp_path: Path) -> None:
    name = "<urn:uuid:1>"
    fields = {"WARC-Refers-To": name, "Content-Type": "application/json"}
    blocks = (
        b"[" * 99_999,
        b"{}",
        b'{"blocks": [1]}',
        b'{"blocks": [{"label": "x", "metadata": 1}]}',
        b"\xff",
    )
    (tmp_path / "x.warc").write_bytes(
        record_of(HTTP + html("The text."), "response", DAY, URL, {"WARC-Record-ID": name})
        + b"".join(record_of(each, "metadata", DAY, f"urn:blocks:{URL}", fields) for each in blocks)
    )
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")) as archive:
        asyncio.run(ingest_files(archive, [tmp_path / "x.warc"]))
        assert archive.metadata(URL, archive.version(URL, 1)) == Metadata()


def test_a_request_that_names_the_first_record_of_its_file_belongs_to_the_answer_beside_it(
    ask: Ask, uri: str, tmp_path: Path
) -> None:
    """So node-warc writes requests and metadata."""
    info, refers = "<urn:uuid:7>", {"WARC-Concurrent-To": "<urn:uuid:7>"}
    asked = b"GET /page HTTP/1.1\r\nHost: example.com\r\n\r\n"
    (tmp_path / "x.warc").write_bytes(
        record_of(b"software: x\r\n", "warcinfo", DAY, "", {"WARC-Record-ID": info})
        + record_of(b"links", "metadata", DAY, URL, refers)
        + record_of(asked, "request", DAY, URL, refers)
        + record_of(HTTP + html("The text."), "response", DAY, URL)
        + record_of(b"GET /x HTTP/1.1\r\n\r\n", "request", DAY, OTHER, refers)
        + record_of(HTTP + html("Another text."), "response", DAY, "http://example.com/unasked")
    )
    ask("ingest", tmp_path / "x.warc")
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        (capture,) = archive.captures(URL)
        assert capture.wire is not None
        assert capture.wire.request == asked
        (other,) = archive.captures("http://example.com/unasked")
        assert other.wire is not None
        assert other.wire.request == b""
        assert [each.when for each in archive.attachments.of(URL)] == [capture.captured_at]
    ask("export", "warc", URL, "--output", tmp_path / "out")
    kinds = [kind for kind, _, _ in exported(tmp_path / "out")]
    assert kinds == ["metadata", "metadata", "request", "response"]
