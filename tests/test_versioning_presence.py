"""When a page is gone, and when it never was there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from archivebot.archive import Archive
from archivebot.models import Capture, Kind, Outcome
from tests.factories import START, URL, html, make_page

PAGE = html("The library opens at nine and closes at six on every working day of the week.")
WALL = b"<!DOCTYPE html><title>Page not found</title><h1>Page not found</h1><p>Sorry."


def fetched(archive: Archive, day: float, body: bytes) -> Capture:
    return archive.add(archive.segment(make_page(body, day)))


def missing(archive: Archive, day: float, outcome: Outcome = Outcome.NOT_FOUND) -> Capture:
    page = make_page(b"<p>nothing here", day, outcome=outcome, status=404)
    return archive.add(archive.segment(page))


def test_what_had_a_wall_only_was_never_there(archive: Archive) -> None:
    assert fetched(archive, 0, WALL).quality
    archive.add(archive.segment(make_page(b"", 1, outcome=Outcome.NOT_MODIFIED, status=304)))
    assert missing(archive, 2).kind is Kind.NOT_FOUND
    assert archive.captures(URL)[-1].kind is Kind.NOT_FOUND
    assert archive.gone_since(URL) is None


def test_a_page_that_is_ingested_later_was_there_before(archive: Archive) -> None:
    assert missing(archive, 9).kind is Kind.NOT_FOUND, "as far as is known by then"
    fetched(archive, 3, PAGE)
    assert [capture.kind for capture in archive.captures(URL)] == [Kind.NEW, Kind.GONE]
    assert archive.gone_since(URL) == archive.captures(URL)[-1].captured_at


def test_a_404_with_the_bytes_of_the_page_is_gone_and_no_content(archive: Archive) -> None:
    fetched(archive, 0, PAGE)
    page = make_page(PAGE, 1, outcome=Outcome.NOT_FOUND, status=404)
    archive.add(archive.segment(page))
    assert archive.gone_since(URL) == page.captured_at


def test_what_moved_after_it_was_gone_is_no_longer_gone(archive: Archive) -> None:
    fetched(archive, 0, PAGE)
    missing(archive, 1)
    page = make_page(b"", 2, outcome=Outcome.REDIRECT, status=301, location="http://example.com/new")
    archive.add(archive.segment(page))
    assert archive.gone_since(URL) is None
    missing(archive, 3, Outcome.GONE)
    last = archive.captures(URL)[-1]
    assert (last.kind, archive.gone_since(URL)) == (Kind.GONE, last.captured_at)


def test_what_cannot_be_asked_for_is_still_gone(archive: Archive) -> None:
    fetched(archive, 0, PAGE)
    missing(archive, 1)
    for day, outcome in ((2, Outcome.ROBOTS_DENIED), (3, Outcome.SERVER_ERROR), (4, Outcome.UNREACHABLE)):
        archive.add(archive.segment(make_page(b"", day, outcome=outcome, status=None)))
    assert archive.gone_since(URL) == archive.captures(URL)[1].captured_at
    assert archive.gone_since(URL, START) is None


def test_earlier_captures_are_only_read_for_what_is_missing(archive: Archive) -> None:
    asked: list[str] = []

    def count(call: Callable[[], object]) -> int:
        asked.clear()
        call()
        return sum("FROM capture" in sql for sql in asked)

    fetched(archive, 0, PAGE)
    fetched(archive, 1, PAGE)
    archive._store.database.set_trace_callback(asked.append)  # type: ignore[attr-defined]
    assert count(lambda: archive.last(URL)) == count(lambda: archive.captures(URL, after=START)) == 1
    missing(archive, 2)
    assert count(lambda: archive.last(URL)) > 1
    assert archive.captures(URL, after=START)[-1].kind is Kind.GONE


def test_the_life_of_a_page_or_a_block_is_read_without_headers(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched(archive, 0, PAGE)
    gone = missing(archive, 1)
    [(block, _)] = archive.blocks(archive.version(URL, 1))
    captures, asked = archive._store.captures, list[bool]()

    def noted(url: str, **given: Any) -> Iterator[Capture]:
        asked.append(given.get("brief", False))
        return captures(url, **given)

    monkeypatch.setattr(archive._store, "captures", noted)
    assert archive.gone_since(URL) == gone.captured_at
    assert archive.gone_since(URL, START) is None
    assert [state.version for state in archive.block_history(URL, block.lineage)] == [1]
    assert asked == [True, True, True]
