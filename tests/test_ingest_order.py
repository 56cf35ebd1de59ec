"""WARC files in any order: the same captures and blocks; revisits get their own bytes."""

from __future__ import annotations

import asyncio
import gzip
import os
import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from time import process_time

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import NotArchived
from archivebot.jobs import ingest as jobs
from archivebot.jobs.ingest import Ingested, by_date
from archivebot.models import Change, Kind, Outcome
from archivebot.storage import open_store
from archivebot.timestamps import parse_time
from archivebot.warc import first_date
from archivebot.warc.payload import digest_of
from archivebot.warc.reader import BEGINNING
from tests.factories import html
from tests.servers import mongo_server, mongo_uri
from tests.test_ingest import URL, record_of

__all__ = ["mongo_server", "mongo_uri"]

HEADING = "The council of the town met on Monday and heard the report of the harbour master in full."
TEXTS = [
    f"On day {day} the harbour took {day * 7} ships, of which {day + 2} carried timber." for day in range(9)
]
IDENTICAL = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
UNCHANGED = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"


@pytest.fixture(params=["sqlite", pytest.param("mongodb", marks=pytest.mark.long)])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Archive]:
    """An empty archive in each store."""
    uri = f"sqlite:///{tmp_path}/a.db"
    if request.param == "mongodb":
        uri = request.getfixturevalue("mongo_uri")
    with closing(opened(uri)) as archive:
        yield archive


def opened(uri: str) -> Archive:
    return Archive(open_store(uri), ArchiveConfig(uri=uri))


def ingest(archive: Archive, *paths: Path) -> Ingested:
    """Put files into an archive in this order, as the command does with each."""
    every = Ingested("all")
    for path in paths:
        (result,) = asyncio.run(jobs.ingest(archive, [path]))
        every.kinds += result.kinds
        every.known += result.known
    return every


def day(number: int) -> str:
    return f"2020-01-{number:02d}T00:00:00Z"


def page(number: int) -> bytes:
    return html(HEADING, TEXTS[number])


@dataclass
class Files:
    """Files in the making, each of one record."""

    folder: Path

    def response(self, number: int, body: bytes, **fields: str) -> Path:
        path = self.folder / f"{number}-{len(list(self.folder.iterdir()))}.warc"
        block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
        more = {"WARC-Payload-Digest": digest_of(body)} | named(fields)
        path.write_bytes(record_of(block, "response", day(number), more.pop("URL", URL), more))
        return path

    def revisit(self, number: int, profile: str = IDENTICAL, **fields: str) -> Path:
        path = self.folder / f"{number}-{len(list(self.folder.iterdir()))}.warc"
        more = {"WARC-Profile": profile} | named(fields)
        path.write_bytes(record_of(b"", "revisit", day(number), more.pop("URL", URL), more))
        return path


def named(fields: dict[str, str]) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in fields.items()}


@pytest.fixture
def files(tmp_path: Path) -> Files:
    folder = tmp_path / "warcs"
    folder.mkdir()
    return Files(folder)


def body_at(archive: Archive, number: int, url: str = URL) -> bytes:
    return archive.body(archive.at(url, parse_time(day(number))))


def state(archive: Archive) -> set[tuple[str, datetime, Outcome, Kind, str | None]]:
    """What of the captures must not depend on the order in which they came."""
    return {
        (capture.url, capture.captured_at, capture.outcome, capture.kind, capture.digest)
        for _, url in archive.pages()
        for capture in archive.captures(url)
    }


# Revisits


