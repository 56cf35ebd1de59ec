"""What is told of a page before it is stored: walls, near-duplicates, pages that no parser reads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from archivebot.archive import Archive, inspection, readings
from archivebot.config import ArchiveConfig
from archivebot.exceptions import StorageError
from archivebot.models import ChangeKind, Kind, Label, QualityKind, Snapshot
from archivebot.storage import open_store
from tests.factories import URL, html, make_page, visit
from tests.servers import mongo_server, mongo_uri

__all__ = ["mongo_server", "mongo_uri"]

STORY = (
    "The council met on Monday to hear why the ferry is late, and who will pay for the second boat. "
    "Nobody spoke against the harbour master, who asks for two more people and a roof over the pier. "
    "The vote is due before the winter, when the old boat has to go to the yard once more."
)
PRINT = (
    f"<html><head><title>Print</title></head><body><h1>The ferry</h1><p>{STORY}</p></body></html>".encode()
)
WALL = b"""<html><head><title>Log in</title></head><body><h1>Log in</h1>
<form action=/login><input name=user><input type=password name=password><button>Log in</button></form>
</body></html>"""
OTHER_WALL = WALL.replace(b"<h1>Log in</h1>", b"<h1>Log in</h1><p>Session 17</p>")
TAGGED = (("Content-Type", "text/html"), ("ETag", '"page"'))


@pytest.fixture(params=["sqlite", pytest.param("mongodb", marks=pytest.mark.long)])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Archive]:
    sqlite = f"sqlite:///{tmp_path}/a.db"
    uri = sqlite if request.param == "sqlite" else str(request.getfixturevalue("mongo_uri"))
    config = ArchiveConfig(uri=uri)
    archive = Archive(open_store(uri), config)
    yield archive
    archive.close()


def test_a_wall_is_no_change_of_the_page(archive: Archive) -> None:
    visit(archive, make_page(html(STORY), 0, headers=TAGGED))
    wall = visit(archive, make_page(WALL, 1))
    again = visit(archive, make_page(WALL, 2))
    back = visit(archive, make_page(html(STORY), 3))
    assert [capture.kind for capture in (wall, again, back)] == [Kind.FAILED, Kind.FAILED, Kind.REVISIT]
    assert [capture.number for capture in (wall, again, back)] == [None, None, 1]
    kept = archive.captures(URL)[1]
    assert kept.quality is not None
    assert kept.quality.kind is QualityKind.LOGIN_WALL
    assert kept.reason == kept.quality.reason == "password, heading 'log in'"
    assert archive.body(kept) == WALL
    assert archive.at(URL, kept.captured_at).number == 1
    assert archive.version_count(URL) == 1


def test_after_a_wall_the_server_is_asked_with_the_etag_of_the_page(archive: Archive) -> None:
    visit(archive, make_page(html(STORY), 0, headers=TAGGED))
    visit(archive, make_page(WALL, 1, headers=(("Content-Type", "text/html"), ("ETag", '"wall"'))))
    assert archive.validators(URL) == ('"page"', None)


def test_a_page_that_always_was_a_wall_has_versions(archive: Archive) -> None:
    first, second = visit(archive, make_page(WALL, 0)), visit(archive, make_page(OTHER_WALL, 1))
    assert (first.kind, first.number, second.number) == (Kind.NEW, 1, 2)
    assert first.quality is not None
    page = visit(archive, make_page(html(STORY), 2))
    old_wall = visit(archive, make_page(WALL, 3))
    back = visit(archive, make_page(html(STORY), 4))
    assert [capture.kind for capture in (page, old_wall, back)] == [Kind.CHANGED, Kind.FAILED, Kind.REVISIT]


def test_a_page_that_repeats_another_is_marked(archive: Archive) -> None:
    visit(archive, make_page(html(STORY)))
    mirror = visit(archive, make_page(PRINT, 1, url="http://mirror.example/print"))
    assert mirror.duplicate is not None
    assert (mirror.duplicate.url, mirror.duplicate.number) == (URL, 1)
    assert mirror.duplicate.jaccard >= 0.8
    assert archive.captures("http://mirror.example/print")[0].duplicate == mirror.duplicate
    assert visit(archive, make_page(html(STORY, "More"), 2)).duplicate is None


def test_walls_repeat_nothing(archive: Archive) -> None:
    long_wall = WALL.replace(b"<h1>", b"<p>" + STORY.encode()[:200] + b"</p><h1>")
    visit(archive, make_page(long_wall))
    assert visit(archive, make_page(long_wall, url="http://mirror.example/")).duplicate is None


def test_a_mirror_fetched_at_the_same_time_is_marked_when_it_is_stored(archive: Archive) -> None:
    original, mirror = make_page(html(STORY)), make_page(PRINT, url="http://mirror.example/print")
    snapshots = [archive.segment(page) for page in (original, mirror)]
    assert [snapshot.duplicate for snapshot in snapshots] == [None, None]
    first, second = (archive.add(snapshot) for snapshot in snapshots)
    assert first.duplicate is None
    assert second.duplicate is not None


def test_what_the_archive_holds_is_not_cut_again(archive: Archive) -> None:
    page = make_page(html(STORY))
    visit(archive, page)
    known = archive.segment(replace(page, captured_at=page.captured_at.replace(year=2027)))
    assert (known.partition, known.fingerprint) == (None, None)


@pytest.mark.parametrize(
    ("module", "part"), [(inspection, "cut_page"), (readings, "judged"), (readings, "PageReading")]
)
def test_a_page_that_no_parser_reads_is_kept(
    archive: Archive,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    module: ModuleType,
    part: str,
) -> None:
    def breaking(*_: object) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr(module, part, breaking)
    capture = visit(archive, make_page(html(STORY)))
    assert (capture.kind, archive.body(capture)) == (Kind.NEW, html(STORY))
    assert f"{URL} could not be read; its bytes are kept" in caplog.text


def test_a_page_that_is_stored_uncut_is_never_read(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    def reading(*_: object) -> None:
        pytest.fail("it was read")

    pages = [
        make_page(html(story), day=day) for day, story in enumerate((STORY, f"{STORY} Two.", f"{STORY} 3."))
    ]
    visit(archive, pages[0])
    with monkeypatch.context() as patch:
        patch.setattr(readings, "PageReading", reading)
        uncut = archive.add(Snapshot.uncut(pages[1]))
    assert (uncut.kind, archive.body(uncut)) == (Kind.CHANGED, pages[1].body)
    snapshot = archive.segment(pages[2])
    assert snapshot.change is not None
    assert snapshot.change.reason == "version 2 cannot be read"
    assert archive.add(snapshot).kind is Kind.CHANGED


def test_what_changed_is_told_anew_where_another_version_came_between(archive: Archive) -> None:
    first, other = make_page(html(STORY), day=0), make_page(html(STORY[::-1]), day=1)
    visit(archive, first)
    menu = make_page(html(STORY).replace(b"<body>", b"<body><nav><a href=/>Home</a></nav>"), day=2)
    snapshot = archive.segment(menu)
    assert snapshot.change is not None
    assert snapshot.change.kind is ChangeKind.FURNITURE
    visit(archive, other)
    assert archive.add(snapshot).kind is Kind.CHANGED


def test_an_archive_that_fails_is_not_taken_for_a_page_that_cannot_be_read(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object) -> None:
        raise StorageError("disk full")

    monkeypatch.setattr(archive._store, "latest", failing)
    with pytest.raises(StorageError):
        archive.segment(make_page(html(STORY)))


def test_blocks_with_the_tags_of_the_version_before_keep_their_labels_until_one_grows(
    archive: Archive,
) -> None:
    def labels(day: int, name: str, text: str) -> list[Label | None]:
        body = html(STORY, f"<b class={name}>{text}</b>")
        return [block.label for block in visit(archive, make_page(body, day)).blocks]

    first = labels(0, "comments", "I agree.")
    assert Label.COMMENT in first
    assert labels(1, "remarks", "I do not agree.") == first
    assert Label.COMMENT not in labels(2, "remarks", f"I agree. {STORY}")
