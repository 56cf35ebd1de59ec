"""The archive of a crawl: opened once, closed last, nothing acknowledged is ever lost."""

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.crawl.process.session import ArchiveSession
from archivebot.exceptions import NotArchived, StorageError
from archivebot.models import Snapshot
from tests.conftest import ROOT, Crawl
from tests.factories import URL, make_page
from tests.mockserver import MockServer, Reply, html, markup
from tests.test_crawl_frontier import wait_for
from tests.test_pipelines import stages


def stored(crawl: Crawl) -> dict[str, int]:
    archive = Archive.open(ArchiveConfig(uri=crawl.uri))
    try:
        return {url: len(archive.captures(url)) for url in archive_urls(archive)}
    finally:
        archive.close()


def archive_urls(archive: Archive) -> list[str]:
    return [url for _, url in archive._store.urls("", "\uffff")]


def snapshot(number: int) -> Snapshot:
    return Snapshot(make_page(b"<p>edition %d" % number, day=number), None)


@pytest.fixture
def config(tmp_path: Path) -> ArchiveConfig:
    return ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")


def test_all_work_is_done_in_order(config: ArchiveConfig) -> None:
    async def work() -> None:
        session = ArchiveSession(config)
        added = [session.run(Archive.add, snapshot(number)) for number in range(5)]
        counted = session.run(Archive.version_count, URL)
        *captures, versions = await asyncio.gather(*added, counted)
        assert [capture.number for capture in captures] == [1, 2, 3, 4, 5]
        assert versions == 5
        await session.close()

    asyncio.run(work())


@pytest.mark.long
def test_pages_of_any_size_go_there_and_back_at_once(config: ArchiveConfig) -> None:
    bodies = {
        f"http://example.com/{number}": random.Random(number).randbytes(3_000_000) for number in range(4)
    }

    async def work() -> None:
        session = ArchiveSession(config)
        for _ in range(2):  # while the second pages go, the first ones come back
            await asyncio.gather(
                *(
                    session.run(Archive.add, Snapshot(make_page(body, url=url), None))
                    for url, body in bodies.items()
                ),
                *(session.run(Archive.stored, url) for url in bodies),
            )
        for url, body in bodies.items():
            assert (await session.run(Archive.stored, url))[1] == body
        await session.close()

    asyncio.run(work())


def test_an_error_of_ours_comes_back_as_itself_and_another_as_text(config: ArchiveConfig) -> None:
    async def work() -> None:
        session = ArchiveSession(config)
        with pytest.raises(NotArchived, match="has no version 7"):
            await session.run(Archive.version, URL, 7)
        with pytest.raises(RuntimeError, match="TypeError: object of type 'Archive'") as caught:
            await session.run(len)
        assert "Traceback" in caught.value.__notes__[0]
        with pytest.raises(RuntimeError, match="cannot pickle 'generator' object"):
            await session.run(Archive.pages)
        assert await session.run(Archive.version_count, URL) == 0
        await session.close()

    asyncio.run(work())


def test_whoever_no_longer_waits_does_not_disturb_the_others(config: ArchiveConfig) -> None:
    async def work() -> None:
        session = ArchiveSession(config)
        first, second = (asyncio.create_task(session.run(Archive.add, snapshot(number))) for number in (0, 1))
        await asyncio.sleep(0)
        first.cancel()
        assert (await second).number == 2
        await session.close()

    asyncio.run(work())


def test_all_who_wait_are_told_of_the_death_of_the_process(config: ArchiveConfig) -> None:
    async def work() -> None:
        session = ArchiveSession(config)
        os.kill(session.worker.pid, signal.SIGSTOP)
        waiting = [asyncio.create_task(session.run(Archive.version_count, URL)) for _ in range(3)]
        await asyncio.sleep(0)
        os.kill(session.worker.pid, signal.SIGKILL)
        answers = await asyncio.gather(*waiting, return_exceptions=True)
        assert [type(answer) for answer in answers] == [StorageError] * 3
        assert str(answers[0]).startswith("a process of the archive was killed by signal 9")
        with pytest.raises(StorageError):
            await session.run(Archive.version_count, URL)
        await session.close()

    asyncio.run(work())


async def opened(config: ArchiveConfig) -> ArchiveSession:
    session = ArchiveSession(config)
    await session.opened()
    return session


def test_an_archive_that_cannot_be_opened_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="does the folder exist"):
        asyncio.run(opened(ArchiveConfig(uri=f"sqlite:///{tmp_path}/no/such/folder/a.db")))