@pytest.mark.long
def seconds_of_revisits(folder: Path, number: int) -> float:
    """Return the CPU seconds of an ingest of one page and that many revisits of it."""
    path, store = folder / f"{number}.warc", folder / f"{number}.db"
    named_by = {"WARC-Payload-Digest": digest_of(page(1))}
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page(1)
    first = datetime(2020, 1, 1, tzinfo=UTC)
    times = [f"{first + timedelta(hours=each):%Y-%m-%dT%H:%M:%SZ}" for each in range(1 + number)]
    records = [record_of(block, "response", times[0], URL, named_by)]
    records += [
        record_of(b"", "revisit", time, URL, named_by | {"WARC-Profile": IDENTICAL}) for time in times[1:]
    ]
    path.write_bytes(b"".join(records))
    store.unlink(missing_ok=True)
    with closing(opened(f"sqlite:///{store}")) as archive:
        started = process_time()
        ingest(archive, path)
        seconds = process_time() - started
        assert len(list(archive.captures(URL))) == 1 + number
    return seconds


def test_twice_the_revisits_take_at_most_some_twice_the_time(tmp_path: Path) -> None:
    for _ in range(5):  # others may work on this machine, too
        if seconds_of_revisits(tmp_path, 800) <= 2.5 * seconds_of_revisits(tmp_path, 400):
            return
    pytest.fail("800 revisits take above two and a half times as long as 400")


def test_a_revisit_has_the_body_of_its_digest_not_that_of_the_day_before(
    archive: Archive, files: Files
) -> None:
    june, july = files.response(1, page(1)), files.response(2, page(2))
    revisit = files.revisit(3, WARC_Payload_Digest=digest_of(page(1)))
    assert ingest(archive, june, july, revisit).kinds == {"new": 1, "changed": 2}
    assert body_at(archive, 3) == page(1)


def test_a_revisit_waits_for_an_original_that_comes_in_a_later_call(archive: Archive, files: Files) -> None:
    july = files.response(2, page(2))
    revisit = files.revisit(3, WARC_Payload_Digest=digest_of(page(1)))
    assert ingest(archive, july, revisit).kinds == {"new": 1, "unresolved": 1}
    with pytest.raises(NotArchived, match="ingest the file that holds them"):
        body_at(archive, 3)
    assert body_at(archive, 2) == page(2)
    assert ingest(archive, revisit).known == 1
    june = files.response(1, page(1), URL="http://example.com/other")
    assert ingest(archive, june).kinds == {"new": 1, "changed": 1}
    assert body_at(archive, 3) == page(1)
    assert [capture.outcome for capture in archive.captures(URL)] == [Outcome.FETCHED] * 2
    assert ingest(archive, revisit, june, july).known == 3


def test_a_capture_that_a_revisit_refers_to_counts_only_with_the_right_digest(
    archive: Archive, files: Files
) -> None:
    refers = {"WARC_Refers_To_Target_URI": URL, "WARC_Refers_To_Date": day(1)}
    right = files.revisit(3, **refers)
    wrong = files.revisit(4, WARC_Payload_Digest=digest_of(page(2)), **refers)
    assert ingest(archive, right, wrong).kinds == {"unresolved": 2}
    assert ingest(archive, files.response(1, page(1))).kinds == {"new": 1, "revisit": 1}
    assert body_at(archive, 3) == page(1)
    with pytest.raises(NotArchived):
        body_at(archive, 4)
    assert ingest(archive, files.response(2, page(2))).kinds == {"changed": 2}
    assert body_at(archive, 4) == page(2)


def test_a_coded_payload_is_found_by_the_digest_of_its_coded_bytes(archive: Archive, tmp_path: Path) -> None:
    coded = gzip.compress(page(1), mtime=0)
    block = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Type: text/html\r\n\r\n" + coded
    more = {"WARC-Payload-Digest": digest_of(coded)}
    path = tmp_path / "x.warc"
    path.write_bytes(
        record_of(block, "response", day(1), URL, more) + record_of(b"", "revisit", day(2), URL, more)
    )
    assert ingest(archive, path).kinds == {"new": 1, "revisit": 1}
    assert body_at(archive, 2) == page(1)


def test_a_revisit_of_a_revisit_is_resolved_through_both(archive: Archive, files: Files) -> None:
    last = files.revisit(3, WARC_Refers_To_Target_URI=URL, WARC_Refers_To_Date=day(2))
    middle = files.revisit(2, WARC_Refers_To_Target_URI=URL, WARC_Refers_To_Date=day(1))
    ingest(archive, last, middle, files.response(1, page(1)))
    assert [body_at(archive, number) for number in (1, 2, 3)] == [page(1)] * 3


