"""scrapy schedule as a user types it, over an archive of pages that change, stay, fail and go."""

from __future__ import annotations

import json
import os
import random
import subprocess
import tracemalloc
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import UsageError
from archivebot.jobs.changes import changed_pages
from archivebot.jobs.schedule import next_round, now, schedule
from archivebot.models import REQUISITE, Headers, Outcome
from archivebot.schedule.policy import Policy
from archivebot.storage.sqlite import rows
from archivebot.storage.sqlite.rows import unpacked
from tests.commands import run_scrapy
from tests.contracts.store import wire_of
from tests.factories import html, make_page
from tests.servers import mongo_server, mongo_uri

__all__ = ["mongo_server", "mongo_uri"]

SITE = "http://example.com/"
TEXT = "A tern dives for fish where the tide turns at noon. " * 6
NEWS = (
    "The ferry to the island does not sail.",
    "A seal was seen in the old dock.",
    "The lighthouse is painted white again.",
    "Two boats collided in the fog.",
    "The fish market moves to the north quay.",
    "A new pilot has begun her work.",
    "The regatta was won by a crew of four.",
    "Sand is dredged from the channel.",
)
DAYS = len(NEWS)


def body(text: str, foot: str = "") -> bytes:
    return html(TEXT, text).replace(b"</body>", f"<footer>{foot}</footer></body>".encode())


def visits(day: int) -> dict[str, dict[str, Any]]:
    """What the pages of the site are on a day."""
    ended = {"outcome": Outcome.GONE, "status": 410}
    return {
        "often": {"body": body(NEWS[day])},
        "seldom": {"body": body("The harbour opens at six.", f"Last checked on day {day}.")},
        "gone": {"body": body("The fete is on Sunday.")} if day < DAYS - 2 else ended,
        "style.css": {"body": b"a { color: red }"},
    }


def fill(uri: str) -> None:
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        for day in range(DAYS):
            for path, visit in visits(day).items():
                page = make_page(day=day, url=SITE + path, **visit)
                origin = REQUISITE if path == "style.css" else page.origin
                archive.add(archive.segment(replace(page, origin=origin)))
        archive.add(archive.segment(make_page(body("New here."), DAYS, url=f"{SITE}new")))


@pytest.fixture(scope="module")
def uri(tmp_path_factory: pytest.TempPathFactory) -> str:
    uri = f"sqlite:///{tmp_path_factory.mktemp('schedule')}/a.db"
    fill(uri)
    return uri


def run(uri: str, *words: str) -> subprocess.CompletedProcess[str]:
    return run_scrapy(("schedule", *words), environment={**os.environ, "ARCHIVE_URI": uri})


def test_a_page_that_changes_comes_sooner_and_furniture_does_not_count(uri: str) -> None:
    pages = {page["url"]: page for page in json.loads(run(uri, "--json").stdout)}
    assert set(pages) == {SITE + path for path in ("often", "seldom", "gone", "new")}
    often, seldom = pages[f"{SITE}often"], pages[f"{SITE}seldom"]
    assert (often["visits"], often["changes"]) == (DAYS - 1, DAYS - 1)
    assert (seldom["visits"], seldom["changes"]) == (DAYS - 1, 0)
    assert often["interval"] < seldom["interval"]
    assert often["rate"] > pages[f"{SITE}new"]["rate"] > seldom["rate"]
    assert often["low"] < often["own_rate"]
    assert often["high"] is None
    assert pages[f"{SITE}new"]["why"].startswith("visited once; pages like it change every")


def test_a_page_that_is_gone_is_visited_less_and_less(uri: str) -> None:
    (page,) = json.loads(run(uri, f"{SITE}gone", "--json").stdout)
    assert page["why"] == "gone at the last visit, 2 in a row without content"
    assert page["interval"] == 2.0


