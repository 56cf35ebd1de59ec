"""scrapy export: what it writes, and that it comes back the same."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import zipfile
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from warcio.archiveiterator import ArchiveIterator

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import WarcError
from archivebot.export import wacz
from archivebot.models import Capture, Kind, Outcome
from archivebot.timestamps import timestamp
from archivebot.warc import inputs, read_pages
from archivebot.wire import Wire
from tests.commands import run_scrapy
from tests.factories import URL, html, make_page
from tests.served import archived

WARCS = Path(__file__).parent / "warc"

# Records of these files that an index of exported captures does not have, and why.
EXCEPTIONS: dict[str, int] = {}

OTHER = "http://example.com/other"
FIRST, SECOND = html("The first paragraph.", "The second."), html("The first paragraph.", "Another second.")
HEAD = (
    b"HTTP/1.1 200 OK\r\nset-cookie: a=b\r\nX-Two:  c\r\nSet-Cookie: d=e\r\n"
    b"Content-Type: text/html; charset=utf-8\r\nContent-Encoding: gzip\r\nContent-Length: 35\r\n\r\n"
)
NOT_MODIFIED = b"HTTP/1.1 304 Not Modified\r\nETag: x\r\n\r\n"
REQUEST = b"GET /page HTTP/1.1\r\nHost: example.com\r\n\r\n"
CODED = Wire(HEAD, REQUEST, ip="192.0.2.1", port=80, protocols=("http/1.1",), length=35, decoded=True)
LATER = replace(CODED, received=HEAD.replace(b"a=b", b"a=c"))

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    """An archive with every kind of capture: content, changes, revisits, 304, 404, redirect, no answer."""
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")) as archive:
        unchanged = Wire(NOT_MODIFIED, REQUEST, protocols=("http/1.1",))
        pages = (
            replace(make_page(FIRST), wire=CODED, headers=CODED.headers),
            replace(make_page(FIRST, 1), wire=LATER, headers=LATER.headers),
            make_page(SECOND, 2),
            make_page(b"", 3, outcome=Outcome.NOT_MODIFIED, status=304, headers=(("ETag", "x"),)),
            make_page(SECOND, 4, url=OTHER),
            make_page(b"<p>Gone", 5, url=OTHER, outcome=Outcome.GONE, status=410),
            make_page(b"", 6, url=OTHER, outcome=Outcome.TIMEOUT, status=None, headers=()),
            make_page(
                b"",
                url="http://example.com/to",
                outcome=Outcome.REDIRECT,
                status=301,
                headers=(("Location", "/page"),),
                location=URL,
            ),
            make_page(html("Elsewhere."), url="http://www.example.org/a?a=2&b=1"),
        )
        for page in pages:
            is_304 = page.outcome is Outcome.NOT_MODIFIED
            archive.add(archive.segment(replace(page, wire=unchanged) if is_304 else page))
        yield archive


@pytest.fixture
def export(archive: Archive, tmp_path: Path) -> Run:
    def run(*args: object, uri: str = "") -> subprocess.CompletedProcess[str]:
        archive.sync()
        environment = {**os.environ, "ARCHIVE_URI": uri or f"sqlite:///{tmp_path}/a.db"}
        return run_scrapy(tuple(map(str, args)), environment=environment)

    return run


def records(folder: Path) -> list[Any]:
    """Return the records of all WARC files of a folder, with their blocks in ``body``."""
    found = []
    for path in sorted(folder.glob("*.warc.gz")):
        with path.open("rb") as file:
            for record in ArchiveIterator(file, check_digests="raise"):
                record.body = record.raw_stream.read()
                found.append(record)
    return found


def der_of(signature: str) -> bytes:
    """Return a signature as browsers write it, r and s one after the other, in DER."""
    raw = b64decode(signature)
    return utils.encode_dss_signature(
        *(int.from_bytes(part, "big") for part in (raw[: len(raw) // 2], raw[len(raw) // 2 :]))
    )


def field(record: Any, name: str) -> str:
    return str(record.rec_headers.get_header(name))


def kept(capture: Capture) -> Capture:
    """Return what a capture says, without what another archive says differently of the same visit."""
    wire = capture.wire and replace(capture.wire, started=None, record="", port=None, left_out=())
    return replace(capture, origin="", stored_bytes=0, new_blocks=0, reason="", wire=wire, links=0)


def test_warc_to_archive_gives_equal_captures_versions_and_digests(
    archive: Archive, export: Run, tmp_path: Path
) -> None:
    done = export("export", "warc", "--output", tmp_path / "out", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert (result["responses"], result["revisits"], result["without"]) == (6, 2, 1)
    again = f"sqlite:///{tmp_path}/b.db"
    files = sorted((tmp_path / "out").glob("*.warc.gz"))
    assert [file.name for file in files] == result["files"]
    assert sum(file.stat().st_size for file in files) == result["bytes"]
    assert not export("ingest", *files, uri=again).returncode
    with Archive.open(ArchiveConfig(uri=again)) as other:
        urls = [url for _, url in archive.pages()]
        assert urls == [url for _, url in other.pages()]
        for url in urls:
            before, after = archive.captures(url), other.captures(url)
            known = [capture for capture in before if capture.wire]
            assert [capture.kind for capture in before] == [capture.kind for capture in after]
            assert [capture.number for capture in before] == [capture.number for capture in after]
            for one, two in zip(before, after, strict=True):
                same = two if one in known else replace(two, wire=None)
                assert kept(one) == kept(same)
                assert not one.digest or archive.body(one) == other.body(two)
        first, *_ = other.captures(URL)
        assert first.wire is not None
        assert (first.wire.received, first.wire.request, first.wire.length) == (HEAD, REQUEST, 35)


def test_a_decoded_body_has_a_head_that_describes_it_and_digests_that_warcio_confirms(
    export: Run, tmp_path: Path
) -> None:
    export("export", "warc", URL, "--output", tmp_path / "out")
    answers = [record for record in records(tmp_path / "out") if record.rec_type == "response"]
    assert [sha256(record.body).hexdigest() for record in answers] == [
        field(record, "WARC-Payload-Digest").removeprefix("sha256:") for record in answers
    ]
    coded, plain = answers
    assert coded.body == FIRST
    assert plain.body == SECOND
    http = dict(coded.http_headers.headers)
    assert http["Content-Length"] == str(len(FIRST))
    assert http["X-Archive-Orig-Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in http
    assert [name for name, _ in coded.http_headers.headers][:3] == ["set-cookie", "X-Two", "Set-Cookie"]


@pytest.mark.parametrize(
    "lines",
    [
        b"x-archive-orig-content-encoding: gzip\r\nX-Archive-Orig-Content-Length: 5\r\nServer: a\r\n",
        b"X-Archive-Orig-Content-Encoding: gzip\r\nContent-Length: %d\r\n" % len(FIRST),
        b"x-archive-orig-content-encoding: br\r\nContent-Encoding: gzip\r\nContent-Length: 35\r\n",
        b"X-Archive-Orig-Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\nServer: a\r\n",
    ],
    ids=["alone", "before-the-length", "with-a-coding", "with-chunks"],
)
def test_fields_that_a_web_archive_sent_come_back_as_they_were(tmp_path: Path, lines: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\n" + lines + b"\r\n"
    wire = Wire(head, length=len(FIRST), decoded=b"\nContent-Encoding" in head)
    page = replace(make_page(FIRST, headers=wire.headers), wire=wire)
    first, second = (f"sqlite:///{tmp_path / name}.db" for name in ("first", "second"))
    archived(first, [page])
    run_scrapy(("export", "warc", "--output", f"{tmp_path}/out"), environment={"ARCHIVE_URI": first})
    run_scrapy(("ingest", f"{tmp_path}/out"), environment={"ARCHIVE_URI": second})
    with Archive.open(ArchiveConfig(uri=second)) as archive:
        (capture,) = archive.captures(URL)
        assert capture.wire is not None
        assert (capture.wire.received, capture.wire.decoded) == (head, wire.decoded)
        assert capture.headers == wire.headers


def test_a_revisit_whose_original_is_not_in_the_archive_is_no_empty_page(tmp_path: Path) -> None:
    uri = f"sqlite:///{tmp_path}/a.db"
    archived(uri, [make_page(FIRST), make_page(b"", 1, outcome=Outcome.UNRESOLVED, url=OTHER)])
    environment = {"ARCHIVE_URI": uri}
    done = run_scrapy(("export", "warc", "--output", f"{tmp_path}/out"), environment=environment)
    assert done.stdout.startswith("1 responses, 0 revisits, 1 without answer")
    (record,) = [each for each in records(tmp_path / "out") if field(each, "WARC-Target-URI") == OTHER]
    assert (record.rec_type, record.body.splitlines()[0]) == ("metadata", b"outcome: unresolved")
    done = run_scrapy(("export", "cdxj", "--output", "-"), environment=environment)
    assert [json.loads(line.split(" ", 2)[2])["url"] for line in done.stdout.splitlines()] == [URL]


@pytest.mark.parametrize("coding", ["identity", "gzip"])
def test_a_head_whose_line_ends_were_converted_ends_where_it_ended(tmp_path: Path, coding: str) -> None:
    head = b"HTTP/1.1 200 OK\r\r\nContent-Encoding: %b\r\r\n\r\r\n" % coding.encode()
    wire = Wire(head, length=len(FIRST), decoded=coding == "gzip")
    first, second = (f"sqlite:///{tmp_path / name}.db" for name in ("first", "second"))
    archived(first, [replace(make_page(FIRST, headers=wire.headers), wire=wire)])
    run_scrapy(("export", "warc", "--output", f"{tmp_path}/out"), environment={"ARCHIVE_URI": first})
    (answer,) = [record for record in records(tmp_path / "out") if record.rec_type == "response"]
    assert answer.body == FIRST
    run_scrapy(("ingest", f"{tmp_path}/out"), environment={"ARCHIVE_URI": second})
    with Archive.open(ArchiveConfig(uri=second)) as archive:
        (capture,) = archive.captures(URL)
        assert (archive.body(capture), capture.wire and capture.wire.received) == (FIRST, head)


def test_a_resource_record_stays_one_without_a_head_that_no_server_sent(tmp_path: Path) -> None:
    first, second = (f"sqlite:///{tmp_path / name}.db" for name in ("first", "second"))
    run_scrapy(("ingest", str(WARCS / "example-resource.warc.gz")), environment={"ARCHIVE_URI": first})
    run_scrapy(("export", "warc", "--output", f"{tmp_path}/out"), environment={"ARCHIVE_URI": first})
    found = [each for each in records(tmp_path / "out") if each.rec_type in ("response", "resource")]
    with (WARCS / "example-resource.warc.gz").open("rb") as file:
        pages = [
            (field(each, "WARC-Target-URI"), field(each, "Content-Type"), each.content_stream().read())
            for each in ArchiveIterator(file)
            if each.rec_type == "resource" and field(each, "WARC-Target-URI").startswith("http")
        ]
    assert pages
    written = [(field(each, "WARC-Target-URI"), field(each, "Content-Type"), each.body) for each in found]
    assert (written, {each.rec_type for each in found}) == (sorted(pages), {"resource"})
    run_scrapy(("ingest", f"{tmp_path}/out"), environment={"ARCHIVE_URI": second})
    stored = []
    for uri in (first, second):
        with Archive.open(ArchiveConfig(uri=uri)) as archive:
            stored.append([kept(each) for _, url in archive.pages() for each in archive.captures(url)])
    assert stored[0] == stored[1]


def test_a_304_written_as_equal_content_is_no_resource_record(tmp_path: Path) -> None:
    typed, bare = (
        Wire(b"HTTP/1.1 %b\r\n\r\n" % line) for line in (b"200 OK\r\nContent-Type: text/html", b"304 -")
    )
    pages = [
        replace(make_page(FIRST, headers=typed.headers), wire=typed),
        replace(make_page(b"", 1, outcome=Outcome.NOT_MODIFIED, status=304, headers=()), wire=bare),
    ]
    uri = archived(f"sqlite:///{tmp_path}/a.db", pages)
    words = (
        "export",
        "warc",
        "--output",
        f"{tmp_path}/out",
        "--revalidated-as",
        "identical",
        "--from",
        "2026-01-02",
    )
    run_scrapy(words, environment={"ARCHIVE_URI": uri})
    (answer,) = [each for each in records(tmp_path / "out") if field(each, "WARC-Target-URI") == URL]
    assert (answer.rec_type, answer.http_headers and answer.http_headers.get_statuscode()) == (
        "response",
        "200",
    )


def test_resource_records_with_the_same_bytes_stay_resource_records(tmp_path: Path) -> None:
    first, second = (f"sqlite:///{tmp_path / name}.db" for name in ("first", "second"))
    wire, headers = Wire(length=len(FIRST)), (("Content-Type", "text/html"),)
    archived(first, [replace(make_page(FIRST, day, headers=headers), wire=wire) for day in range(2)])
    run_scrapy(("export", "warc", "--output", f"{tmp_path}/out"), environment={"ARCHIVE_URI": first})
    written = [each for each in records(tmp_path / "out") if each.rec_type not in ("warcinfo", "metadata")]
    assert [(each.rec_type, each.body) for each in written] == [("resource", FIRST)] * 2
    run_scrapy(("ingest", f"{tmp_path}/out"), environment={"ARCHIVE_URI": second})
    with Archive.open(ArchiveConfig(uri=second)) as archive:
        assert [each.wire and each.wire.received for each in archive.captures(URL)] == [b"", b""]


def test_a_page_whose_body_was_not_kept_is_no_empty_page(tmp_path: Path) -> None:
    excluded = replace(make_page(b"", 1, outcome=Outcome.EXCLUDED, url=OTHER), reason="noindex")
    pages = [make_page(FIRST), excluded]
    first, second = (f"sqlite:///{tmp_path / name}.db" for name in ("first", "second"))
    archived(first, pages)
    done = run_scrapy(("export", "cdxj", "--output", "-"), environment={"ARCHIVE_URI": first})
    assert [json.loads(line.split(" ", 2)[2])["url"] for line in done.stdout.splitlines()] == [URL]
    done = run_scrapy(("export", "warc", "--output", f"{tmp_path}/out"), environment={"ARCHIVE_URI": first})
    assert done.stdout.startswith("1 responses, 0 revisits, 1 without answer")
    run_scrapy(("ingest", f"{tmp_path}/out"), environment={"ARCHIVE_URI": second})
    with Archive.open(ArchiveConfig(uri=second)) as archive:
        (found,) = archive.captures(OTHER)
    assert (found.outcome, found.kind, found.reason) == (Outcome.EXCLUDED, Kind.EXCLUDED, "noindex")


def test_incomplete_and_complete_answers_with_the_same_bytes_stay_what_they_are(tmp_path: Path) -> None:
    cut = Wire(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n", truncated="disconnect")
    pages = [
        replace(make_page(FIRST, 0, outcome=Outcome.INCOMPLETE), wire=cut),
        make_page(FIRST, 1),
        make_page(SECOND, 2, url=OTHER),
        replace(make_page(SECOND, 3, url=OTHER, outcome=Outcome.INCOMPLETE), wire=cut),
        replace(make_page(SECOND, 4, url=OTHER, outcome=Outcome.INCOMPLETE), wire=cut),
        make_page(SECOND, 5, url=OTHER),
    ]
    first, second = (f"sqlite:///{tmp_path / name}.db" for name in ("first", "second"))
    archived(first, pages)
    run_scrapy(("export", "warc", "--output", f"{tmp_path}/out"), environment={"ARCHIVE_URI": first})
    run_scrapy(("ingest", f"{tmp_path}/out"), environment={"ARCHIVE_URI": second})
    with Archive.open(ArchiveConfig(uri=second)) as archive:
        found = [(each.outcome, each.wire) for url in (URL, OTHER) for each in archive.captures(url)]
    assert [outcome for outcome, _ in found] == [page.outcome for page in pages]
    truncated = [wire.truncated for outcome, wire in found if wire and outcome is Outcome.INCOMPLETE]
    assert truncated == ["disconnect"] * 3
    assert [record.rec_type for record in records(tmp_path / "out")].count("revisit") == 1


def test_revisits_refer_to_the_response_in_all_ways(export: Run, tmp_path: Path) -> None:
    export("export", "warc", "--output", tmp_path / "out")
    found = records(tmp_path / "out")
    by_id = {field(record, "WARC-Record-ID"): record for record in found}
    revisits = [record for record in found if record.rec_type == "revisit"]
    for record in revisits:
        original = by_id[field(record, "WARC-Refers-To")]
        for name in ("Target-URI", "Date"):
            assert field(record, f"WARC-Refers-To-{name}") == field(original, f"WARC-{name}")
        assert field(record, "WARC-Payload-Digest") == field(original, "WARC-Payload-Digest")
        assert original.rec_type == "response"
        assert field(record, "WARC-Date") > field(original, "WARC-Date")
    profiles = [field(record, "WARC-Profile").rpartition("/")[2] for record in revisits]
    assert sorted(profiles) == ["identical-payload-digest", "server-not-modified"]
    requests = [record for record in found if record.rec_type == "request"]
    assert all(by_id[field(record, "WARC-Concurrent-To")] for record in requests)
    assert len(requests) == 3


def test_a_304_names_the_response_before_it_that_is_in_the_export(tmp_path: Path) -> None:
    copy, moved = "http://example.com/copy", "http://example.com/moved"
    pages = [
        make_page(FIRST, 0, headers=(("X-Visit", "0"),)),
        make_page(b"", 1, outcome=Outcome.NOT_MODIFIED, status=304, headers=(("Vary", "A"), ("Vary", "B"))),
        make_page(SECOND, 2, headers=()),
        make_page(FIRST, 3, headers=(("X-Visit", "3"),)),
        make_page(FIRST, 4, url=copy),
        make_page(FIRST, 5, url=moved),
        make_page(b"", 6, url=moved, outcome=Outcome.NOT_MODIFIED, status=304, headers=()),
    ]
    uri = archived(f"sqlite:///{tmp_path}/a.db", pages)
    environment = {**os.environ, "ARCHIVE_URI": uri}

    def exported(name: str, *options: str) -> list[Any]:
        run_scrapy(("export", "warc", "--output", f"{tmp_path}/{name}", *options), environment=environment)
        return records(tmp_path / name)

    def answer(found: list[Any], day: str) -> Any:
        (record,) = [
            each
            for each in found
            if each.rec_type in ("revisit", "response") and field(each, "WARC-Date").startswith(day)
        ]
        return record

    part = exported("part", URL, "--from", "2026-01-02", "--to", "2026-01-02")
    assert field(answer(part, "2026-01-02"), "WARC-Refers-To-Date") == "2026-01-01T00:00:00Z"
    equal = exported("equal", URL, "--revalidated-as", "identical")
    assert answer(equal, "2026-01-02").http_headers.get_header("X-Visit") == "0"
    lines = answer(equal, "2026-01-02").http_headers.headers
    assert [value for name, value in lines if name == "Vary"] == ["A", "B"]
    whole = exported("whole")
    ids = {field(record, "WARC-Record-ID") for record in whole if record.rec_type == "response"}
    assert field(answer(whole, "2026-01-07"), "WARC-Refers-To") in ids


def test_a_304_is_left_out_of_the_index_unless_it_is_written_as_equal_content(
    export: Run, tmp_path: Path
) -> None:
    export("export", "warc", URL, "--output", tmp_path / "one")
    export("export", "warc", URL, "--output", tmp_path / "two", "--revalidated-as", "identical")
    lines = [next((tmp_path / name).glob("*.cdxj")).read_text().splitlines() for name in ("one", "two")]
    assert [len(each) for each in lines] == [3, 4]
    last = json.loads(lines[1][-1].split(" ", 2)[2])
    assert (last["status"], last["mime"]) == ("200", "warc/revisit")
    dated = [each for each in records(tmp_path / "two") if field(each, "WARC-Date").startswith("2026-01-04")]
    (record,) = [each for each in dated if each.rec_type == "revisit"]
    assert record.http_headers.get_statuscode() == "200"
    assert record.http_headers.get_header("ETag") == "x"


def test_the_index_leads_to_the_records(export: Run, tmp_path: Path) -> None:
    export("export", "warc", "--output", tmp_path / "out", "--size", "1kB")
    (index,) = (tmp_path / "out").glob("*.cdxj")
    lines = index.read_bytes().splitlines()
    assert lines == sorted(lines)
    assert len(lines) == 7
    names = set()
    for line in lines:
        values = json.loads(line.split(b" ", 2)[2])
        with (tmp_path / "out" / values["filename"]).open("rb") as file:
            file.seek(int(values["offset"]))
            record = next(ArchiveIterator(file))
            assert field(record, "WARC-Target-URI") == values["url"]
            file.seek(int(values["offset"]))
            assert gzip.decompress(file.read(int(values["length"]))).startswith(b"WARC/1.1\r\n")
        assert {type(each) for each in values.values()} == {str}  # numbers, too, as other tools write them
        names.add(values["filename"])
    assert len(names) > 1, "files are rolled"
    assert not list((tmp_path / "out").glob("*.open"))


def test_since_last_writes_what_no_export_had_whatever_its_date(
    archive: Archive, export: Run, tmp_path: Path
) -> None:
    out = ("--output", tmp_path / "out", "--since-last", "--json")
    assert json.loads(export("export", "warc", *out).stdout)["records"] > 9
    assert json.loads(export("export", "warc", *out).stdout)["records"] == 0
    archive.add(archive.segment(make_page(html("Older."), -100)))
    archive.add(archive.segment(make_page(SECOND, 100)))
    result = json.loads(export("export", "warc", *out).stdout)
    assert (result["responses"], result["revisits"]) == (2, 0), "each export stands alone"


@pytest.mark.parametrize(
    ("options", "count"),
    [
        (["http://example.com/page"], 4),
        (["--site", "http://example.org/"], 1),
        (["--from", "2026-01-03", "--to", "2026-01-05"], 3),
        (["--topic", "elsewhere"], 1),
    ],
)
def test_captures_are_chosen(export: Run, tmp_path: Path, options: list[str], count: int) -> None:
    done = export("export", "jsonl", *options, "--output", tmp_path / "x.jsonl")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in (tmp_path / "x.jsonl").read_text().splitlines()]
    assert sum(line["type"] == "capture" for line in lines) == count
    assert done.stdout.splitlines()[-1] == f"{len(lines)} records"


def test_the_page_of_a_folder_is_exported_with_what_is_below_it(tmp_path: Path) -> None:
    names = ("news", "news/", "news/?page=2", "news/a?b", "News/A", "news-old", "newsletter", "new")
    host = "http://example.com/"
    uri = archived(f"sqlite:///{tmp_path}/a.db", [make_page(html(name), url=host + name) for name in names])

    def chosen(prefix: str) -> set[str]:
        words = ("export", "cdxj", prefix, "--output", "-")
        lines = run_scrapy(words, environment={"ARCHIVE_URI": uri}).stdout.splitlines()
        return {json.loads(line.split(" ", 2)[2])["url"].removeprefix(host) for line in lines}

    assert chosen(f"{host}news/") == {"news", "news/", "news/?page=2", "news/a?b", "News/A"}
    assert chosen(f"{host}news") == {*names} - {"new"}
    assert chosen(host) == {*names}
    assert chosen(f"{host}news/a") == {"news/a?b", "News/A"}


def test_blocks_go_along_as_metadata_that_no_index_takes_for_the_page(export: Run, tmp_path: Path) -> None:
    export("export", "warc", URL, "--output", tmp_path / "out")
    blocks = [record for record in records(tmp_path / "out") if record.rec_type == "metadata"]
    assert [field(record, "WARC-Target-URI") for record in blocks] == [f"urn:blocks:{URL}"] * 2
    document = json.loads(blocks[0].body)
    cut = [FIRST[block["start"] : block["end"]] for block in document["blocks"]]
    assert any(b"The first paragraph." in each for each in cut)
    export("export", "warc", URL, "--output", tmp_path / "bare", "--blocks", "no")
    assert not [record for record in records(tmp_path / "bare") if record.rec_type == "metadata"]


def test_an_index_and_lines_go_to_stdout(export: Run) -> None:
    done = export("export", "cdxj", "--output", "-")
    lines = done.stdout.splitlines()
    assert lines == sorted(lines)
    assert len(lines) == 8
    assert done.stderr.splitlines()[-1] == "8 records"
    found = [json.loads(line) for line in export("export", "jsonl", URL, "--output", "-").stdout.splitlines()]
    (change,) = [line for line in found if line["type"] == "change"]
    assert [each["change"] for each in change["changes"] if each["change"] != "UNCHANGED"] == ["MODIFIED"]


def test_the_history_of_a_page_opens_without_a_server(export: Run, tmp_path: Path) -> None:
    done = export("export", "html", URL, "--output", tmp_path / "x.html")
    assert done.stdout == "4 records\n", done.stderr
    text = (tmp_path / "x.html").read_text()
    assert "<ins>Another</ins>" in text
    assert "<script" not in text
    assert "src=" not in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["pdf", "--output", "x"], "there is no format 'pdf': write one of warc, wacz, cdxj, jsonl, html\n"),
        (["csv", "--output", "x"], "; scrapy list --csv, scrapy changes --csv and scrapy crawl -O FILE.csv"),
        (["warc"], "give --output FOLDER"),
        (["warc", "--output", "-"], "stdout takes"),
        (["html", "--output", "x"], "write scrapy export html URL"),
        (["wacz", "--output", "x", "--since-last"], "--since-last goes with warc"),
        (["html", URL, "--output", "x", "--from", "2026"], "leave out --site, --topic, --from and --to"),
        (["jsonl", "--output", "x", "--blocks", "no"], "--blocks, --size and --revalidated-as go with warc"),
        (["cdxj", "--output", "x", "--size", "1MB"], "--blocks, --size and --revalidated-as go with warc"),
        (["warc", "--output", "x", "--size", "big"], "--size is 'big'"),
        (["wacz", "--output", "x", "--key", "none.pem"], "none.pem cannot be read"),
    ],
)
def test_wrong_use_is_refused(export: Run, words: list[str], message: str) -> None:
    done = export("export", *words)
    assert done.returncode == 2
    assert message in done.stderr


def test_nothing_chosen_is_nothing_found(export: Run, tmp_path: Path) -> None:
    done = export("export", "wacz", "http://nowhere.example/", "--output", tmp_path / "x.wacz")
    assert done.returncode == 1
    assert not (tmp_path / "x.wacz").exists()


def test_a_package_holds_index_pages_and_digests_and_is_signed(export: Run, tmp_path: Path) -> None:
    key = ec.generate_private_key(ec.SECP384R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    (tmp_path / "key.pem").write_bytes(pem)
    path = tmp_path / "x.wacz"
    done = export("export", "wacz", "--output", path, "--key", tmp_path / "key.pem")
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(path) as package:
        assert {info.compress_type for info in package.infolist() if info.filename.endswith(".gz")} == {0}
        about = json.loads(package.read("datapackage.json"))
        assert (about["profile"], about["wacz_version"]) == ("data-package", "1.1.1")
        for resource in about["resources"]:
            data = package.read(resource["path"])
            assert resource["bytes"] == len(data)
            assert resource["hash"] == f"sha256:{sha256(data).hexdigest()}"
        digest = json.loads(package.read("datapackage-digest.json"))
        assert digest["hash"] == f"sha256:{sha256(package.read('datapackage.json')).hexdigest()}"
        signed = digest["signedData"]
        key.public_key().verify(der_of(signed["signature"]), digest["hash"].encode(), ec.ECDSA(SHA256()))
        assert b64decode(signed["publicKey"]) == key.public_key().public_bytes(
            Encoding.DER, PublicFormat.SubjectPublicKeyInfo
        )
        pages = [json.loads(line) for line in package.read("pages/pages.jsonl").splitlines()]
        assert [page.get("title") for page in pages] == ["All Pages", *["Page"] * 5]
        assert about["home"] == {"url": URL, "ts": "2026-01-01T00:00:00Z"}
        assert (about["mainPageUrl"], about["mainPageDate"]) == (URL, "2026-01-01T00:00:00Z")
        lines = gzip.decompress(package.read("indexes/index.cdx.gz")).splitlines()
        head, block = package.read("indexes/index.idx").decode().splitlines()
        assert (
            json.loads(block.split(" ", 2)[2])["length"] == package.getinfo("indexes/index.cdx.gz").file_size
        )
        assert head == '!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}'
        for line in lines:
            values = json.loads(line.split(b" ", 2)[2])
            warc = package.read(f"archive/{values['filename']}")
            record = next(ArchiveIterator(BytesIO(warc[int(values["offset"]) :])))
            assert field(record, "WARC-Target-URI") == values["url"]
        assert len(lines) == 7


def test_the_index_of_a_package_has_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wacz, "BLOCK_LINES", 3)
    lines = [f"com,example)/{number} 20260101000000 {{}}" for number in range(7)]
    file = BytesIO()
    package = wacz.Package(file, datetime(2026, 1, 1, tzinfo=UTC), "test")
    package.add_index(lines)
    package.close()
    with zipfile.ZipFile(file) as packed:
        index = packed.read("indexes/index.cdx.gz")
        _, *blocks = packed.read("indexes/index.idx").decode().splitlines()
    assert gzip.decompress(index).decode().splitlines() == lines
    for number, block in enumerate(blocks):
        *key, place = block.split(" ", 2)
        where = json.loads(place)
        member = index[where["offset"] :][: where["length"]]
        assert where["digest"] == f"sha256:{sha256(member).hexdigest()}"
        found = gzip.decompress(member).decode().splitlines()
        assert found == lines[3 * number :][:3]
        assert found[0].split(" ")[:2] == key
    assert len(blocks) == 3


def test_the_records_of_one_capture_have_one_date(export: Run, tmp_path: Path) -> None:
    export("export", "warc", "--output", tmp_path / "out")
    found = {field(each, "WARC-Record-ID"): each for each in records(tmp_path / "out")}
    pairs = [(each, found.get(field(each, "WARC-Concurrent-To"))) for each in found.values()]
    dates = [(field(each, "WARC-Date"), field(other, "WARC-Date")) for each, other in pairs if other]
    assert {each.rec_type for each, other in pairs if other} == {"request", "metadata"}
    assert all(one == other for one, other in dates)


def test_archived_files_are_exported_with_the_bytes_of_every_record(export: Run, tmp_path: Path) -> None:
    uri, files = f"sqlite:///{tmp_path}/c.db", [str(path) for path in inputs([str(WARCS)], tmp_path)]
    export("ingest", *files, uri=uri)
    done = export("export", "warc", "--output", tmp_path / "out", uri=uri)
    assert done.returncode == 0, done.stderr
    found = {
        (line.split(" ")[1], json.loads(line.split(" ", 2)[2])["digest"])
        for path in (tmp_path / "out").glob("*.cdxj")
        for line in path.read_text().splitlines()
    }
    lost = Counter[str]()
    for name in files:
        with suppress(WarcError):
            for item in read_pages(Path(name), lambda _: None):
                key = (timestamp(item.page.captured_at), f"sha256:{sha256(item.page.body).hexdigest()}")
                if item.page.body and key not in found:
                    lost[Path(name).name] += 1
    assert lost == EXCEPTIONS
