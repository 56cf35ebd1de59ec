"""The captures of the SQLite archive: what an unchanged page takes, and how runs are divided."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from archivebot.models import Kind
from archivebot.storage.sqlite.store import SQLiteStore
from archivebot.storage.sqlite.visits import LONGEST, unpacked
from tests.contracts.store import URL, at, put, visit, wire_of

DAY = 24 * 60


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    with closing(SQLiteStore(str(tmp_path / "archive.db"))) as store:
        yield store


def revisit(store: SQLiteStore, minute: float, record: int) -> None:
    """Store a visit that found the first version of the page again."""
    (first, *_) = store.versions(URL)
    wire = replace(wire_of(minute), record=f"<urn:uuid:{UUID(int=record)}>")
    told = visit(minute, first, kind=Kind.REVISIT, wire=wire)
    assert store.add(replace(told, origin=f"a.warc:{record}"), store.head(URL), first.id)


def lengths(store: SQLiteStore) -> list[tuple[int, int]]:
    """Return how many visits each run has, and how many bytes."""
    rows = store.database.execute("SELECT time, visits FROM capture ORDER BY time")
    return [(len(unpacked(time, visits)), len(visits)) for time, visits in rows]


def test_an_unchanged_page_takes_the_id_of_its_record_and_a_few_bytes(store: SQLiteStore) -> None:
    put(store, b"body", 0)
    for day in range(1, 101):
        revisit(store, day * DAY + day % 3, 4000 + day * 1000 + day % 7)
    found = lengths(store)
    assert all(taken <= LONGEST for _, taken in found)
    assert sum(visits for visits, _ in found) == 101
    # The first of a run also holds its exchange, its version and its links.
    assert sum(taken for _, taken in found) <= 101 * 40


@pytest.mark.parametrize("order", [1, -1])
def test_runs_that_are_stored_last_to_first_have_room_for_more(store: SQLiteStore, order: int) -> None:
    put(store, b"body", 0)
    for day in range(1, 101)[::order]:
        revisit(store, day * DAY, day)
    assert len(lengths(store)) <= 101 / 3
    assert [capture.captured_at for capture in store.captures(URL)] == [at(day * DAY) for day in range(101)]


def test_visits_at_one_time_are_in_one_run(store: SQLiteStore) -> None:
    bodies = [b"body %d" % number for number in range(30)]
    for body in bodies:
        put(store, body, 5)
    put(store, b"before", 4)
    put(store, b"after", 6)
    assert [visits for visits, _ in lengths(store)] in ([1, 30, 1], [31, 1], [1, 31], [32])
    found = list(store.captures(URL, until=at(5), since=at(4)))
    assert {capture.sha256 for capture in found} == {v.digest for v in store.versions(URL)[:30]}
    assert store.check() == []
