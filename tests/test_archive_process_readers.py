"""The processes that cut pages: asked in turns, replaced when they die; no page is lost by which they do."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.archive.process import readers as readers_module
from archivebot.archive.process.readers import OPENINGS, Readers
from archivebot.archive.process.worker import Crashed
from archivebot.config import ArchiveConfig
from archivebot.crawl.process import calls
from archivebot.crawl.process.session import ArchiveSession
from archivebot.exceptions import NotArchived, StorageError
from archivebot.models import Page, Snapshot
from pipelines.segmentation import SegmentationPipeline
from tests import probes
from tests.conftest import Crawl
from tests.factories import URL, make_page
from tests.mockserver import MockServer, html
from tests.test_pipelines import stages

CALL = (probes.process, (), {})
DEADLY = (probes.die, (), {})


@pytest.fixture
def config(tmp_path: Path) -> ArchiveConfig:
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")
    Archive.open(config).close()
    return config


@pytest.mark.long
def test_the_one_with_the_least_to_do_is_asked(config: ArchiveConfig) -> None:
    async def work() -> None:
        readers = Readers(config, 2)
        for _ in range(2):
            pids = await asyncio.gather(*(readers.run(CALL) for _ in range(6)))
        assert sorted(map(pids.count, {*pids})) == [3, 3]
        readers.close()

    asyncio.run(work())


def test_an_error_of_the_archive_is_none_of_the_process(config: ArchiveConfig) -> None:
    async def work() -> None:
        readers = Readers(config, 1)
        before = await readers.run(CALL)
        with pytest.raises(NotArchived):
            await readers.run((Archive.version, (URL, 7), {}))
        assert await readers.run(CALL) == before
        readers.close()

    asyncio.run(work())


@pytest.mark.long
def test_what_waits_behind_a_call_that_kills_the_process_is_done_by_another(config: ArchiveConfig) -> None:
    async def work() -> None:
        readers = Readers(config, 1)
        before = await readers.run(CALL)
        calls = (CALL, DEADLY, CALL, DEADLY, CALL)
        first, *others = await asyncio.gather(*map(readers.run, calls), return_exceptions=True)
        assert first == before
        assert [type(other) for other in others] == [Crashed, int, Crashed, int]
        assert "was killed by signal 9" in str(others[0])
        assert before not in others
        readers.close()

    asyncio.run(work())


@pytest.mark.long
def test_one_that_died_while_it_had_nothing_to_do_is_replaced(config: ArchiveConfig) -> None:
    async def work() -> None:
        readers = Readers(config, 1)
        await readers.run(CALL)
        for pause in (0.0, 0.3):  # before and after its death is noticed
            before = readers._readers[0].worker.pid
            os.kill(before, signal.SIGKILL)
            await asyncio.sleep(pause)
            assert await readers.run(CALL) != before
        readers.close()

    asyncio.run(work())


@pytest.mark.long
def test_when_all_are_killed_again_and_again_no_call_is_blamed(config: ArchiveConfig) -> None:
    async def work() -> None:
        readers = Readers(config, 2)
        calls = asyncio.gather(*(readers.run(CALL) for _ in range(12)))
        killed: set[int] = set()
        for _ in range(OPENINGS - 1):
            while not any(
                reader.worker.waiting and reader.is_open and reader.worker.pid not in killed
                for reader in readers._readers
            ):
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.02)  # one call is begun, the others wait behind it
            for reader in readers._readers:
                killed.add(reader.worker.pid)
                with suppress(ProcessLookupError):
                    os.kill(reader.worker.pid, signal.SIGKILL)
        assert len(await calls) == 12
        readers.close()

    asyncio.run(work())


@pytest.mark.long
def test_one_that_hangs_is_ended_and_its_call_is_blamed_when_it_hangs_alone(
    config: ArchiveConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    class Noted(readers_module._Reader):
        def __init__(self, config: ArchiveConfig, patience: float | None) -> None:
            super().__init__(config, patience)
            started.append(self.worker.pid)

    monkeypatch.setattr(readers_module, "_Reader", Noted)

    async def work() -> None:
        readers = Readers(config, 1, patience=2)
        await readers.run(CALL)
        calls = (CALL, (probes.hang, (), {}), CALL)
        first, hung, last = await asyncio.gather(*map(readers.run, calls), return_exceptions=True)
        assert isinstance(hung, Crashed)
        assert "gave no answer for 2 seconds and was ended" in str(hung)
        assert isinstance(first, int)
        assert isinstance(last, int)
        readers.close()

    asyncio.run(work())
    assert len(started) == 3  # the first, the one in its place, and one alone, which is not waited for again


@pytest.mark.long
def test_when_they_are_closed_nobody_is_asked(config: ArchiveConfig) -> None:
    async def work() -> None:
        readers = Readers(config, 1)
        await readers.run(CALL)
        calls = [asyncio.ensure_future(readers.run(CALL)) for _ in range(3)]
        await asyncio.sleep(0.01)
        readers.close()
        for call in (*calls, readers.run(CALL)):
            with pytest.raises(StorageError, match="archive of this crawl is closed"):
                await call

    asyncio.run(work())


@pytest.mark.long
def test_one_that_dies_while_it_opens_is_replaced_but_not_for_ever(
    config: ArchiveConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Doomed(readers_module._Reader):
        def __init__(self, config: ArchiveConfig, patience: float | None) -> None:
            super().__init__(config, patience)
            os.kill(self.worker.pid, signal.SIGKILL)

    async def work() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(readers_module, "_Reader", Doomed)
            readers = Readers(config, 1)
        assert await readers.run(CALL) > 0
        readers.close()
        monkeypatch.setattr(readers_module, "_Reader", Doomed)
        readers = Readers(config, 1)
        with pytest.raises(StorageError, match="was killed by signal 9") as caught:
            await readers.run(CALL)
        assert not isinstance(caught.value, Crashed)
        readers.close()

    asyncio.run(work())


@pytest.mark.long
def test_one_that_hangs_while_it_opens_is_replaced(
    config: ArchiveConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def work() -> None:
        with monkeypatch.context() as patch:
            patch.setattr(readers_module, "OPENING", 0.5)
            readers = Readers(config, 1)
        stopped = readers._readers[0].worker.pid
        os.kill(stopped, signal.SIGSTOP)
        assert await asyncio.wait_for(readers.run(CALL), 30) not in (stopped, None)
        readers.close()

    asyncio.run(work())


def test_an_archive_that_cannot_be_opened_is_no_matter_of_a_page(tmp_path: Path) -> None:
    async def work() -> None:
        readers = Readers(ArchiveConfig(uri=f"sqlite:///{tmp_path}/no/such/folder/a.db"), 1)
        for _ in range(2):
            with pytest.raises(StorageError, match="there is no archive"):
                await readers.run(CALL)
        readers.close()

    asyncio.run(work())


@pytest.mark.long
def test_a_page_of_which_a_process_dies_is_stored_whole(
    config: ArchiveConfig, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        session = ArchiveSession(config)
        await session.opened()
        pipeline = SegmentationPipeline(session)

        async def cut(page: Page) -> Snapshot:
            found = await pipeline.process_item(page)
            assert isinstance(found, Snapshot)
            return found

        deadly, other = make_page(b"<p>deadly", day=1), make_page(b"<p>other", day=2)
        monkeypatch.setattr(calls, "run_stages", probes.die)
        with caplog.at_level(logging.ERROR):
            uncut = await cut(deadly)
        monkeypatch.undo()
        reason = uncut.page.reason
        assert reason.startswith("not cut: a process of the archive was killed by signal 9")
        assert (uncut.page, uncut.partition) == (replace(deadly, reason=reason), None)
        assert f"{URL} could not be cut, its bytes are kept: a process of the archive was" in caplog.text
        cut = await cut(other)
        assert cut.partition is not None
        for snapshot in (uncut, cut):
            await session.run(Archive.add, snapshot)
            assert (await session.run(Archive.stored, URL))[1] == snapshot.page.body
        await session.close()

    asyncio.run(work())


@pytest.mark.long
def test_a_crawl_has_as_many_as_the_setting_says(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": html(*(f"/{page}" for page in range(20))), **{f"/{n}": html() for n in range(20)}}
    watched = ("-s", stages(**{"tests.probes.CountedReaders": 200}))
    crawled = crawl(*watched, "-s", "ARCHIVE_READERS=3", seeds=site.url())
    assert crawled.code == 0
    assert len(crawled.records) == 21
    assert crawled.stat("probe/readers") == 3


@pytest.mark.parametrize(
    ("number", "told"), [("many", "is 'many': give a whole number"), ("0", "is 0: give at least 1")]
)
def test_a_number_of_readers_that_is_none_is_said(
    site: MockServer, crawl: Crawl, number: str, told: str
) -> None:
    crawled = crawl("-s", f"ARCHIVE_READERS={number}", seeds=site.url())
    assert crawled.code == 2
    assert f"ARCHIVE_READERS {told}" in crawled.log