@pytest.mark.parametrize("policy", [policy.value for policy in Policy if policy is not Policy.ADAPTIVE])
def test_the_intervals_use_up_the_budget(uri: str, policy: str) -> None:
    pages = json.loads(run(uri, "--json", "--budget", "2/hour", "--policy", policy).stdout)
    spent = sum(1 / page["interval"] for page in pages if page["url"] != f"{SITE}gone")
    assert spent == pytest.approx(48.0, rel=1e-3)


def test_due_pages_are_those_whose_time_has_come(uri: str) -> None:
    assert {page["due"] for page in json.loads(run(uri, "--json", "--due").stdout)} == {True}
    none = run(uri, f"{SITE}seldom", "--due", "--budget", "0.00001/week")
    assert (none.returncode, none.stdout) == (1, "")
    assert none.stderr == f"no page of {uri} is due\n"
    assert f"{SITE}often" in run(uri).stdout


def test_a_visit_by_a_clock_that_was_ahead_delays_no_other(tmp_path: Path) -> None:
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")) as archive:
        for day in (0, 1, 36_500):
            archive.add(archive.segment(make_page(body(NEWS[0]), day, url=f"{SITE}often")))
        (page,) = schedule(archive)
    assert (page.estimate.visits, page.is_due(now())) == (1, True)


def test_a_page_that_only_a_clock_that_was_ahead_visited_is_due(tmp_path: Path) -> None:
    with Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")) as archive:
        archive.add(archive.segment(make_page(body(NEWS[0]), 36_500, url=f"{SITE}often")))
        assert next_round(archive).due == [f"{SITE}often"]
        archive.add(archive.segment(replace(make_page(url=f"{SITE}often"), captured_at=now())))
        assert next_round(archive).due == []


@pytest.mark.parametrize("words", [("--budget", text) for text in ("many", "0/day", "5/year", "9" * 400)])
def test_a_budget_that_is_none_is_refused(uri: str, words: tuple[str, str]) -> None:
    done = run(uri, *words)
    assert done.returncode == UsageError.exit_code
    assert done.stderr == f"scrapy schedule: the budget is {words[1]!r}: give visits, as 500/day or 20/hour\n"


@pytest.mark.long
def test_an_archive_in_mongodb_has_the_same_schedule(uri: str, mongo_uri: str) -> None:
    fill(mongo_uri)
    with Archive.reader(ArchiveConfig(uri=uri)) as one, Archive.reader(ArchiveConfig(uri=mongo_uri)) as other:
        assert schedule(one) == schedule(other)


def test_the_headers_of_captures_do_not_stay_in_memory(tmp_path: Path) -> None:
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/archive.db")
    with Archive.open(config) as archive:
        for number in range(200):
            for day in range(2):
                headers = (("Set-Cookie", random.randbytes(10_000).hex()),)
                url = f"{SITE}{number}"
                ended = make_page(day=day, url=url, outcome=Outcome.GONE, status=410, headers=headers)
                archive.add(archive.segment(ended))
    with Archive.reader(config) as archive:
        schedule(archive)
        tracemalloc.start()
        try:
            assert len(schedule(archive)) == 200
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert peak < 4_000_000  # all headers together have 8 MB


def test_of_each_page_the_headers_of_few_captures_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uri, count = f"sqlite:///{tmp_path}/a.db", 0
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        for day in range(60):
            headers = (("Content-Type", "text/html"), ("X-Odd", random.Random(day).randbytes(150).hex()))
            page = make_page(body("The harbour opens at six."), day / 10, url=SITE, headers=headers)
            archive.add(archive.segment(replace(page, wire=wire_of(day))))

    def counted(data: bytes | None) -> Headers:
        nonlocal count
        count += data is not None
        return unpacked(data)

    monkeypatch.setattr(rows, "unpacked", counted)
    with Archive.reader(ArchiveConfig(uri=uri)) as archive:
        assert (len(schedule(archive)), count) == (1, 2)
        last = archive.captures(SITE)[-1].captured_at
        count = 0
        for since in (last, last - timedelta(days=1)):
            assert changed_pages(archive, since, damaged=lambda url, error: None) == []
        assert count <= 2
