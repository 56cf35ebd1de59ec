"""Pages of files analysed in several processes: the same archive as with one, whatever ends on the way."""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient

from archivebot.archive import Archive
from archivebot.archive.process.readers import Readers
from archivebot.config import ArchiveConfig
from archivebot.crawl.reading.links import links_of
from archivebot.exceptions import StorageError
from archivebot.interrupt import children
from archivebot.jobs.analysis import LinksOf
from archivebot.jobs.ingest import Ingested, Progress, Queue, Visit, ingest
from archivebot.models import Capture, Snapshot
from archivebot.warc.payload import digest_of
from tests import probes
from tests.conftest import ROOT
from tests.factories import html
from tests.servers import mongo_server, mongo_uri
from tests.test_ingest import URL, Warc, record_of

__all__ = ["mongo_server", "mongo_uri"]

STARTS, ENDS = ("har", "ter", "shi", "but", "win"), ("bour", "n", "p", "ter")
WORDS = ["".join(pair) for pair in product(STARTS, ENDS)]
DAY = "2020-01-01T00:00:00Z"
LINKS = partial(links_of, skip_nofollow=True)


def text(seed: int, count: int) -> str:
    """Return sentences of random words, the same for the same seed."""
    chance = random.Random(seed)
    return " ".join(f"The {' '.join(chance.choices(WORDS, k=9))} went on." for _ in range(count))


