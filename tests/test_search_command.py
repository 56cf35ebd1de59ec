"""scrapy index and scrapy search as a user types them, over both stores."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from archivebot.models import Outcome
from tests.commands import run_scrapy
from tests.factories import html, make_page
from tests.served import archived
from tests.servers import mongo_server, mongo_uri

__all__ = ["mongo_server", "mongo_uri"]

Run = Callable[..., subprocess.CompletedProcess[str]]

SITE, OTHER = "http://example.com/", "http://example.org/"
TIDE = "The tide turns at noon and the boats come home"
PLAN = "The free plan has three seats, and it does not expire"
EDITED = "The free plan has five seats, and it does not expire"
PAID = "All plans are paid from now on, whoever asks for them"
CJK = "北京大学的图书馆今天开放 library, ห้องสมุดเปิดวันนี้"
MENU = b"<nav><a href=/>Home of the gulls</a> <a href=/news>News</a></nav>"
MOVED = {"outcome": Outcome.REDIRECT, "status": 301, "location": f"{SITE}new"}
GONE = {"outcome": Outcome.GONE, "status": 410}


def page(*paragraphs: str) -> bytes:
    return html(TIDE, *paragraphs).replace(b"<body>", b"<body>" + MENU)


def pages() -> Iterator[Any]:
    """What three pages of a site were on several days, and one page of another site."""
    for day, paragraphs in {0: (PLAN,), 10: (EDITED,), 20: (PAID,), 30: (PAID,)}.items():
        yield make_page(page(*paragraphs), day, url=f"{SITE}plans")
    yield make_page(page(CJK), 5, url=f"{SITE}cjk")
    yield make_page(page("The fete is on Sunday, bring a cake"), 1, url=f"{SITE}fete")
    yield make_page(b"", 11, url=f"{SITE}fete", outcome=Outcome.TIMEOUT, status=None)
    yield make_page(b"gone", 12, url=f"{SITE}fete", **GONE)
    yield make_page(page("The fete is on Sunday, bring a cake"), 40, url=f"{SITE}fete")
    yield make_page(page("An old address of the club"), 2, url=f"{SITE}old")
    yield make_page(b"", 13, url=f"{SITE}old", **MOVED)
    yield make_page(html("The free plan of others"), 3, url=OTHER)


def runner(uri: str) -> Run:
    def run(*command: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = run_scrapy(command, environment={**os.environ, "ARCHIVE_URI": uri})
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an archive and its index."""
    folder = tmp_path_factory.mktemp("search")
    runner(archived(f"sqlite:///{folder}/archive.db", pages()))("index")
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> Run:
    return runner(f"sqlite:///{folder}/archive.db")


Found = list[tuple[str, str, int | None, int]]


def found(run: Run, *words: str) -> Found:
    """Search, and return each event as page, change, version and day."""
    done = run("search", *words, "--json", code=0)
    return [shown(record) for record in json.loads(done.stdout)]


def shown(record: dict[str, Any]) -> tuple[str, str, int | None, int]:
    assert list(record) == ["url", "lineage", "version", "captured_at", "text", "change"]
    day = int(record["captured_at"][4:6]) * 31 - 31 + int(record["captured_at"][6:8]) - 1
    path = record["url"].removeprefix(SITE)
    return path, record["change"], record["version"], day


PLANS: Found = [("plans", "added", 1, 0), ("plans", "removed", 3, 20)]


def test_a_phrase_shows_when_it_came_and_when_it_went_although_its_block_was_edited(run: Run) -> None:
    assert found(run, '"free plan"', "--site", SITE) == PLANS
    assert found(run, '"three seats"') == [("plans", "added", 1, 0), ("plans", "removed", 2, 10)]


