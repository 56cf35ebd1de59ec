"""How a crawl begins, goes on, waits for its frontier, and ends."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from scrapy.http import Response

from archivebot.exceptions import StorageError
from archivebot.frontier import Counts, State
from archivebot.models import Outcome
from tests.driven import SITE, begun, other_worker, prepared, until

A, B, C = (f"{SITE}{name}" for name in "abc")


@contextmanager
def frontier_away(folder: Path) -> Iterator[None]:
    """Take the file of the frontier away: what is asked can be read, and nothing can be written."""
    file = folder / "a.frontier.db"
    file.rename(folder / "away.db")
    yield
    (folder / "away.db").rename(file)


# Beginning and going on


def test_an_interrupted_crawl_goes_on_and_one_that_ended_begins_anew(tmp_path: Path) -> None:
    async def run() -> None:
        async with begun(tmp_path) as crawl:
            assert not crawl.dispatcher.resumed
            crawl.queue(A, B)
            assert await crawl.fetch() == A
            assert crawl.next() == B
        async with begun(tmp_path) as crawl:
            assert crawl.dispatcher.resumed
            assert crawl.crawler.stats.get_value("scheduler/enqueued") == 1
            assert await crawl.fetch() == B
            crawl.close("finished")
        async with begun(tmp_path) as crawl:
            assert not crawl.dispatcher.resumed
            assert crawl.frontier.counts() == Counts()

    asyncio.run(run())


@pytest.mark.parametrize("spare", [False, True])
def test_a_crawl_whose_archive_lost_its_pages_begins_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, spare: bool
) -> None:
    async def run() -> None:
        async with begun(tmp_path) as crawl:
            crawl.queue(A, B)
            await crawl.fetch()
        if not spare:
            (tmp_path / "a.db").unlink()
        async with begun(tmp_path) as crawl:
            assert crawl.dispatcher.resumed is spare
            assert crawl.frontier.counts() == (Counts(queued=1, done=1, answered=1) if spare else Counts())

    asyncio.run(run())
    assert ("The crawl starts over, because" in caplog.text) is not spare


def test_an_archive_that_cannot_be_opened_ends_the_crawl_before_it_began(tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("buy milk")

    async def run() -> None:
        crawl = prepared(tmp_path)
        crawl.engine.spider = crawl.crawler.spider
        with pytest.raises(StorageError):
            await crawl.dispatcher.open(crawl.crawler.spider)
        assert crawl.engine.spider is None

    asyncio.run(run())


def test_a_page_of_a_worker_who_died_is_asked_for_unless_it_is_stored(tmp_path: Path) -> None:
    async def run() -> None:
        async with begun(tmp_path) as crawl:
            crawl.queue(A)
            crawl.queue(B)
            for url in (A, B):
                assert crawl.next() == url
                await crawl.dispatcher.safe(url)
                request = crawl.request(url)
                crawl.dispatcher.response_downloaded(Response(url, request=request), request)
            await crawl.store(A)
        async with begun(tmp_path) as crawl:
            assert crawl.next() is None, "the archive is asked first"
            await until(lambda: crawl.next() == B)
            assert crawl.engine.looks
            assert crawl.state(A) == ("done", "stored before the crawl was interrupted")
            assert crawl.frontier.counts() == Counts(leased=1, done=1, answered=1)

    asyncio.run(run())


def test_an_archive_that_cannot_say_what_it_holds_ends_the_crawl(tmp_path: Path) -> None:
    async def run() -> None:
        async with begun(tmp_path) as crawl:
            crawl.queue(A)
            crawl.next()
            await crawl.dispatcher.safe(A)
        async with begun(tmp_path) as crawl:
            with closing(sqlite3.connect(tmp_path / "a.db")) as database:
                database.execute("DROP TABLE capture")
            assert crawl.next() is None
            await until(lambda: crawl.engine.reasons)
            assert crawl.engine.reasons == ["storage_error"]

    asyncio.run(run())


# Limits


def test_a_crawl_ends_at_its_page_limit_and_leases_no_more_than_it_has_room_for(tmp_path: Path) -> None:
    async def run() -> None:
        async with begun(tmp_path, {"pages": "2"}) as crawl:
            urls = [f"http://{name}.example/" for name in "abcd"]
            crawl.queue(*urls)
            assert [crawl.next() for _ in range(3)] == [*urls[:2], None]
            crawl.dispatcher.item_scraped(await crawl.store(urls[0], Outcome.TIMEOUT))
            assert crawl.next() == urls[2], "a page without an answer is not counted"
            for url in urls[1:3]:
                assert crawl.engine.reasons == []
                crawl.dispatcher.item_scraped(await crawl.store(url))
            await until(lambda: crawl.engine.reasons)
            assert crawl.engine.reasons == ["pages"]
            crawl.close("pages")
        async with begun(tmp_path, {"pages": "3"}) as crawl:
            assert crawl.dispatcher.resumed
            assert await crawl.fetch() == urls[3]

    asyncio.run(run())


def test_a_page_limit_that_another_worker_reached_ends_the_crawl(tmp_path: Path) -> None:
    async def run() -> None:
        async with begun(tmp_path, {"pages": "1"}) as crawl:
            other = other_worker(crawl, tmp_path)
            other.add([crawl.entry(A), crawl.entry(B)])
            assert other.lease() is not None
            other.settle(A, State.DONE, answered=True)
            other.close()
            assert crawl.next() is None
            await until(lambda: crawl.engine.reasons)
            assert crawl.engine.reasons == ["pages"]

    asyncio.run(run())


def test_a_run_ends_when_it_has_fetched_so_many_bytes(tmp_path: Path) -> None:
    async def run() -> None:
        async with begun(tmp_path, {"bytes": "1500"}) as crawl:
            crawl.queue(A, B, C)
            for expected in ([], ["bytes"]):
                url = crawl.next()
                assert url
                crawl.dispatcher.item_scraped(await crawl.store(url, body=url[-1:].encode() * 1000))
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                assert crawl.engine.reasons == expected
            crawl.close("bytes")
        async with begun(tmp_path, {"bytes": "1500"}) as crawl:
            assert crawl.dispatcher.resumed

    asyncio.run(run())


# Ending


def test_at_its_end_a_crawl_writes_what_waits_and_gives_its_leases_back(tmp_path: Path) -> None:
    async def run() -> None:
        async with begun(tmp_path) as crawl:
            crawl.queue(A, B)
            crawl.next()
            crawl.queue(C, source=A)
            other = other_worker(crawl, tmp_path)
            crawl.close("finished")
            assert other.counts() == Counts(queued=3)
            assert [known.ended for known in other.crawls()] == [""], "URLs are queued"
            other.close()

    asyncio.run(run())


@pytest.mark.parametrize(
    ("reason", "ended"), [("finished", "finished"), ("pages", "pages"), ("shutdown", ""), ("timeout", "")]
)
def test_only_a_crawl_that_ended_by_itself_is_over(tmp_path: Path, reason: str, ended: str) -> None:
    async def run() -> None:
        async with begun(tmp_path) as crawl:
            crawl.queue(A)
            await crawl.fetch()
            other = other_worker(crawl, tmp_path)
            crawl.close(reason)
            assert [known.ended for known in other.crawls()] == [ended]
            other.close()

    asyncio.run(run())


@pytest.mark.long
def test_a_crawl_waits_while_another_worker_may_find_more(tmp_path: Path) -> None:
    async def run() -> None:
        async with begun(tmp_path) as crawl:
            other = other_worker(crawl, tmp_path)
            other.add([crawl.entry(A)])
            assert other.lease() is not None
            assert crawl.next() is None
            assert crawl.dispatcher.pending()
            other.add([crawl.entry("http://b.example/")])
            assert crawl.next() is None, "it rests, and asks after a while"
            await until(lambda: crawl.engine.looks)
            other.settle(A, State.DONE)
            other.close()
            assert await crawl.fetch() == "http://b.example/"
            assert not crawl.dispatcher.pending()

    asyncio.run(run())


# Patience


@pytest.mark.long
def test_a_frontier_that_is_away_for_a_while_is_waited_for(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        async with begun(tmp_path) as crawl:
            crawl.queue(A)
            crawl.dispatcher.flush()
            crawl.queue(B)
            with frontier_away(tmp_path):
                assert crawl.next() is None
                assert not crawl.dispatcher.flush()
                crawl.dispatcher.reprioritise({A: 5.0})
            waiting = asyncio.ensure_future(crawl.dispatcher.safe(SITE))
            await until(waiting.done)
            assert crawl.engine.looks
            assert [crawl.next(), crawl.state(B)] == [A, ("queued", "")]
            assert crawl.engine.reasons == []

    asyncio.run(run())
    assert caplog.text.count("The frontier is unavailable, the crawl waits for it") == 1


@pytest.mark.long
def test_what_waits_is_written_when_the_frontier_is_back(tmp_path: Path) -> None:
    async def run() -> None:
        async with begun(tmp_path) as crawl:
            crawl.queue(A)
            with frontier_away(tmp_path):
                assert not crawl.dispatcher.flush()
            await until(lambda: crawl.engine.looks)
            assert crawl.state(A) == ("queued", "")
            crawl.queue(B)
            assert crawl.dispatcher.flush(), "nothing is waited for any more"

    asyncio.run(run())


def test_a_crawl_does_not_end_while_it_cannot_know_whether_anything_is_queued(tmp_path: Path) -> None:
    async def run() -> None:
        async with begun(tmp_path) as crawl:
            crawl.frontier.close()
            assert crawl.dispatcher.pending()

    asyncio.run(run())


@pytest.mark.long
def test_a_frontier_that_stays_away_ends_the_crawl_and_is_asked_no_more(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def run() -> None:
        async with begun(tmp_path, ARCHIVE_FRONTIER_PATIENCE=0.2) as crawl:
            crawl.queue(A)
            with frontier_away(tmp_path):
                assert crawl.next() is None
                with pytest.raises(StorageError, match="the crawl ended before the frontier took"):
                    await crawl.dispatcher.safe(SITE)
                await until(lambda: crawl.engine.reasons)
            assert crawl.engine.reasons == ["storage_error"]
            assert crawl.dispatcher.failed
            assert not crawl.dispatcher.pending()
            assert not crawl.dispatcher.flush()

    asyncio.run(run())
    assert caplog.text.count("The frontier stays away, so the crawl ends") == 1


def test_a_page_is_not_stored_when_the_crawl_ends_while_the_frontier_is_away(tmp_path: Path) -> None:
    async def run() -> None:
        async with begun(tmp_path) as crawl:
            with frontier_away(tmp_path):
                crawl.queue(A)
                assert crawl.next() is None
                crawl.engine.running = False
                with pytest.raises(StorageError):
                    await crawl.dispatcher.safe(SITE)

    asyncio.run(run())