def page(site: int, number: int, version: int) -> bytes:
    """Return a page: a menu, two paragraphs that stay, and one that changes every second version."""
    menu = "<nav>" + "".join(f"<a href=/{each}>Part {each}</a>" for each in range(6)) + "</nav>"
    repeated = 0 if number in (2, 3) else 100 * site + number  # pages 2 and 3 repeat one text
    edition = text(10_000 + 100 * repeated + version // 2, 1)
    return html(f"{menu}<p>{text(repeated, 12)}", f"Seen {version} times", edition)


def record(day: int, url: str, body: bytes, status: str = "200 OK") -> bytes:
    block = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\n\r\n".encode() + body
    digest = {"WARC-Payload-Digest": digest_of(body)}
    return record_of(block, "response", f"2020-01-{day:02d}T00:00:00Z", url, digest)


def revisit(day: int, url: str, **more: str) -> bytes:
    fields = {name.replace("_", "-"): value for name, value in more.items()}
    return record_of(b"", "revisit", f"2020-01-{day:02d}T00:00:00Z", url, fields)


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Two files with the history of pages of three sites, of which one text is on several pages.

    Some records repeat others, of the same URL and of others, before and after them in the files.
    """
    urls = {(site, number): f"http://site{site}.example/{number}" for site in range(3) for number in range(5)}
    records = [
        record(1 + version, url, page(*at, version)) for version in range(6) for at, url in urls.items()
    ]
    first, last = urls[0, 0], urls[2, 4]
    profile = "http://netpreserve.org/warc/1.1/revisit/server-not-modified"
    records[20:20] = [revisit(4, first, WARC_Payload_Digest=digest_of(page(2, 4, 5)))]  # it comes later
    records[40:40] = [
        revisit(3, last, WARC_Payload_Digest=digest_of(page(0, 0, 0))),
        revisit(3, last + "/copy", WARC_Payload_Digest=digest_of(page(2, 4, 0))),
        revisit(4, first, WARC_Profile=profile),
        record(5, urls[1, 1], html("Too many requests"), "429 Too Many Requests"),
        record(1, urls[1, 2], page(1, 2, 0)),  # the same visit once more
    ]
    records.append(revisit(20, first, WARC_Payload_Digest=digest_of(page(1, 1, 3))))
    found = [tmp_path / "early.warc", tmp_path / "late.warc"]
    found[0].write_bytes(b"".join(records[:50]))
    found[1].write_bytes(b"".join(records[50:]))
    return found


def config_of(uri: str) -> ArchiveConfig:
    Archive.open(config := ArchiveConfig(uri=uri)).close()
    return config


def whole(config: ArchiveConfig) -> list[object]:
    """Return all that an archive holds of its pages; ids are left out, since MongoDB gives random ones."""
    with closing(Archive.open(config)) as archive:
        assert archive.verify()[1] == []
        found: list[object] = [archive.totals()]
        for _, url in archive.pages():
            found += archive.captures(url)
            for version in archive._store.versions(url):
                found += [replace(version, id=0, base=None), archive._store.frame(version.id)]
            found.append(sorted(archive.links_from(url), key=lambda edge: edge.target))
            found += archive.fingerprints.marks(url)
        return found


def run(
    config: ArchiveConfig,
    paths: list[Path],
    processes: int,
    links: LinksOf = LINKS,
    progress: Callable[[Readers], Progress] | None = None,
) -> list[Ingested]:
    async def work() -> list[Ingested]:
        with closing(Archive.open(config)) as archive:
            if processes == 1:
                return await ingest(archive, paths, links)
            with Readers(config, processes) as readers:
                return await ingest(archive, paths, links, readers, progress and progress(readers))

    return asyncio.run(work())


@pytest.mark.long
@pytest.mark.parametrize("order", [1, -1])
def test_the_archive_is_the_same_with_one_process_and_with_several(
    order: int, files: list[Path], tmp_path: Path
) -> None:
    batches = [files] if order == 1 else [[files[1]], [files[0]]]  # in separate calls, the later file first
    several, one = (config_of(f"sqlite:///{tmp_path}/{name}.db") for name in ("several", "one"))
    results = [[run(config, batch, count) for batch in batches] for config, count in ((several, 3), (one, 1))]
    assert results[0] == results[1]
    kinds = sum((result.kinds for batch in results[0] for result in batch), start=Ingested("").kinds)
    assert {"new", "changed", "touched", "revisit", "failed"} <= {*kinds}
    with closing(Archive.open(several)) as archive:
        assert len(list(archive.fingerprints.marks())) > 3
    assert rows(tmp_path / "several.db") == rows(tmp_path / "one.db")


@pytest.mark.long
def test_an_archive_in_mongodb_is_the_same_with_several(files: list[Path], mongo_uri: str) -> None:
    results, archives = [], []
    for processes in (3, 1):
        config = config_of(mongo_uri)
        results.append(run(config, files[:1], processes))  # each record takes a second there
        archives.append(whole(config))
        with MongoClient[dict[str, object]](mongo_uri) as client:
            client.drop_database(client.get_default_database().name)
    assert results[0] == results[1]
    assert archives[0] == archives[1]


def rows(path: Path) -> list[str]:
    """Return an SQLite archive as statements, without the row of its random identity."""
    with closing(sqlite3.connect(path)) as database:
        return [line for line in database.iterdump() if not line.startswith('INSERT INTO "archive"')]


class Killer(Progress):
    """Kills the processes one after another, each time a few records were stored."""

    def __init__(self, readers: Readers) -> None:
        self.readers, self.killed = readers, set[int]()

    def stored(self, result: Ingested) -> None:
        if result.records % 10 == 0:
            pid = self.readers._readers[len(self.killed) % 2].worker.pid
            self.killed.add(pid)
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.mark.long
def test_processes_that_are_killed_are_replaced_and_no_page_is_lost(
    files: list[Path], tmp_path: Path
) -> None:
    killed, one = (config_of(f"sqlite:///{tmp_path}/{name}.db") for name in ("killed", "one"))
    killers: list[Killer] = []

    def progress(readers: Readers) -> Killer:
        killers.append(Killer(readers))
        return killers[0]

    assert run(killed, files, 2, progress=progress) == run(one, files, 1)
    assert len(killers[0].killed) > 2
    assert whole(killed) == whole(one)


@pytest.mark.long
def test_a_page_of_which_processes_die_is_stored_without_blocks(tmp_path: Path) -> None:
    path, urls = tmp_path / "x.warc", [f"http://a.example/{number}" for number in range(4)]
    bodies = [html(text(number, 9), "deadly" if number == 1 else "") for number in range(4)]
    path.write_bytes(b"".join(record(1, url, body) for url, body in zip(urls, bodies, strict=True)))
    config = config_of(f"sqlite:///{tmp_path}/a.db")
    (result,) = run(config, [path], 2, probes.die_of_links)
    assert result.kinds == {"new": 4}
    with closing(Archive.open(config)) as archive:
        captures = [archive.at(url, None) for url in urls]
        assert [archive.body(capture) for capture in captures] == bodies
        assert [capture.block_count > 0 for capture in captures] == [True, False, True, True]
        assert captures[1].reason.startswith("not cut: a process of the archive was killed by signal 9")


@pytest.mark.long
@pytest.mark.parametrize("is_small", [False, True])
def test_a_page_that_takes_too_much_memory_is_stored_without_blocks(tmp_path: Path, is_small: bool) -> None:
    path, urls = tmp_path / "x.warc.gz", [f"http://a.example/{number}" for number in range(2)]
    bodies = [b"<html>" + b"<img src=/1 a b c d e f g h>" * 560_000, html(text(1, 9))]
    with Warc(path) as warc:
        for url, body in zip(urls, bodies, strict=True):
            warc.raw(gzip.compress(record(1, url, body), 9 if is_small else 0))
    assert (path.stat().st_size < 100_000) is is_small  # a small file starts no process before its page
    config = config_of(f"sqlite:///{tmp_path}/a.db")
    command = [sys.executable, "-m", "scrapy", "ingest", str(path), "--json", "-s", "ARCHIVE_READERS=2"]
    environment = {**os.environ, "ARCHIVE_URI": config.uri}
    done = subprocess.run(command, cwd=ROOT, env=environment, check=True, timeout=60, stdout=subprocess.PIPE)
    assert json.loads(done.stdout)["files"][0]["kinds"] == {"new": 2}
    with closing(Archive.open(config)) as archive:
        captures = [archive.at(url, None) for url in urls]
        assert [archive.body(capture) for capture in captures] == bodies
        assert [capture.block_count > 0 for capture in captures] == [False, True]
        assert captures[0].reason == "not cut: it takes more memory than a process may have"


@pytest.mark.long
def test_when_the_store_fails_the_processes_end_and_what_is_stored_stays(
    files: list[Path], tmp_path: Path
) -> None:
    config = config_of(f"sqlite:///{tmp_path}/a.db")
    with closing(sqlite3.connect(tmp_path / "a.db")) as database, database:
        database.execute(
            "CREATE TRIGGER full BEFORE INSERT ON version WHEN (SELECT count(*) FROM version) >= 20"
            " BEGIN SELECT RAISE(ABORT, 'disk full'); END"
        )
    before = {*children}
    with pytest.raises(StorageError, match="disk full"):
        run(config, files, 2)
    assert {*children} == before
    with closing(sqlite3.connect(tmp_path / "a.db")) as database, database:
        database.execute("DROP TRIGGER full")
    with closing(Archive.open(config)) as archive:
        assert archive.totals()[""].versions == 20
    run(config, files, 2)
    one = config_of(f"sqlite:///{tmp_path}/one.db")
    run(one, files, 1)
    assert whole(config) == whole(one)


def many(path: Path) -> Path:
    """Write a file that is large enough for several processes, with damage in its middle."""
    with Warc(path) as warc:
        for number in range(120):
            warc.raw(record(1 + number // 6, f"http://a.example/{number % 6}", page(0, number % 6, number)))
            if number == 60:
                warc.raw(b"garbage between two records")
        warc.raw(b"-" * 300_000)
    return path


@pytest.mark.long
def test_the_command_analyses_pages_in_as_many_processes_as_the_setting_says(tmp_path: Path) -> None:
    path = many(tmp_path / "x.warc")
    printed = []
    for readers in ("1", "3"):
        environment = {**os.environ, "ARCHIVE_URI": f"sqlite:///{tmp_path}/{readers}.db"}
        command = [sys.executable, "-m", "scrapy", "ingest", str(path), "-s", f"ARCHIVE_READERS={readers}"]
        done = subprocess.run(
            command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True, check=False
        )
        assert done.returncode == 5
        printed.append(done.stderr)
    assert printed[0] == printed[1]
    assert "2 damaged" in printed[0]
    assert rows(tmp_path / "1.db") == rows(tmp_path / "3.db")


@pytest.mark.long
@pytest.mark.parametrize(("signals", "code"), [((signal.SIGINT,), 130), ((signal.SIGKILL,), -9)])
def test_an_ingest_that_is_stopped_leaves_no_process_and_is_completed_later(
    signals: tuple[signal.Signals, ...], code: int, tmp_path: Path
) -> None:
    path, config = many(tmp_path / "x.warc"), config_of(f"sqlite:///{tmp_path}/a.db")
    command = [sys.executable, "-m", "scrapy", "ingest", str(path), "-s", "ARCHIVE_READERS=2"]
    environment = {**os.environ, "ARCHIVE_URI": config.uri}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    with closing(Archive.reader(config)) as archive:
        wait_for(lambda: archive.totals()[""].captures > 5 if archive.totals() else False)
    started = processes_of(process.pid)
    assert len(started) == 2
    for number in signals:
        process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == code
    assert ("scrapy ingest: interrupted" in errors) is (code == 130)
    wait_for(lambda: not any(Path(f"/proc/{pid}/stat").exists() for pid in started))
    subprocess.run(command, cwd=ROOT, env=environment, check=False, capture_output=True)
    one = config_of(f"sqlite:///{tmp_path}/one.db")
    run(one, [path], 1)
    assert whole(config) == whole(one)


@pytest.mark.long
def test_a_process_that_hangs_is_replaced_and_no_page_is_lost(tmp_path: Path) -> None:
    path, config = many(tmp_path / "x.warc"), config_of(f"sqlite:///{tmp_path}/a.db")
    settings = ["-s", "ARCHIVE_READERS=2", "-s", "ARCHIVE_FRONTIER_PATIENCE=4"]
    command = [sys.executable, "-m", "scrapy", "ingest", str(path), *settings]
    environment = {**os.environ, "ARCHIVE_URI": config.uri}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    with closing(Archive.reader(config)) as archive:
        wait_for(lambda: archive.totals()[""].captures > 5 if archive.totals() else False)
    first = processes_of(process.pid)[0]  # the only one that has answered for sure
    os.kill(first, signal.SIGSTOP)
    try:
        _, errors = process.communicate(timeout=60)
    finally:
        for pid in (process.pid, first):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    assert process.returncode == 5, errors
    one = config_of(f"sqlite:///{tmp_path}/one.db")
    run(one, [path], 1)
    assert whole(config) == whole(one)


@pytest.mark.long
def test_an_ingest_of_files_without_pages_ends_at_the_first_ctrl_c(tmp_path: Path) -> None:
    path, config, count = tmp_path / "x.warc", config_of(f"sqlite:///{tmp_path}/a.db"), 20_000
    with path.open("wb") as file:
        for number in range(count):
            file.write(record_of(b"A text.", "conversion", DAY, f"http://a.example/{number}"))
    command = [sys.executable, "-m", "scrapy", "ingest", str(path)]
    environment = {**os.environ, "ARCHIVE_URI": config.uri}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    with closing(Archive.reader(config)) as archive:
        wait_for(lambda: any(True for _ in archive.attachments.all()))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        assert (process.returncode, errors) == (130, "scrapy ingest: interrupted\n")
        assert 0 < sum(1 for _ in archive.attachments.all()) < count


class Cancelling(Progress):
    """Cancels the ingest at the first damage, and notes what comes."""

    def __init__(self) -> None:
        self.came: list[str] = []

    def damaged(self, message: str) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        self.came.append("damage")

    def finished(self, result: Ingested) -> None:
        self.came.append("end")


@pytest.mark.parametrize(
    "following",
    [("conversion", DAY), ("continuation", DAY), ("response", "yesterday")],
)
def test_a_cancelled_ingest_ends_at_the_next_record_also_if_it_is_no_page(
    following: tuple[str, str], tmp_path: Path
) -> None:
    first, rest = (
        record_of(b"A text.", each, date, URL) for each, date in (("response", "yesterday"), following)
    )
    path, progress = tmp_path / "x.warc", Cancelling()
    path.write_bytes(first + rest)
    with closing(Archive.open(config_of(f"sqlite:///{tmp_path}/a.db"))) as archive:
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(ingest(archive, [path], progress=progress))
        assert not list(archive.attachments.all())
    assert progress.came == ["damage"]


def test_a_cancelled_ingest_ends_in_a_long_stretch_without_a_record(tmp_path: Path) -> None:
    path, progress, size = tmp_path / "x.warc", Cancelling(), 32 << 20
    path.write_bytes(record_of(b"A text.", "conversion", DAY, URL) + b"no record\n" * (size // 10))
    with closing(Archive.open(config_of(f"sqlite:///{tmp_path}/a.db"))) as archive:
        before = bytes_read()
        with pytest.raises(asyncio.CancelledError):
            asyncio.run(ingest(archive, [path], progress=progress))
        assert bytes_read() - before < size / 2
    assert progress.came == ["damage"]


def bytes_read() -> int:
    """Return the number of bytes that this process has read from files."""
    values = dict(line.split(": ") for line in Path("/proc/self/io").read_text().splitlines())
    return int(values["rchar"])


def processes_of(pid: int) -> list[int]:
    """Return the processes that a process has started."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def wait_for(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.long
def test_a_revisit_is_analysed_once_the_page_that_it_repeats_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[tuple[str, str]] = []
    add, read = Archive.add, Readers.run

    def added(archive: Archive, snapshot: Snapshot, *args: Any, **options: Any) -> Capture:
        done.append(("stored", snapshot.page.url))
        return add(archive, snapshot, *args, **options)

    async def called(readers: Readers, call: object, url: str = "") -> Any:
        done.append(("analysed", url))
        if url == again:
            is_begun.set()
        elif url == urls[-1]:
            with suppress(TimeoutError):
                await asyncio.wait_for(is_begun.wait(), 10)
        return await read(readers, call, url)

    monkeypatch.setattr(Archive, "add", added)
    monkeypatch.setattr(Readers, "run", called)
    urls = [f"http://a.example/{number}" for number in range(9)]
    again, is_begun = "http://a.example/again", asyncio.Event()
    records = [record(1, url, page(0, number, 0)) for number, url in enumerate(urls)]
    records.append(revisit(2, again, WARC_Payload_Digest=digest_of(page(0, 0, 0))))
    path = tmp_path / "x.warc"
    path.write_bytes(b"".join(records))
    (result,) = run(config_of(f"sqlite:///{tmp_path}/a.db"), [path], 2)
    assert result.kinds == {"new": 10}
    assert (
        done.index(("stored", urls[0])) < done.index(("analysed", again)) < done.index(("stored", urls[-1]))
    )


@pytest.mark.long
def test_revisits_of_large_pages_do_not_wait_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large = html(text(1, 100))
    monkeypatch.setattr("archivebot.jobs.ingest.MOST_BYTES", 3 * len(large))
    urls = [f"http://a.example/{number}" for number in range(20)]
    repeated = {"WARC_Payload_Digest": digest_of(large)}
    records = [record(1, urls[0], large), *(revisit(2, url, **repeated) for url in urls[1:])]
    path = tmp_path / "x.warc"
    path.write_bytes(b"".join(records))
    most = 0
    begun = Queue._begun

    async def watched(queue: Queue, visit: Visit, earlier: Sequence[Visit]) -> Any:
        nonlocal most
        found = await begun(queue, visit, earlier)
        most = max(most, queue._bytes)
        return found

    monkeypatch.setattr(Queue, "_begun", watched)
    (result,) = run(config_of(f"sqlite:///{tmp_path}/a.db"), [path], 2)
    assert result.kinds == {"new": 20}
    assert len(large) < most <= 3 * len(large)
