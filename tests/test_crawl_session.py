"""The archive of a crawl: opened once, closed last, nothing acknowledged is ever lost."""

import asyncio
import json
import signal
import threading
import time
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.crawl.session import ArchiveSession
from archivebot.exceptions import StorageError
from tests.conftest import Crawl
from tests.mockserver import MockServer, Reply, html, markup


def stored(crawl: Crawl) -> dict[str, int]:
    archive = Archive.open(ArchiveConfig(uri=crawl.uri))
    try:
        return {url: len(archive.captures(url)) for url in archive_urls(archive)}
    finally:
        archive.close()


def archive_urls(archive: Archive) -> list[str]:
    return [url for _, url in archive._store.urls("", "\uffff")]


def test_all_work_runs_in_order_on_one_other_thread(tmp_path: Path) -> None:
    async def work() -> None:
        session = ArchiveSession(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db"))
        done: list[int] = []

        def note(number: int) -> str:
            time.sleep(0.01 * (3 - number))
            done.append(number)
            return threading.current_thread().name

        names = await asyncio.gather(*(session.run(note, number) for number in range(3)))
        assert done == [0, 1, 2]
        assert len(set(names)) == 1
        assert threading.current_thread().name not in names
        await session.close()

    asyncio.run(work())


def test_an_archive_that_cannot_be_opened_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        ArchiveSession(ArchiveConfig(uri=f"sqlite:///{tmp_path}/no/such/folder/a.db"))


def test_the_archive_closes_after_the_last_item(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": html("/a", "/b"), "/a": html(), "/b": html()}
    extensions = {
        "archivebot.crawl.session.ArchiveSession": 1,
        "archivebot.crawl.pace.HostPace": 2,
        "archivebot.crawl.dispatcher.Dispatcher": 3,
        "tests.probes.OrderWitness": 4,
    }
    crawled = crawl("-s", f"EXTENSIONS={json.dumps(extensions)}", seeds=site.url())
    assert crawled.code == 0
    assert crawled.stat("probe/closed") == 1
    assert crawled.stat("probe/late") == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_crawl_loses_nothing_that_was_fetched(site: MockServer, crawl: Crawl, number: int) -> None:
    links = [f"/{page}" for page in range(300)]
    site.routes |= {link: Reply(markup([], text=link * 50), delay=0.02) for link in links}
    site.routes |= {"/": html("/busy", *links), "/busy": Reply(b"", 503, (("Retry-After", "60"),))}
    process = crawl.start(seeds=site.url())
    while len(site.asked) < 25:
        time.sleep(0.01)
    process.send_signal(number)
    crawled = crawl.finish(process)
    assert crawled.code == 0
    asked = {site.url(path) for path in site.paths()}
    assert len(asked) < 300
    assert {record["url"] for record in crawled.records} == asked
    assert set(stored(crawl)) == asked
    assert crawled.of(site.url("/busy"))["outcome"] == "server_error"


def test_a_stopped_crawl_goes_on_where_it_was(site: MockServer, crawl: Crawl) -> None:
    links = [f"/{page}" for page in range(50)]
    site.routes |= {link: Reply(markup(["/", *links[:9]]), delay=0.02) for link in links}
    site.routes["/"] = html(*links)
    job = ("-s", f"JOBDIR={crawl.folder}/job")
    process = crawl.start(*job, seeds=site.url())
    while len(site.asked) < 20:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    crawl.finish(process)
    assert len(site.paths()) < 51
    assert crawl(*job, seeds=site.url()).code == 0
    assert sorted(site.paths()) == sorted(["/", *links])
    assert set(stored(crawl).values()) == {1}


def test_a_killed_crawl_leaves_an_archive_that_goes_on(site: MockServer, crawl: Crawl) -> None:
    links = [f"/{page}" for page in range(40)]
    site.routes |= {
        "/": html(*links),
        **{link: Reply(markup([], text=link * 9), delay=0.01) for link in links},
    }
    process = crawl.start(seeds=site.url())
    while len(site.asked) < 20:
        time.sleep(0.005)
    process.kill()
    crawl.finish(process)
    assert len(stored(crawl)) < 41
    crawled = crawl(seeds=site.url())
    assert crawled.code == 0
    assert len(stored(crawl)) == 41
