"""The answers of a server that may read the whole archive: how long they are kept."""

from __future__ import annotations

import asyncio
from contextlib import closing
from functools import partial
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.frontier import Entry, open_frontier
from archivebot.jobs.questions import questions
from archivebot.records.question import Question
from archivebot.web import surveys
from archivebot.web.api import asked
from archivebot.web.long import LongAnswers
from archivebot.web.readers import Readers
from tests import probes

A_WEEK, A_YEAR = {"since": ["7d"]}, {"since": ["2026"]}


def test_an_answer_about_a_crawl_or_up_to_now_is_not_kept_as_long_as_the_archive_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")
    Archive.open(config).close()
    uri = f"sqlite:///{tmp_path}/a.frontier.db"
    named = {each.name: each for each in questions(uri, tmp_path, "")}
    monkeypatch.setattr("archivebot.web.long.KEPT_CHANGING", 0)

    def crawl(name: str) -> None:
        with closing(open_frontier(uri, name)) as frontier:
            frontier.begin("{}", None)
            frontier.add([Entry("http://a.example/", "a.example", 1.0)])

    async def answers() -> list[Any]:
        with closing(Readers(config, 1)) as readers:
            await readers.open(probes.process)
            long = LongAnswers(partial(Archive.read_only, config))
            state = SimpleNamespace(readers=readers, long=long)
            request = Request({"type": "http", "app": SimpleNamespace(state=state)})
            with closing(long):
                crawl("first")
                before = await asked(request, named["frontier"], named["frontier"].read({}))
                crawl("second")
                after = await asked(request, named["frontier"], named["frontier"].read({}))
                return [each.records[0]["crawl"] for each in (before, after)]

    assert asyncio.run(answers()) == ["first", "second"]


def test_the_start_shows_the_last_crawl_while_the_totals_of_a_large_archive_are_computed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")
    Archive.open(config).close()
    uri = f"sqlite:///{tmp_path}/a.frontier.db"
    with closing(open_frontier(uri, "harbour")) as frontier:
        frontier.begin("{}", None)
        frontier.add([Entry("http://a.example/", "a.example", 1.0)])
    named = {each.name: each for each in questions(uri, tmp_path, "")}
    totals = Event()
    named["sites"] = Question("sites", "", {}, lambda archive, given: totals.wait(30), reads_all=True)
    monkeypatch.setattr("archivebot.web.surveys.PATIENCE", 1.0)

    async def start() -> str:
        with closing(Readers(config, 1)) as readers:
            await readers.open(probes.process)
            with closing(LongAnswers(partial(Archive.read_only, config))) as long:
                state = SimpleNamespace(readers=readers, long=long, questions=named)
                app = SimpleNamespace(state=state)
                scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []}
                try:
                    return bytes((await surveys.start(Request({**scope, "app": app}))).body).decode()
                finally:
                    totals.set()

    shown = asyncio.run(start())
    assert "The totals are being computed." in shown
    assert ">harbour</a>" in shown


@pytest.mark.parametrize("name", ["forms", "frontier"])
def test_what_reads_no_pages_does_not_wait_for_an_answer_that_reads_all(tmp_path: Path, name: str) -> None:
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")
    Archive.open(config).close()
    uri = f"sqlite:///{tmp_path}/a.frontier.db"
    with closing(open_frontier(uri, "harbour")) as frontier:
        frontier.begin("{}", None)
    named = {each.name: each for each in questions(uri, tmp_path, "")}
    ranked = Event()
    rank = Question("rank", "", {}, lambda archive, given: ranked.wait(30), reads_all=True)

    async def answers() -> tuple[bool, Any]:
        with closing(Readers(config, 1)) as readers:
            await readers.open(probes.process)
            with closing(LongAnswers(partial(Archive.read_only, config))) as long:
                state = SimpleNamespace(readers=readers, long=long)
                request = Request({"type": "http", "app": SimpleNamespace(state=state)})
                waiting = asyncio.ensure_future(asked(request, rank, {}))
                try:
                    await asyncio.sleep(0.5)
                    part = await asked(request, named[name], named[name].read({}))
                    return waiting.done(), part.records
                finally:
                    ranked.set()
                    await waiting

    was_ranked, records = asyncio.run(answers())
    assert not was_ranked
    assert list(records) == [] if name == "forms" else records[0]["crawl"] == "harbour"


def test_which_answers_may_change_while_the_archive_does_not(tmp_path: Path) -> None:
    named = {each.name: each for each in questions("", tmp_path, "")}

    def is_passing(name: str, given: dict[str, list[str]]) -> bool:
        return named[name].passing(named[name].read(given))

    assert is_passing("harvest", {})
    assert [is_passing("changes", given) for given in ({}, A_WEEK, A_YEAR)] == [True, True, False]
    assert [is_passing("pages", given) for given in ({}, A_WEEK, A_YEAR)] == [False, True, False]
