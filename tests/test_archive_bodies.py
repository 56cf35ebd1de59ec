"""Contents of versions, rebuilt from the frames of a real store."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.archive.bodies import KEPT_BYTES, Bodies
from archivebot.config import ArchiveConfig
from archivebot.exceptions import CorruptObject, Pruned, StorageError
from archivebot.fingerprint import piece_id
from archivebot.models import Outcome
from archivebot.storage.base import StoredVersion
from archivebot.storage.sqlite.store import SQLiteStore
from archivebot.versioning.keep import Keep
from tests.factories import START, URL, html, make_page

NESTED = b"<body><div><p>One is here, long enough</p><p>Two is here, long enough</p></div><p>Three</p></body>"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SQLiteStore]:
    store = SQLiteStore(f"{tmp_path}/archive.db")
    yield store
    store.close()


@pytest.fixture
def stored(store: SQLiteStore) -> Callable[..., list[StoredVersion]]:
    """Store bodies as the versions of one page, one a day."""

    def add(
        *bodies: bytes,
        level: int | None = None,
        content_type: str = "text/html",
        outcome: Outcome = Outcome.FETCHED,
    ) -> list[StoredVersion]:
        archive = Archive(store, ArchiveConfig(zstd_level=1))
        headers = (("Content-Type", content_type),)
        for day, body in enumerate(bodies):
            page = make_page(body, day, level=level, headers=headers, outcome=outcome)
            archive.add(archive.segment(page))
        return store.versions(URL)

    return add


def test_a_version_never_has_the_bytes_of_one_that_was_rolled_back(
    store: SQLiteStore, stored: Callable[..., list[StoredVersion]]
) -> None:
    first, lost, third, fourth = (html(f"The paragraph of day {day} is long enough") for day in range(4))
    stored(first)
    archive = Archive(store, ArchiveConfig())
    with suppress(ZeroDivisionError), store.together():
        archive.add(archive.segment(make_page(lost, 1)))
        assert archive.body(archive.at(URL, None)) == lost
        raise ZeroDivisionError
    for day, body in ((2, third), (3, fourth)):
        archive.add(archive.segment(make_page(body, day)))
    assert [archive.body(capture) for capture in archive.captures(URL)] == [first, third, fourth]
    assert archive.verify() == (3, [])
    assert [Bodies(store).get(each).body for each in store.versions(URL)] == [first, third, fourth]


def test_every_version_of_a_chain_is_rebuilt(
    store: SQLiteStore, stored: Callable[..., list[StoredVersion]]
) -> None:
    bodies = [html(*(f"Paragraph {n} of day {day}" for n in range(5))) for day in range(4)]
    versions = stored(*bodies)
    assert versions[-1].base == versions[-2].id
    for version, body in zip(reversed(versions), reversed(bodies), strict=True):
        assert Bodies(store).get(version).body == body


def test_versions_rebuilt_one_after_the_other_use_those_before(
    store: SQLiteStore, stored: Callable[..., list[StoredVersion]]
) -> None:
    bodies = [html(f"Day {day} is long enough to be a base") for day in range(4)]
    versions, contents = stored(*bodies), Bodies(store)
    assert [contents.get(version).body for version in versions] == bodies


def test_a_content_tells_which_block_stands_where(
    store: SQLiteStore, stored: Callable[..., list[StoredVersion]]
) -> None:
    (version,) = stored(html("First words", "Other words"))
    content = Bodies(store).get(version)
    assert [(content.body[slot.start : slot.end], slot.lineage) for slot in content.slots] == [
        (b"<p>First words</p>", 1),
        (b"<p>Other words</p>", 2),
    ]
    assert content.charset == "utf-8"


def test_a_version_used_before_is_given_without_the_store(
    store: SQLiteStore, stored: Callable[..., list[StoredVersion]]
) -> None:
    first, second = stored(html("First"), html("Second"))
    contents = Bodies(store)
    contents.get(first)
    store.close()
    assert contents.get(first).body == html("First")
    with pytest.raises(StorageError):
        contents.get(second)


def test_contents_used_longest_ago_leave_the_memory_first(
    store: SQLiteStore, stored: Callable[..., list[StoredVersion]]
) -> None:
    large = KEPT_BYTES * 2 // 5
    used, unused, last = stored(
        *(b"%d" % day + bytes(large) for day in range(3)), outcome=Outcome.SERVER_ERROR
    )
    contents = Bodies(store)
    for version in (used, unused, used, last):
        contents.get(version)
    store.close()
    assert contents.get(used).body[:1] == b"0"
    assert contents.get(last).body[:1] == b"2"
    with pytest.raises(StorageError):
        contents.get(unused)


def test_a_body_larger_than_the_memory_is_given_all_the_same(
    store: SQLiteStore, stored: Callable[..., list[StoredVersion]]
) -> None:
    (version,) = stored(bytes(KEPT_BYTES + 1), outcome=Outcome.SERVER_ERROR)
    assert len(Bodies(store).get(version).body) == KEPT_BYTES + 1


def test_a_body_that_is_not_the_one_recorded_is_refused_every_time(
    store: SQLiteStore, stored: Callable[..., list[StoredVersion]]
) -> None:
    (version,) = stored(html("Words"))
    contents, other = Bodies(store), replace(version, digest="0" * 64)
    for _ in range(2):
        with pytest.raises(
            CorruptObject, match=f"version 1 of {URL} is damaged: its bytes have another digest"
        ):
            contents.get(other)


def test_a_version_that_is_pruned_after_its_record_was_read_is_not_called_damaged(
    store: SQLiteStore, stored: Callable[..., list[StoredVersion]]
) -> None:
    versions = stored(*(html(f"The paragraph of day {day} is long enough") for day in range(3)))
    Archive(store, ArchiveConfig()).prune(URL, Keep.parse("ends"), START)
    with pytest.raises(Pruned, match=f"version 2 of {URL} was pruned"):
        Bodies(store).get(versions[1])


@pytest.mark.parametrize("level", [1, 2, 3])
def test_blocks_at_another_level_are_those_that_cutting_there_gives(
    store: SQLiteStore, stored: Callable[..., list[StoredVersion]], level: int
) -> None:
    (version,) = stored(NESTED, level=1)
    content = Bodies(store).get(version)
    pieces = [NESTED[slot.start : slot.end] for slot in content.recut(level, content.segmenter)]
    fine = [b"<p>One is here, long enough</p>", b"<p>Two is here, long enough</p>", b"<p>Three</p>"]
    assert pieces == (fine if level > 1 else [b"<div>" + fine[0] + fine[1] + b"</div>", fine[2]])


def test_only_blocks_that_a_version_has_itself_keep_their_lineage_when_cut_anew(
    store: SQLiteStore, stored: Callable[..., list[StoredVersion]]
) -> None:
    (version,) = stored(NESTED, level=1)
    content = Bodies(store).get(version)
    assert [slot.lineage for slot in content.recut(2, content.segmenter)] == [0, 0, 2]


def test_cutting_with_another_segmenter_gives_equal_blocks_their_lineage(
    store: SQLiteStore, stored: Callable[..., list[StoredVersion]]
) -> None:
    (version,) = stored(NESTED, level=2)
    content = Bodies(store).get(version)
    assert content.recut(2, content.segmenter + 1) == content.slots


def test_what_is_no_markup_stays_one_block_at_every_level(
    store: SQLiteStore, stored: Callable[..., list[StoredVersion]]
) -> None:
    (version,) = stored(NESTED, content_type="text/plain")
    content = Bodies(store).get(version)
    assert [(slot.start, slot.end) for slot in content.recut(5, content.segmenter)] == [(0, len(NESTED))]


def test_the_blocks_of_utf_16_are_cut_anew_in_its_charset(
    store: SQLiteStore, stored: Callable[..., list[StoredVersion]]
) -> None:
    body = ("\ufeff" + NESTED.decode()).encode("utf-16-le")
    (version,) = stored(body, level=1)
    content = Bodies(store).get(version)
    last = content.recut(2, content.segmenter)[-1]
    assert piece_id(body[last.start : last.end]) == piece_id("<p>Three</p>".encode("utf-16-le"))