SCRIPT = """
import asyncio, os, signal, sys
from archivebot.config import ArchiveConfig
from archivebot.crawl.process.session import ArchiveSession

asyncio.run(ArchiveSession(ArchiveConfig(uri=sys.argv[1])).opened())
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.long
def test_the_process_ends_with_a_parent_that_is_killed(config: ArchiveConfig, tmp_path: Path) -> None:
    script = tmp_path / "crawl.py"  # a user's script, whose main module has no guard
    script.write_text(SCRIPT)
    ended = subprocess.run(
        [sys.executable, script, config.uri],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,  # it is read to its end, so until all are gone that may write
        text=True,
        timeout=30,
    )
    assert ended.returncode == -signal.SIGKILL
    assert ended.stderr == ""


def test_the_process_does_not_load_scrapy() -> None:
    modules = (
        "archivebot.archive.process.archivist",
        "archivebot.crawl.process.calls",
        "archivebot.jobs.analysis",
    )
    code = f"import {', '.join(modules)}, archivebot.crawl.reading.links, sys; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert {"scrapy", "twisted", "asyncio", "archivebot.archive"} & {*loaded.stdout.split()} == {
        "archivebot.archive"
    }


def test_the_archive_closes_after_the_last_item(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": html("/a", "/b"), "/a": html(), "/b": html()}
    extensions = {
        "tests.probes.WatchedSession": 1,
        "archivebot.crawl.scheduling.pace.HostPace": 2,
        "archivebot.crawl.scheduling.dispatcher.Dispatcher": 3,
    }
    crawled = crawl("-s", f"EXTENSIONS={json.dumps(extensions)}", seeds=site.url())
    assert crawled.code == 0
    assert crawled.stat("probe/closed") == 1
    assert crawled.stat("probe/late") == 0


@pytest.mark.long
def test_a_crawl_ends_when_the_process_of_its_archive_is_killed(site: MockServer, crawl: Crawl) -> None:
    links = [f"/{page}" for page in range(200)]
    site.routes |= {"/": html(*links), **{link: Reply(b"x", delay=0.01) for link in links}}
    crawled = crawl("-s", stages(**{"tests.probes.KilledArchive": 200}), seeds=site.url())
    assert crawled.code == 3
    assert "'finish_reason': 'storage_error'" in crawled.log
    assert "a process of the archive was killed by signal 9" in crawled.log
    assert crawl(seeds=site.url()).code == 0
    assert set(stored(crawl).values()) == {1}
    assert len(stored(crawl)) == 201


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_crawl_loses_nothing_that_was_fetched(site: MockServer, crawl: Crawl, number: int) -> None:
    links = [f"/{page}" for page in range(300)]
    site.routes |= {link: Reply(markup([], text=link * 50), delay=0.02) for link in links}
    site.routes |= {"/": html("/busy", *links), "/busy": Reply(b"", 503, (("Retry-After", "60"),))}
    command = crawl.command(seeds=site.url())
    process = subprocess.Popen(command, cwd=ROOT, text=True, stderr=subprocess.PIPE, start_new_session=True)
    wait_for(lambda: len(site.asked) >= 25, process)
    os.killpg(process.pid, number)  # as a terminal and a service manager do: to all processes of the crawl
    crawled = crawl.finish(process)
    assert crawled.code == 0
    asked = {site.url(path) for path in site.paths()}
    assert len(asked) < 300
    assert {record["url"] for record in crawled.records} == asked
    assert set(stored(crawl)) == asked
    assert crawled.of(site.url("/busy"))["outcome"] == "server_error"


@pytest.mark.long
def test_a_stopped_crawl_keeps_a_page_whose_links_are_still_on_their_way(
    site: MockServer, crawl: Crawl
) -> None:
    site.routes["/"] = html(*(f"/{number}" for number in range(9000)))
    process = crawl.start(seeds=site.url())

    def is_begun() -> bool:
        with (
            closing(sqlite3.connect(f"{crawl.folder}/archive.frontier.db")) as frontier,
            suppress(sqlite3.Error),
        ):
            return bool(frontier.execute("SELECT 1 FROM host WHERE queued > 0 AND leased > 0").fetchone())
        return False

    wait_for(is_begun, process)
    process.send_signal(signal.SIGINT)
    crawled = crawl.finish(process)
    assert crawled.code == 0
    assert crawled.of(site.url())["outcome"] == "fetched"


@pytest.mark.long
def test_a_stopped_crawl_goes_on_where_it_was(site: MockServer, crawl: Crawl) -> None:
    links = [f"/{page}" for page in range(50)]
    site.routes |= {link: Reply(markup(["/", *links[:9]]), delay=0.02) for link in links}
    site.routes["/"] = html(*links)
    job = ("-s", f"JOBDIR={crawl.folder}/job")
    process = crawl.start(*job, seeds=site.url())
    wait_for(lambda: len(site.asked) >= 20, process)
    process.send_signal(signal.SIGINT)
    crawl.finish(process)
    assert len(site.paths()) < 51
    assert crawl(*job, seeds=site.url()).code == 0
    assert sorted(site.paths()) == sorted(["/", *links])
    assert set(stored(crawl).values()) == {1}


@pytest.mark.long
def test_a_killed_crawl_leaves_an_archive_that_goes_on(site: MockServer, crawl: Crawl) -> None:
    links = [f"/{page}" for page in range(40)]
    site.routes |= {
        "/": html(*links),
        **{link: Reply(markup([], text=link * 9), delay=0.01) for link in links},
    }
    process = crawl.start(seeds=site.url())
    wait_for(lambda: len(site.asked) >= 20, process)
    process.kill()
    crawl.finish(process)
    assert len(stored(crawl)) < 41
    crawled = crawl(seeds=site.url())
    assert crawled.code == 0
    assert len(stored(crawl)) == 41
