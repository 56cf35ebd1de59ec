"""Bodies and records that end early: kept as incomplete, never taken for the page."""

from __future__ import annotations

import asyncio
import gzip
import os
import random
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import brotli
import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.http.codings import zstd
from archivebot.jobs import ingest as jobs
from archivebot.jobs.ingest import Ingested
from archivebot.models import Kind, Outcome, Page
from archivebot.warc import Damage, WarcPage, read_pages
from tests.factories import html
from tests.test_ingest import URL, record_of
from tests.test_warc_payload import chunked

# Random cuts of each coding.
CUTS = int(os.environ.get("ARCHIVEBOT_TEST_CUTS", "20"))

PAGE = html(*(f"Paragraph {n} tells of ship {n * 7919 % 104729} and its cargo." for n in range(60)))

FORMS: dict[str, tuple[Callable[[bytes], bytes], str]] = {
    "gzip": (lambda data: gzip.compress(data, mtime=0), "Content-Encoding: gzip"),
    "deflate": (zlib.compress, "Content-Encoding: deflate"),
    "br": (brotli.compress, "Content-Encoding: br"),
    "zstd": (lambda data: bytes(zstd.compress(data)), "Content-Encoding: zstd"),
    "chunked": (chunked, "Transfer-Encoding: chunked"),
    "counted": (bytes, f"Content-Length: {len(PAGE)}"),
    "gzip in chunks": (
        lambda data: chunked(gzip.compress(data, mtime=0)),
        "Content-Encoding: gzip\r\nTransfer-Encoding: chunked",
    ),
}


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    with closing(Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db"))) as archive:
        yield archive


def response(payload: bytes, date: str, header: str) -> bytes:
    block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{header}\r\n\r\n".encode() + payload
    return record_of(block, "response", date, URL)


def ingest(archive: Archive, path: Path) -> Ingested:
    (result,) = asyncio.run(jobs.ingest(archive, [path]))
    return result


def pages_of(path: Path, data: bytes) -> tuple[list[Page], list[Damage]]:
    path.write_bytes(data)
    damages: list[Damage] = []
    found: list[WarcPage] = list(read_pages(path, damages.append))
    return [item.page for item in found], damages


@pytest.mark.parametrize("form", FORMS)
def test_a_cut_body_is_never_a_change_of_its_page(form: str, archive: Archive, tmp_path: Path) -> None:
    code, header = FORMS[form]
    whole, chance = code(PAGE), random.Random(form)
    longest = whole.rindex(b"0\r\n\r\n") + 2 if whole.endswith(b"0\r\n\r\n") else len(whole) - 1
    cuts = [longest, *(chance.randrange(1, longest) for _ in range(CUTS))]
    records = [
        response(whole[:cut], f"2021-01-01T00:{n // 60:02d}:{n % 60:02d}Z", header)
        for n, cut in enumerate(cuts)
    ]
    path = tmp_path / "x.warc"
    path.write_bytes(response(whole, "2020-01-01T00:00:00Z", header) + b"".join(records))
    result = ingest(archive, path)
    first, *others = archive.captures(URL)
    assert (first.kind, archive.body(first)) == (Kind.NEW, PAGE)
    assert {(capture.outcome, capture.kind) for capture in others} == {(Outcome.INCOMPLETE, Kind.FAILED)}
    assert {capture.status for capture in others} == {200}
    assert all(capture.reason for capture in others)
    assert len(others) == len(result.damaged) == len(cuts)
    assert archive.version_count(URL) == 1
    assert archive.body(archive.at(URL, None)) == PAGE


@pytest.mark.parametrize("pack", [bytes, lambda data: gzip.compress(data, mtime=0)])
def test_a_record_cut_at_the_end_of_its_file_keeps_what_is_there(
    pack: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    record = response(PAGE, "2020-01-01T00:00:00Z", "X: y")
    path = tmp_path / "x.warc"
    whole = pack(record)
    for missing in (6, 40, len(whole) // 2):
        (page,), damages = pages_of(path, whole[:-missing])
        if page.outcome is Outcome.FETCHED:  # only the end of the member is missing
            assert page.body == PAGE
        else:
            assert (page.outcome, page.status) == (Outcome.INCOMPLETE, 200)
            assert PAGE.startswith(page.body)
        assert len(damages) == 1
    assert page.outcome is Outcome.INCOMPLETE


def test_a_plain_record_without_its_last_bytes_is_incomplete(tmp_path: Path) -> None:
    record = response(PAGE, "2020-01-01T00:00:00Z", "X: y")
    (page,), damages = pages_of(tmp_path / "x.warc", record[:-5])
    assert (page.outcome, page.body) == (Outcome.INCOMPLETE, PAGE[:-1])
    assert page.reason == damages[0].reason
    (page,), damages = pages_of(tmp_path / "x.warc", record[:-4])
    assert (page.outcome, page.body, damages) == (Outcome.FETCHED, PAGE, [])


def test_a_revisit_of_a_cut_payload_is_no_better(archive: Archive, tmp_path: Path) -> None:
    cut = gzip.compress(PAGE, mtime=0)[:-20]
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    refers = {"WARC-Refers-To-Target-URI": URL, "WARC-Refers-To-Date": "2020-01-01T00:00:00Z"}
    path = tmp_path / "x.warc"
    path.write_bytes(
        record_of(head + b"Content-Encoding: gzip\r\n\r\n" + cut, "response", "2020-01-01T00:00:00Z", URL)
        + record_of(head + b"\r\n", "revisit", "2020-01-02T00:00:00Z", URL, refers)
    )
    ingest(archive, path)
    assert [capture.outcome for capture in archive.captures(URL)] == [Outcome.INCOMPLETE] * 2