def test_a_revisit_with_a_head_has_its_own_headers_and_target(archive: Archive, tmp_path: Path) -> None:
    moved, digest = "http://example.com/moved", {"WARC-Payload-Digest": digest_of(page(1))}
    first = b"HTTP/1.1 302 Found\r\nLocation: /first\r\nContent-Type: text/html\r\n\r\n" + page(1)
    own, second = b"HTTP/1.1 200 OK\r\nX-Own: 1\r\n\r\n", b"HTTP/1.1 302 Found\r\nLocation: /second\r\n\r\n"
    path = tmp_path / "x.warc"
    path.write_bytes(
        record_of(second, "revisit", day(1), moved, digest)
        + record_of(first, "response", day(2), moved, digest)
        + record_of(own, "revisit", day(3), URL, digest)
    )
    ingest(archive, path)
    (found,) = archive.captures(URL)
    assert (found.outcome, found.headers, found.location) == (Outcome.FETCHED, (("X-Own", "1"),), None)
    targets = [capture.location for capture in archive.captures(moved)]
    assert targets == ["http://example.com/second", "http://example.com/first"]


def test_a_304_without_a_name_means_what_was_there_before_it(archive: Archive, files: Files) -> None:
    first, unchanged, between = (
        files.response(1, page(1)),
        files.revisit(5, UNCHANGED),
        files.response(3, page(3)),
    )
    ingest(archive, unchanged, first)
    assert body_at(archive, 5) == page(1)
    ingest(archive, between)
    assert body_at(archive, 5) == page(3)
    assert ingest(archive, unchanged, first, between).known == 3


def test_a_record_of_the_first_second_of_all_times_is_stored_as_any_other(
    archive: Archive, tmp_path: Path
) -> None:
    first = "0001-01-01T00:00:00Z"  # what Go writes for a time that nobody has set
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page(1)
    refers = {"WARC-Refers-To-Target-URI": URL, "WARC-Refers-To-Date": first, "WARC-Profile": IDENTICAL}
    path = tmp_path / "x.warc"
    path.write_bytes(
        record_of(block, "response", first, URL) + record_of(b"", "revisit", day(2), URL, refers)
    )
    assert ingest(archive, path).kinds == {"new": 1, "revisit": 1}
    assert body_at(archive, 2) == page(1)
    assert ingest(archive, path).known == 2


