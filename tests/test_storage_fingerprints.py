"""Fingerprints of pages, marks of near-duplicates and qualities of captures, in both stores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from archivebot.models import Duplicate, Fingerprint, Kind, Outcome, Quality, QualityKind
from archivebot.storage import open_store
from archivebot.storage.base import ArchiveStore, StoredVersion
from archivebot.storage.sqlite.store import SQLiteStore
from tests.contracts.store import OTHER, URL, digest_of, put, version_of, visit
from tests.servers import mongo_server, mongo_uri

__all__ = ["mongo_server", "mongo_uri"]

LEAST, MOST = -(1 << 63), (1 << 63) - 1
MARK = Duplicate(OTHER, 3, distance=2, jaccard=0.1 + 1e-12, rule="near-1")


@pytest.fixture(params=["sqlite", pytest.param("mongodb", marks=pytest.mark.long)])
def uri(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/archive.db"
    return str(request.getfixturevalue("mongo_uri"))


@pytest.fixture
def store(uri: str) -> Iterator[ArchiveStore]:
    store = open_store(uri)
    yield store
    store.close()


def known_by(*keys: int, digest: int = 7) -> Fingerprint:
    """A fingerprint that is found by some keys."""
    return Fingerprint(digest=digest, simhash=1 << 63, keys=keys, words=40)


def tell(
    store: ArchiveStore,
    minute: float,
    fingerprint: Fingerprint | None = None,
    duplicate: Duplicate | None = None,
    *,
    url: str = URL,
    outcome: Outcome = Outcome.FETCHED,
) -> StoredVersion:
    """Store a visit that brings a version of its own, with what is known of its text."""
    head, body = store.head(url), f"{url} at {minute}".encode()
    new = version_of(body, head, url=url, outcome=outcome)
    new = replace(new, fingerprint=fingerprint, duplicate=duplicate)
    assert store.add(visit(minute, new.record, url=url, outcome=outcome), head, new)
    found = store.find(url, digest_of(body))
    assert found is not None
    return found


def near(store: ArchiveStore, *keys: int) -> list[str]:
    return [url for url, _, _ in store.fingerprints.near(keys)]


def test_an_empty_archive_knows_no_text(store: ArchiveStore) -> None:
    assert [
        *store.fingerprints.near([1]),
        *store.fingerprints.all(),
        *store.fingerprints.marks(),
        *store.fingerprints.marks(URL),
    ] == []


@pytest.mark.parametrize(
    "fingerprint",
    [
        Fingerprint(digest=MOST, simhash=(1 << 64) - 1, keys=(LEAST, -1, 0, 1, MOST), words=1_000_000),
        Fingerprint(digest=LEAST, simhash=1 << 63, keys=(MOST,), words=32),
        Fingerprint(digest=0, simhash=(1 << 63) - 1, keys=(5, -5), words=32),
        Fingerprint(digest=-1, simhash=0, keys=(3, 2, 1), words=99),
        Fingerprint(digest=1, simhash=None, keys=(1 << 31,), words=3),
    ],
)
def test_a_fingerprint_reads_back_to_the_last_bit(store: ArchiveStore, fingerprint: Fingerprint) -> None:
    tell(store, 0, fingerprint)
    assert list(store.fingerprints.all()) == [(URL, 1, fingerprint)]
    for key in fingerprint.keys:
        assert list(store.fingerprints.near([key])) == [(URL, 1, fingerprint)]


def test_pages_are_found_by_any_key_that_they_share(store: ArchiveStore) -> None:
    tell(store, 0, known_by(1, 2))
    tell(store, 1, known_by(2, 3), url=OTHER)
    assert near(store, 2) == near(store, 1, 3) == near(store, 1, 2, 3) == [URL, OTHER]
    assert near(store, 3, 99) == [OTHER]
    assert near(store, 99) == near(store) == []


def test_a_page_has_the_fingerprint_of_its_latest_version(store: ArchiveStore) -> None:
    tell(store, 0, known_by(1, 2))
    tell(store, 1, known_by(2, 3, digest=8))
    assert (
        list(store.fingerprints.near([2]))
        == list(store.fingerprints.all())
        == [(URL, 2, known_by(2, 3, digest=8))]
    )
    assert near(store, 1) == []


def test_a_version_with_the_same_text_takes_the_fingerprint_over(store: ArchiveStore) -> None:
    tell(store, 0, known_by(1, 2))
    tell(store, 1, known_by(1, 2))
    assert list(store.fingerprints.near([1])) == [(URL, 2, known_by(1, 2))]


def test_a_version_without_a_fingerprint_takes_that_of_its_page_away(store: ArchiveStore) -> None:
    tell(store, 0, known_by(1))
    tell(store, 1)
    assert [*store.fingerprints.near([1]), *store.fingerprints.all()] == []


def test_an_error_leaves_the_fingerprint_of_the_content(store: ArchiveStore) -> None:
    tell(store, 0, known_by(1))
    tell(store, 1, known_by(2), MARK, outcome=Outcome.SERVER_ERROR)
    assert list(store.fingerprints.all()) == [(URL, 1, known_by(1))]
    assert list(store.fingerprints.marks()) == []


def test_pages_come_in_the_order_in_which_they_were_captured(store: ArchiveStore) -> None:
    urls = [f"http://example.com/{name}" for name in ("m", "a", "z", "k")]
    for minute, url in enumerate(urls):
        tell(store, minute, known_by(minute, 50), url=url)
    tell(store, 9, known_by(0, 50, digest=8), url=urls[0])
    assert near(store, 50) == near(store, 3, 2, 1, 0) == urls


def test_a_key_that_hundreds_share_hides_no_page_that_has_another(
    store: ArchiveStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for room in ("sqlite.fingerprints", "mongo.fingerprints"):
        monkeypatch.setattr(f"archivebot.storage.{room}.MOST_NEAR", 4)
    urls = [f"http://example.com/{number}" for number in range(9)]
    for minute, url in enumerate(urls):
        tell(store, minute, known_by(1, 10 + minute), url=url)
    assert near(store, 1) == urls[:4]
    assert near(store, 1, 17) == [*urls[:4], urls[7]]


# Marks


def test_a_mark_reads_back_to_the_last_bit(store: ArchiveStore) -> None:
    other = Duplicate("http://例え.jp/?a=\"'", 1, distance=None, jaccard=1.0, rule="规则")
    tell(store, 0, duplicate=MARK)
    tell(store, 1, duplicate=other)
    assert (
        list(store.fingerprints.marks(URL))
        == list(store.fingerprints.marks())
        == [(URL, 1, MARK), (URL, 2, other)]
    )
    assert [capture.duplicate for capture in store.captures(URL)] == [MARK, other]


def test_a_mark_stays_with_its_version_for_ever(store: ArchiveStore) -> None:
    marked = tell(store, 0, known_by(1), MARK)
    tell(store, 1, known_by(2))
    assert list(store.fingerprints.marks(URL)) == [(URL, 1, MARK)]
    assert store.add(visit(2, marked, kind=Kind.CHANGED), store.head(URL), marked.id)
    assert [capture.duplicate for capture in store.captures(URL)] == [MARK, None, MARK]


def test_marks_are_told_page_by_page(store: ArchiveStore) -> None:
    tell(store, 0, duplicate=MARK)
    tell(store, 1, duplicate=replace(MARK, url=URL), url=OTHER)
    put(store, b"unmarked", 2, url="http://example.org/")
    assert list(store.fingerprints.marks(OTHER)) == [(OTHER, 1, replace(MARK, url=URL))]
    assert {url for url, _, _ in store.fingerprints.marks()} == {URL, OTHER}
    assert list(store.fingerprints.marks("http://example.org/")) == []


def test_a_visit_that_saw_no_content_has_no_mark(store: ArchiveStore) -> None:
    tell(store, 0, duplicate=MARK)
    store.add(visit(1, outcome=Outcome.TIMEOUT, kind=Kind.FAILED), store.head(URL), None)
    assert [capture.duplicate for capture in store.captures(URL, newest_first=True)] == [None, MARK]


def test_all_is_there_after_it_was_opened_again(uri: str, store: ArchiveStore) -> None:
    tell(store, 0, known_by(1), MARK)
    again = open_store(uri)
    assert list(again.fingerprints.near([1])) == [(URL, 1, known_by(1))]
    assert list(again.fingerprints.marks()) == [(URL, 1, MARK)]
    again.close()


def test_a_capture_that_is_refused_leaves_neither_fingerprint_nor_mark(store: ArchiveStore) -> None:
    late = replace(version_of(b"late", store.head(URL)), fingerprint=known_by(2), duplicate=MARK)
    head = store.head(URL)
    tell(store, 0, known_by(1))
    with suppress(Exception):
        store.add(visit(1, late.record), head, late)
    assert near(store, 1, 2) == [URL]
    assert list(store.fingerprints.marks()) == []


# Qualities


def test_what_came_in_place_of_a_page_is_told_with_its_reason(store: ArchiveStore) -> None:
    wall = Quality(QualityKind.LOGIN_WALL, "a password field and 12 words")
    capture = replace(visit(0), quality=wall, reason=wall.reason)
    assert store.add(capture, store.head(URL), None)
    assert store.add(visit(1), store.head(URL), None)
    assert list(store.captures(URL)) == [capture, visit(1)]


# What only one of them can do


def test_what_a_transaction_takes_back_leaves_no_key(tmp_path: Path) -> None:
    store = SQLiteStore(f"{tmp_path}/archive.db")
    with suppress(ZeroDivisionError), store.together():
        tell(store, 0, known_by(1), MARK)
        raise ZeroDivisionError
    assert [*store.fingerprints.near([1]), *store.fingerprints.all(), *store.fingerprints.marks()] == []
    store.close()


def test_the_index_follows_the_pages_not_their_versions(tmp_path: Path) -> None:
    store = SQLiteStore(f"{tmp_path}/archive.db")
    for minute in range(20):
        tell(store, minute, known_by(minute, minute + 1, minute + 2))
    (count,) = store.database.execute("SELECT count(*) FROM fingerprint_key").fetchone()
    assert count == 3
    store.close()
