"""scrapy ingest: WARC files through the same stages as a crawl."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from types import MappingProxyType
from typing import Any
from uuid import uuid4

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.models import Kind
from tests.commands import run_scrapy
from tests.factories import html

URL = "http://example.com/page"
TEXTS = ["The first paragraph of the page tells what it is about.", "The second one gives the details."]

Ingest = Callable[..., subprocess.CompletedProcess[str]]


class Warc:
    """A WARC file in the making, one gzip member per record."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._out = path.open("wb")

    def __enter__(self) -> Warc:
        return self

    def __exit__(self, *exc: object) -> None:
        self._out.close()

    def response(
        self, date: str, body: bytes, url: str = URL, status: str = "200 OK", **headers: str
    ) -> None:
        fields = {"Content-Type": "text/html"} | {name.title(): value for name, value in headers.items()}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        block = f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body
        self.raw(gzip.compress(record_of(block, "response", date, url)))

    def revisit(self, date: str, of_date: str, of_url: str = URL, url: str = URL) -> None:
        refers = {"WARC-Refers-To-Target-URI": of_url, "WARC-Refers-To-Date": of_date}
        self.raw(gzip.compress(record_of(b"", "revisit", date, url, refers)))

    def raw(self, data: bytes) -> None:
        self._out.write(data)