def test_a_payload_is_remembered_once_for_each_record(
    archive: Archive, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    revisits, urls = archive._store.revisits, list[str]()

    def remember(payload: str, url: str, digest: str, again: bool) -> None:
        urls.append(url)
        remembered(payload, url, digest, again)

    remembered = revisits.remember
    monkeypatch.setattr(revisits, "remember", remember)
    one, two = files.response(1, page(1)), files.revisit(2, WARC_Payload_Digest=digest_of(page(1)))
    for paths, count in (((two,), 0), ((one,), 2), ((one,), 1), ((two,), 1)):
        urls.clear()
        ingest(archive, *paths)
        assert len(urls) == count


# Order


def test_an_unchanged_block_keeps_its_lineage_whatever_came_first(archive: Archive, files: Files) -> None:
    paths = [files.response(number, page(number)) for number in range(1, 6)]
    ingest(archive, *reversed(paths))
    captures = archive.captures(URL)
    assert [capture.kind for capture in captures] == [Kind.NEW] + [Kind.CHANGED] * 4
    versions = [archive.seen(capture) for capture in captures]
    lineages = {archive.blocks(version)[0][0].lineage for version in versions}
    assert len(lineages) == 1
    for before, after in pairwise(versions):
        changes = [change.change for change in archive.delta(URL, before, after).changes]
        assert changes == [Change.UNCHANGED, Change.MODIFIED]


def test_a_version_between_two_others_continues_the_blocks_of_both(archive: Archive, files: Files) -> None:
    old, new = "An old notice about the bridge.", "A new report on the lighthouse keeper."
    before, after = files.response(1, html(HEADING, old)), files.response(9, html(HEADING, new))
    between = files.response(5, html(HEADING, old, new))
    ingest(archive, before, after)
    published = [block.lineage for block, _ in archive.blocks(archive.version(URL, 2))]
    ingest(archive, between)
    first, middle, last = (archive.seen(capture) for capture in archive.captures(URL))
    assert [block.lineage for block, _ in archive.blocks(last)] == published
    shared = [{block.lineage for block, _ in archive.blocks(version)} for version in (first, middle, last)]
    assert shared[0] <= shared[1]
    assert shared[2] <= shared[1]


def test_the_visit_behind_a_new_one_is_judged_again(archive: Archive, files: Files) -> None:
    later = files.response(5, page(1))
    assert ingest(archive, later).kinds == {"new": 1}
    ingest(archive, files.response(1, page(1)))
    assert [capture.kind for capture in archive.captures(URL)] == [Kind.NEW, Kind.REVISIT]
    ingest(archive, files.response(3, page(3)))
    assert [capture.kind for capture in archive.captures(URL)] == [Kind.NEW, Kind.CHANGED, Kind.CHANGED]


@pytest.mark.parametrize("seed", range(6))
def test_any_order_of_files_gives_the_same_captures(seed: int, files: Files, tmp_path: Path) -> None:
    other = "http://example.com/copy"
    paths = [
        *(files.response(number, page(number)) for number in range(1, 5)),
        files.response(5, page(2)),
        files.response(6, page(6), URL=other),
        files.revisit(6, WARC_Payload_Digest=digest_of(page(1))),
        files.revisit(7, WARC_Payload_Digest=digest_of(page(7))),
        files.revisit(8, WARC_Refers_To_Target_URI=URL, WARC_Refers_To_Date=day(3)),
        files.revisit(9, WARC_Payload_Digest=digest_of(page(4)), URL=other),
        files.revisit(10, UNCHANGED),
        files.revisit(11, WARC_Refers_To_Target_URI=URL, WARC_Refers_To_Date=day(8)),
        files.revisit(12, WARC_Refers_To_Target_URI=URL, WARC_Refers_To_Date=day(12)),
    ]
    shuffled = random.Random(seed).sample(paths, len(paths))
    states = []
    for name, order in (("sorted", paths), ("shuffled", shuffled)):
        with closing(opened(f"sqlite:///{tmp_path}/{name}.db")) as archive:
            ingest(archive, *order)
            states.append(state(archive))
            count = len(states[-1])
            assert count == len(paths)
            again = ingest(archive, *random.Random(seed + 100).sample(paths, len(paths)))
            assert (again.known, again.kinds) == (len(paths), {})
            assert archive.verify()[1] == []
            assert body_at(archive, 8) == page(3)
            assert body_at(archive, 9, other) == page(4)
    assert states[0] == states[1]


# The order of files of one call


def test_the_files_of_one_call_are_taken_by_their_dates(files: Files) -> None:
    late, early = files.response(9, page(1)), files.response(2, page(2))
    none = files.folder / "none"
    none.write_bytes(b"no WARC")
    assert by_date([late, none, early]) == [2, 0, 1]


def test_the_first_date_of_a_file_is_looked_for_at_its_beginning_only(tmp_path: Path) -> None:
    day = "2020-01-01T00:00:00Z"
    broken = record_of(b"", "resource", "yesterday", URL)
    large = record_of(bytes(2 * BEGINNING), "resource", day, URL)
    files = {
        "x.warc": broken + large,
        "x.warc.gz": gzip.compress(broken) + gzip.compress(large),
        "late": bytes(BEGINNING) + large,
        "late.gz": os.urandom(BEGINNING) + gzip.compress(large),
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    dates = [first_date(tmp_path / name) for name in files]
    assert dates == [datetime(2020, 1, 1, tzinfo=UTC)] * 2 + [None] * 2
