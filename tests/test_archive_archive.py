"""Looking back: at a time, by version, block by block, and proving that nothing is lost."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import CorruptObject, NotArchived, UsageError
from archivebot.models import Change, Kind, Outcome
from tests.factories import START, URL, html, make_page

TEXTS = [
    "The library opens at nine and closes at six on every working day of the week.",
    "On the first Sunday of each month a reading for children takes place in the hall.",
    "Write to the librarian if a book that you look for is missing from the catalogue.",
]


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    """An archive of one page: three versions, a failure between the second and the third."""
    archive = Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db"))
    etag = (
        ("Content-Type", "text/html"),
        ("ETag", '"1"'),
        ("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT"),
    )
    later = [TEXTS[0].replace("six", "eight"), *TEXTS[1:]]
    for page in (
        make_page(html(*TEXTS), 0, headers=etag),
        make_page(html(*later), 10),
        make_page(b"<p>down</p>", 15, outcome=Outcome.SERVER_ERROR, status=503),
        make_page(html(*later[:2]), 20, headers=(("etag", '"3"'),)),
        make_page(b"", 25, url="http://example.com/dead", outcome=Outcome.TIMEOUT, status=None),
    ):
        archive.add(archive.segment(page))
    yield archive
    archive.close()


@pytest.mark.parametrize(
    ("day", "number"), [(-5, 1), (0, 1), (9.9, 1), (10, 2), (16, 2), (20, 3), (99, 3), (None, 3)]
)
def test_a_time_gives_the_capture_at_or_before_it_else_the_first(
    archive: Archive, day: float | None, number: int
) -> None:
    when = None if day is None else START + timedelta(days=day)
    assert archive.at(URL, when).number == number


def test_a_page_that_never_answered_has_nothing_to_replay(archive: Archive) -> None:
    with pytest.raises(NotArchived, match="no capture with a body"):
        archive.at("http://example.com/dead", None)


def test_every_version_is_given_back(archive: Archive) -> None:
    assert archive.body(archive.at(URL, START)) == html(*TEXTS)
    assert archive.version(URL, 3).number == 3
    with pytest.raises(NotArchived, match="no version 4"):
        archive.version(URL, 4)


@pytest.mark.parametrize("typed", ["example.com/page", "https://WWW.Example.com/page", URL + "#top"])
def test_a_typed_url_finds_the_page_that_has_content(archive: Archive, typed: str) -> None:
    assert archive.resolve(typed) == URL


def test_an_unknown_url_is_not_archived_and_nonsense_is_wrong_use(archive: Archive) -> None:
    with pytest.raises(NotArchived, match="never captured"):
        archive.resolve("http://example.net/")
    with pytest.raises(UsageError):
        archive.resolve("ftp://example.com/")


def test_the_validators_are_those_of_the_latest_content(archive: Archive) -> None:
    assert archive.validators(URL) == ('"3"', None)
    assert archive.validators("http://example.net/") == (None, None)


def test_a_delta_lists_every_block_with_its_texts(archive: Archive) -> None:
    delta = archive.delta(URL, archive.version(URL, 1), archive.version(URL, 3))
    assert [change.change for change in delta.changes] == [Change.MODIFIED, Change.UNCHANGED, Change.REMOVED]
    modified, same, removed = delta.changes
    assert "closes at six" in (modified.before or "")
    assert "closes at eight" in (modified.after or "")
    assert 0.9 < modified.similarity < 1
    assert same.before == same.after == TEXTS[1]
    assert (removed.before, removed.after) == (TEXTS[2], None)


def test_a_delta_backwards_turns_removed_into_added(archive: Archive) -> None:
    delta = archive.delta(URL, archive.version(URL, 3), archive.version(URL, 1))
    assert delta.changes[2].change is Change.ADDED


def test_the_blocks_of_a_version_come_with_range_topic_and_text(archive: Archive) -> None:
    blocks = archive.blocks(archive.version(URL, 1))
    assert [text for _, text in blocks] == TEXTS
    body = html(*TEXTS)
    assert all(body[block.start : block.end].startswith(b"<p>") for block, _ in blocks)
    assert all(block.topic for block, _ in blocks)


def test_the_history_of_a_block_tells_its_texts_and_when_it_was_gone(archive: Archive) -> None:
    first, _, third = [block.lineage for block, _ in archive.blocks(archive.version(URL, 1))]
    assert [state.version for state in archive.block_history(URL, first)] == [1, 2]
    assert [state.text for state in archive.block_history(URL, third)] == [TEXTS[2], None]
    assert archive.block_history(URL, first.rpartition("-")[2]) == archive.block_history(URL, first)
    for lineage in ("nonsense", "00000000-1", first + "9"):
        with pytest.raises(NotArchived, match="scrapy blocks"):
            archive.block_history(URL, lineage)


def test_the_totals_count_what_was_fetched_and_stored(archive: Archive) -> None:
    totals = archive.totals()
    whole, host = totals[""], totals["com,example"]
    assert (whole.captures, whole.urls, whole.versions) == (5, 2, 3)
    assert whole.blocks == host.blocks == 3 + 1
    assert whole.bytes_fetched == sum(len(capture_body) for capture_body in _bodies(archive))
    assert whole.bytes_stored > host.bytes_stored > 0


def test_the_size_of_an_archive_does_not_depend_on_who_has_it_open(tmp_path: Path) -> None:
    path = tmp_path / "archive.db"
    config = ArchiveConfig(uri=f"sqlite:///{path}")
    with Archive.open(config) as archive:
        for day in range(30):
            archive.add(archive.segment(make_page(html(f"x {day}"), day)))
    with Archive.open(config) as archive:
        before = archive.totals()[""].bytes_stored
        archive.add(archive.segment(make_page(html("x 30"), 30)))
        during = archive.totals()[""].bytes_stored
        log = Path(f"{path}-wal").stat().st_size
    with Archive.open(config) as archive:
        after = archive.totals()[""].bytes_stored
    assert before <= during <= after < during + log


def _bodies(archive: Archive) -> list[bytes]:
    return [archive.body(capture) for capture in archive.captures(URL)]


def test_the_level_is_kept_by_later_versions(archive: Archive) -> None:
    url = "http://example.com/coarse"
    archive.add(archive.segment(make_page(html(*TEXTS), url=url, level=1)))
    second = archive.segment(make_page(html(*TEXTS[1:]), 1, url=url))
    assert second.partition is not None
    assert second.partition.level == 1


def test_verify_finds_a_flipped_byte_and_says_where(archive: Archive, tmp_path: Path) -> None:
    assert archive.verify() == (4, [])
    database = sqlite3.connect(tmp_path / "a.db")
    (frame,) = database.execute("SELECT data FROM frame WHERE version = 1").fetchone()
    broken = bytearray(frame)
    broken[len(broken) // 2] ^= 0xFF
    database.execute("UPDATE frame SET data = ? WHERE version = 1", (bytes(broken),))
    database.commit()
    database.close()
    again = Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db"))
    checked, damaged = again.verify()
    again.close()
    assert checked == 4
    assert (damaged[0].url, damaged[0].version) == (URL, 1)


def test_verify_of_a_sample_checks_that_many(archive: Archive) -> None:
    assert archive.verify(2) == (2, [])
    assert archive.verify(99) == (4, [])


def test_a_page_whose_last_version_is_damaged_is_stored_all_the_same(
    archive: Archive, tmp_path: Path
) -> None:
    database = sqlite3.connect(tmp_path / "a.db")
    database.execute("UPDATE frame SET data = x'00'")
    database.commit()
    database.close()
    again = Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db"))
    capture = again.add(again.segment(make_page(html(*TEXTS, "And one more."), 30)))
    assert (capture.kind, capture.number, capture.new_blocks) == (Kind.CHANGED, 4, 4)
    assert again.body(capture) == html(*TEXTS, "And one more.")
    again.close()


def test_a_lost_frame_is_damage_and_the_rest_is_still_read(archive: Archive, tmp_path: Path) -> None:
    archive.add(archive.segment(make_page(b"GIF89a....", url="http://example.org/x.gif", headers=())))
    database = sqlite3.connect(tmp_path / "a.db")
    database.execute("DELETE FROM frame WHERE version = 1")
    database.commit()
    database.close()
    again = Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db"))
    checked, damaged = again.verify()
    assert checked == 5
    assert damaged
    assert {found.url for found in damaged} == {URL}
    assert again.body(again.at("http://example.org/x.gif", None)) == b"GIF89a...."
    with pytest.raises(CorruptObject, match="is lost"):
        again.body(again.at(URL, START))
    again.close()


def test_reading_an_archive_that_does_not_exist_makes_none(tmp_path: Path) -> None:
    with pytest.raises(NotArchived, match="crawl or ingest first"):
        Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/none.db"), create=False)
    assert not list(tmp_path.glob("none*"))


@pytest.mark.parametrize("uri", ["archive.db", "sqlite://", "sqlite:///", "postgres://x/y", ""])
def test_a_uri_that_names_no_archive_is_refused_with_what_to_write(uri: str) -> None:
    with pytest.raises(UsageError, match=r"sqlite:///archive\.db"):
        ArchiveConfig(uri=uri)