def record_of(
    block: bytes, kind: str, date: str, url: str, more: Mapping[str, str] = MappingProxyType({})
) -> bytes:
    """Write a WARC record."""
    fields = {
        "WARC-Type": kind,
        "WARC-Record-ID": f"<urn:uuid:{uuid4()}>",
        "WARC-Date": date,
        "WARC-Target-URI": url,
        "Content-Type": "application/http; msgtype=response",
        **more,
        "Content-Length": str(len(block)),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"WARC/1.1\r\n{head}\r\n".encode() + block + b"\r\n\r\n"


@pytest.fixture
def uri(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/a.db"


@pytest.fixture
def ingest(uri: str) -> Ingest:
    def run(*args: object) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "ARCHIVE_URI": uri}
        return run_scrapy(("ingest", *map(str, args), "--json"), environment=environment)

    return run


def opened(uri: str) -> Archive:
    return Archive.open(ArchiveConfig(uri=uri))


def record(result: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    (found,) = json.loads(result.stdout)["files"]
    assert isinstance(found, dict)
    return found


def test_pages_go_in_dated_by_their_records_and_twice_adds_nothing(
    ingest: Ingest, uri: str, tmp_path: Path
) -> None:
    with Warc(tmp_path / "x.warc.gz") as warc:
        warc.response("2020-01-01T00:00:00Z", html(*TEXTS))
        warc.response("2021-01-01T00:00:00Z", html(*TEXTS))
        warc.response("2022-01-01T00:00:00Z", html(TEXTS[0], "Something else stands here."))
    result = ingest(warc.path)
    assert result.returncode == 0, result.stderr
    assert record(result)["kinds"] == {"new": 1, "revisit": 1, "changed": 1}
    again = record(ingest(warc.path))
    assert (again["captures"], again["known"]) == (0, 3)
    archive = opened(uri)
    captures = archive.captures(URL)
    assert [f"{capture.captured_at:%Y}" for capture in captures] == ["2020", "2021", "2022"]
    assert captures[0].origin == "x.warc.gz:0"
    assert archive.body(captures[2]) == html(TEXTS[0], "Something else stands here.")
    archive.close()


def test_revisit_records_point_at_what_they_refer_to_also_of_another_url(
    ingest: Ingest, uri: str, tmp_path: Path
) -> None:
    with Warc(tmp_path / "x.warc.gz") as warc:
        warc.response("2020-01-01T00:00:00Z", html(*TEXTS))
        warc.response("2020-02-01T00:00:00Z", html(TEXTS[1]))
        warc.revisit("2020-03-01T00:00:00Z", "2020-01-01T00:00:00Z")
        warc.revisit("2020-03-02T00:00:00Z", "2020-01-01T00:00:00Z", url="http://example.com/copy")
        warc.revisit("2020-03-03T00:00:00Z", "2020-01-01T00:00:00Z", "http://x.org/", "http://x.org/")
    assert record(ingest(warc.path))["kinds"] == {"new": 2, "changed": 2, "unresolved": 1}
    archive = opened(uri)
    assert [capture.number for capture in archive.captures(URL)] == [1, 2, 1]
    assert archive.body(archive.at("http://example.com/copy", None)) == html(*TEXTS)
    (lost,) = archive.captures("http://x.org/")
    assert lost.kind is Kind.UNRESOLVED
    archive.close()


def test_a_304_of_a_response_record_repeats_the_visit_before(
    ingest: Ingest, uri: str, tmp_path: Path
) -> None:
    empty = {"WARC-Payload-Digest": "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"}
    with Warc(tmp_path / "x.warc.gz") as warc:
        warc.response("2020-01-01T00:00:00Z", html(*TEXTS))
        for month, more in ((2, {}), (3, empty)):
            block = b"HTTP/1.1 304 Not Modified\r\nETag: a\r\n\r\n"
            warc.raw(gzip.compress(record_of(block, "response", f"2020-0{month}-01T00:00:00Z", URL, more)))
    assert record(ingest(warc.path))["kinds"] == {"new": 1, "revisit": 2}
    with opened(uri) as archive:
        assert [capture.number for capture in archive.captures(URL)] == [1, 1, 1]
        assert archive.body(archive.at(URL, None)) == html(*TEXTS)


def test_a_304_of_a_damaged_page_is_stored_and_the_rest_goes_in(
    ingest: Ingest, uri: str, tmp_path: Path
) -> None:
    with Warc(tmp_path / "x.warc.gz") as warc:
        warc.response("2020-01-01T00:00:00Z", html(*TEXTS, "<a href=/next>The next page.</a>"))
    assert record(ingest(warc.path))["kinds"] == {"new": 1}
    with closing(sqlite3.connect(tmp_path / "a.db")) as database, database:
        database.execute("UPDATE frame SET data = x'00'")
    with Warc(tmp_path / "y.warc.gz") as warc:
        warc.response("2020-02-01T00:00:00Z", b"", status="304 Not Modified")
        warc.response("2020-02-01T00:00:00Z", html(*TEXTS), url="http://example.com/other")
    done = ingest(warc.path)
    assert done.returncode == 0, done.stderr
    assert record(done)["kinds"] == {"revisit": 1, "new": 1}


def test_a_visit_whose_bytes_are_missing_does_not_stop_what_reads_all_pages(
    ingest: Ingest, uri: str, tmp_path: Path
) -> None:
    with Warc(tmp_path / "x.warc.gz") as warc:
        long = [f"{text} {number}" for number in range(9) for text in TEXTS]
        for name in ("a", "b", "c"):
            warc.response("2020-01-01T00:00:00Z", html(*long), url=f"http://example.com/{name}")
        warc.revisit("2020-02-01T00:00:00Z", "2019-01-01T00:00:00Z", "http://x.org/", "http://example.com/c")
    assert record(ingest(warc.path))["kinds"] == {"new": 3, "unresolved": 1}
    environment = {**os.environ, "ARCHIVE_URI": uri}
    found = run_scrapy(("duplicates", "--json"), environment=environment)
    assert [(pair["a"], pair["b"]) for pair in json.loads(found.stdout)] == [
        ("http://example.com/a", "http://example.com/b")
    ]
    assert not run_scrapy(("template", "http://example.com/a"), environment=environment).returncode


def test_damaged_records_are_named_by_offset_and_the_rest_goes_in(
    ingest: Ingest, uri: str, tmp_path: Path
) -> None:
    with Warc(tmp_path / "x.warc.gz") as warc:
        warc.response("2020-01-01T00:00:00Z", html(TEXTS[0]))
        warc.raw(b"garbage between two records")
        warc.response("2021-01-01T00:00:00Z", html(TEXTS[1]))
    result = ingest(warc.path)
    assert result.returncode == 5
    found = record(result)
    assert found["captures"] == 2
    (damage,) = found["damaged"]
    assert f"x.warc.gz, offset {damage['offset']}" in result.stderr


def test_errors_redirects_and_odd_urls_are_captures_too(ingest: Ingest, uri: str, tmp_path: Path) -> None:
    with Warc(tmp_path / "x.warc.gz") as warc:
        warc.response("2020-01-01T00:00:00Z", b"", status="301 Moved", location="/new")
        warc.response("2021-01-01T00:00:00Z", b"<p>gone</p>", status="410 Gone")
        warc.response("2022-01-01T00:00:00Z", html(TEXTS[0]), url="http://bad host/a b")
    assert record(ingest(warc.path))["kinds"] == {"redirect": 1, "not_found": 1, "new": 1}
    archive = opened(uri)
    redirect, gone = archive.captures(URL)
    assert redirect.location == "http://example.com/new"
    assert archive.body(gone) == b"<p>gone</p>"
    (odd,) = [url for _, url in archive.pages() if "bad host" in url]
    assert archive.body(archive.at(archive.resolve(odd), None)) == html(TEXTS[0])
    archive.close()


def test_several_files_go_in_even_if_one_is_no_warc(ingest: Ingest, uri: str, tmp_path: Path) -> None:
    with Warc(tmp_path / "x.warc.gz") as warc:
        warc.response("2020-01-01T00:00:00Z", html(*TEXTS))
    (tmp_path / "notes.txt").write_text("no records here")
    result = ingest(tmp_path / "notes.txt", tmp_path / "missing.warc", warc.path)
    assert result.returncode == 5
    files = json.loads(result.stdout)["files"]
    assert [bool(file["error"]) for file in files] == [True, True, False]
    assert "missing.warc: " not in result.stderr
    assert files[2]["captures"] == 1


def test_each_record_is_stored_known_skipped_with_a_reason_or_damaged(ingest: Ingest, tmp_path: Path) -> None:
    page = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + html(*TEXTS)
    day = "2020-01-01T00:00:00Z"
    kinds = {
        "warcinfo": ("urn:x", b"software: x\r\n"),
        "request": (URL, b"GET / HTTP/1.1\r\n\r\n"),
        "metadata": (URL, b"fetchTimeMs: 5\r\n"),
        "conversion": (URL, b"text"),
        "continuation": (URL, b"rest"),
        "screenshot": (URL, b"picture"),
    }
    records = [record_of(block, kind, day, url) for kind, (url, block) in kinds.items()]
    records += [
        record_of(page, "response", day, URL),
        record_of(page, "response", day, URL),
        record_of(b"1.2.3.4", "response", day, "dns:example.com"),
        record_of(b"<p>text</p>", "resource", day, "urn:text:http://example.com/"),
        record_of(page, "response", "yesterday", URL),
    ]
    path = tmp_path / "x.warc"
    path.write_bytes(b"".join(records))
    done = ingest(path)
    found = record(done)
    assert found["skipped"] == {
        "warcinfo: describes the file": 1,
        "request: its head is kept with its answer, if the file has one": 1,
        "continuation: the rest of a record in another file": 1,
        "of a type that is not known": 1,
        "response: its URI is not of the web": 1,
    }
    assert found["attached"] == {"metadata": 1, "conversion": 1, "resource": 1}
    assert [damage["reason"] for damage in found["damaged"]] == [
        "WARC-Date 'yesterday' is missing or no date"
    ]
    ends = [
        found["captures"],
        found["known"],
        *(sum(found[name].values()) for name in ("attached", "skipped")),
    ]
    ends.append(len(found["damaged"]))
    assert (ends, sum(ends)) == ([1, 1, 3, 5, 1], len(records))
    assert "1 new; 1 were there already; 3 attached; 5 of other types; 1 damaged;" in done.stderr
