"""What is read of a page: one journey for its links and for all stages, again where that was in vain."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from archivebot import bounds
from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.crawl.process import session as session_module
from archivebot.crawl.process.session import ArchiveSession
from archivebot.crawl.process.stages import read_ahead, staged
from archivebot.models import Page
from tests.factories import URL, make_page

ASKED = {"skip_nofollow": True, "context": False, "forms": False}
PAGE = make_page(b"<p>The ferry runs all year.</p><p><a href=/b>Timetable</a></p>")


def run(tmp_path: Path, work: Callable[[ArchiveSession, list[str]], Awaitable[None]]) -> None:
    """Do something with a session that cuts and judges pages; its journeys are noted by their work."""

    async def inside() -> None:
        session = ArchiveSession(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db"))
        session.stages += [Archive.cut, Archive.judge]
        await session.opened()
        journeys: list[str] = []
        ask = session.readers.run

        async def noted(call: Any, url: str = "") -> Any:
            journeys.append(call[0].__name__)
            return await ask(call, url)

        session.readers.run = noted
        try:
            await work(session, journeys)
        finally:
            await session.close()

    asyncio.run(inside())


def test_a_page_travels_once_to_be_read_and_cut(tmp_path: Path) -> None:
    async def work(session: ArchiveSession, journeys: list[str]) -> None:
        found = await read_ahead(session, PAGE, "http://base.example/", ASKED)
        assert [link.url for link in found.links] == ["http://base.example/b"]
        snapshot = await staged(session, PAGE)
        assert (snapshot.page, journeys) == (PAGE, ["read_ahead"])
        assert snapshot.partition is not None
        assert len(snapshot.partition.blocks) == 2
        assert (await staged(session, PAGE)).partition == snapshot.partition  # once more: nothing is kept
        assert journeys == ["read_ahead", "run_stages"]

    run(tmp_path, work)


def test_what_nobody_stores_is_pushed_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pages: list[Page] = [make_page(PAGE.body, day) for day in range(1, 4)]
    monkeypatch.setattr(session_module, "MOST_AHEAD", 2)

    async def work(session: ArchiveSession, journeys: list[str]) -> None:
        for page in pages:
            await read_ahead(session, page, URL, ASKED)
        journeys.clear()
        for page in pages:
            assert (await staged(session, page)).partition is not None
        assert journeys == ["run_stages"]

    assert pages[1].captured_at - pages[0].captured_at == timedelta(days=1)
    run(tmp_path, work)


@pytest.mark.long
def test_of_a_page_beyond_the_bounds_only_the_beginning_travels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = make_page(PAGE.body + b"<p>" * (bounds.MOST_TAGS + 1))

    async def work(session: ArchiveSession, journeys: list[str]) -> None:
        assert len((await read_ahead(session, page, URL, ASKED)).links) == 1
        snapshot = await staged(session, page)
        assert (snapshot.partition, snapshot.page.body) == (None, page.body)
        assert snapshot.page.reason.startswith("not cut: ")
        assert journeys == ["read_links"]

    run(tmp_path, work)