def test_added_and_removed_are_asked_for_alone(run: Run) -> None:
    assert found(run, '"free plan"', "--site", SITE, "--added") == PLANS[:1]
    assert found(run, '"free plan"', "--removed") == PLANS[1:]
    assert found(run, "seats", "--newest", "--limit", "1") == PLANS[1:]
    assert found(run, "seats", "--skip", "1") == PLANS[1:]


def test_words_are_found_in_any_order_and_by_their_beginning_a_phrase_in_its_own(run: Run) -> None:
    assert found(run, "seats free") == found(run, "seats", "free") == PLANS
    assert found(run, "SEA* Plän") == PLANS
    assert "matches" in run("search", '"plan free"', code=1).stderr
    assert "matches" in run("search", "sea", code=1).stderr


def test_words_after_two_hyphens_may_begin_with_one(run: Run) -> None:
    assert run("search", "--", "-free").stdout == run("search", "free").stdout


@pytest.mark.long
def test_scripts_without_spaces_are_found_wherever_the_phrase_begins(run: Run) -> None:
    for words in ("京大", "北京大学", "学的 library", '"开放 library"', "馆", "图书馆今天", "สมุด", "ห้อง* 馆"):
        assert found(run, words) == [("cjk", "added", 1, 5)], words
    run("search", "大京", code=1)


def test_a_page_that_is_gone_has_no_words_until_it_is_back(run: Run) -> None:
    back = ("fete", "added", 1, 40)
    assert found(run, "cake") == [("fete", "added", 1, 1), ("fete", "removed", None, 12), back]
    assert found(run, "club") == [("old", "added", 1, 2), ("old", "removed", None, 13)]


def test_times_limit_the_events_of_a_kind_or_else_the_time_of_the_words(run: Run) -> None:
    site = ('"free plan"', "--site", SITE)
    assert found(run, *site, "--from", "2026-01-05", "--to", "2026-01-06") == PLANS
    assert found(run, *site, "--from", "2026-01-21", "--removed") == PLANS[1:]
    run("search", *site, "--from", "2026-01-22", code=1)
    run("search", *site, "--to", "2025", code=1)
    run("search", *site, "--from", "2026-01-05", "--to", "2026-01-06", "--removed", code=1)


def test_a_block_is_found_by_its_label_and_a_page_by_its_site(run: Run) -> None:
    assert [each[0] for each in found(run, '"free plan"', "--site", OTHER)] == [OTHER]
    assert {each[0] for each in found(run, "gulls", "--label", "navigation")} == {
        "plans",
        "cjk",
        "fete",
        "old",
    }
    run("search", "gulls", "--label", "main", code=1)


def test_only_pages_on_a_topic_are_found(run: Run) -> None:
    assert {each[0] for each in found(run, "noon", "--topic", "cake sunday fete")} == {"fete"}
    assert found(run, "noon", "--topic", "cake sunday fete", "--skip", "2") == [("fete", "added", 1, 40)]


def test_a_table_shows_the_words_with_what_is_around_them(run: Run) -> None:
    done = run("search", '"free plan"', "--removed")
    assert done.stdout.splitlines()[0].split() == ["captured", "change", "version", "page", "block", "text"]
    assert "2026-01-21 00:00:00  removed" in done.stdout
    assert EDITED in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        *("", '"', "!!", "* *", '""" - ', "AND OR NOT", 'a" OR "b', "NEAR(a b, 2)", "text:a", "a + b ^c"),
        *("-tide", "a\ud800", "%_'; DROP TABLE life", "(((", "a" * 501, '"x ' * 120, "\u202eabc"),
        *("{a b}: c", "𝕏 ½ ☃"),
    ],
)
def test_no_search_fails_with_more_than_a_message(folder: Path, words: str) -> None:
    environment = {**os.environ, "ARCHIVE_URI": f"sqlite:///{folder}/archive.db"}
    done = run_scrapy(["search", words, "--json"], environment=environment)
    assert done.returncode in (0, 1, 2), done.stderr
    assert "Traceback" not in done.stderr
