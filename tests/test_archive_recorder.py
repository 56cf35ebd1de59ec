"""What the archive makes of visits: kinds, versions, lineages, and what is stored for them."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from archivebot.archive import Archive
from archivebot.archive.recorder import ATTEMPTS, Recorder
from archivebot.config import ArchiveConfig
from archivebot.exceptions import Conflict
from archivebot.models import Capture, Change, Kind, Outcome
from archivebot.storage.sqlite.store import SQLiteStore
from tests.factories import URL, html, make_page, visit
from tests.test_segmentation_segmenter import paper_page

STORIES = [
    f"Story {n} tells how the council of town number {n} met, what it decided, and who spoke against it."
    for n in range(8)
]


def changed(capture: Capture) -> dict[str, str]:
    """Return the blocks that are not unchanged, lineage to change."""
    return {
        block.lineage: block.change.value
        for block in capture.blocks
        if block.change is not None and block.change is not Change.UNCHANGED
    }


def test_the_first_visit_is_new_and_an_equal_one_a_revisit_that_stores_nothing(archive: Archive) -> None:
    first = visit(archive, make_page(html(*STORIES)))
    second = visit(archive, make_page(html(*STORIES), 1))
    assert (first.kind, first.number, first.new_blocks) == (Kind.NEW, 1, 8)
    assert (second.kind, second.number, second.new_blocks, second.stored_bytes) == (Kind.REVISIT, 1, 0, 0)
    assert [block.lineage for block in second.blocks] == [block.lineage for block in first.blocks]
    assert changed(second) == {}
    assert len(archive.captures(URL)) == 2


def test_a_page_that_turns_back_points_at_its_old_version(archive: Archive) -> None:
    for day, story in enumerate([STORIES[0], STORIES[1], STORIES[0]]):
        last = visit(archive, make_page(html(story), day))
    assert (last.kind, last.number, last.stored_bytes) == (Kind.CHANGED, 1, 0)
    assert list(changed(last).values()) == ["MODIFIED"]
    assert archive.version_count(URL) == 2
    assert archive.at(URL, None).number == 1


def test_the_papers_example_stores_exactly_five_blocks_at_level_3(archive: Archive) -> None:
    visit(archive, make_page(paper_page(), level=3))
    after = visit(archive, make_page(paper_page("updated"), 5, level=3))
    body = paper_page("updated")
    new = [body[block.start : block.end][9:12] for block in after.blocks if block.new]
    assert new == [b"CC2", b"CC3", b"CC4", b"CC5", b"CC6"]
    assert after.new_blocks == 5


@pytest.mark.parametrize(("level", "block"), [(1, b'<div id="C">'), (2, b'<div id="CC">')])
def test_seen_at_a_coarser_level_one_larger_block_changed(archive: Archive, level: int, block: bytes) -> None:
    visit(archive, make_page(paper_page(), level=level))
    body = paper_page("updated")
    after = visit(archive, make_page(body, 5, level=level))
    (new,) = [placed for placed in after.blocks if placed.new]
    assert body[new.start :].startswith(block)


def test_an_edited_block_keeps_its_lineage(archive: Archive) -> None:
    first = visit(archive, make_page(html(*STORIES)))
    edited = [*STORIES[:3], STORIES[3].replace("decided", "postponed"), *STORIES[4:]]
    second = visit(archive, make_page(html(*edited), 1))
    assert changed(second) == {first.blocks[3].lineage: "MODIFIED"}
    assert second.stored_bytes < 200


def test_an_added_block_gets_a_new_lineage_and_the_others_keep_theirs(archive: Archive) -> None:
    first = visit(archive, make_page(html(*STORIES)))
    second = visit(archive, make_page(html("Breaking: the bridge is closed.", *STORIES), 1))
    assert [block.lineage for block in second.blocks[1:]] == [block.lineage for block in first.blocks]
    assert changed(second) == {second.blocks[0].lineage: "ADDED"}


def test_a_changed_layout_changes_no_block(archive: Archive) -> None:
    first = visit(archive, make_page(html(*STORIES, head="<script>token = 1</script>")))
    second = visit(archive, make_page(html(*STORIES, head="<script>token = 2</script>"), 1))
    assert (second.kind, second.new_blocks, changed(second)) == (Kind.TOUCHED, 0, {})
    assert [block.lineage for block in second.blocks] == [block.lineage for block in first.blocks]
    before, after = archive.version(URL, 1), archive.version(URL, 2)
    assert archive.delta(URL, before, after).layout_changed


def test_another_level_changes_no_block(archive: Archive) -> None:
    visit(archive, make_page(paper_page(), level=3))
    coarse = visit(archive, make_page(paper_page("updated"), 1, level=2))
    fine = visit(archive, make_page(paper_page("again updated"), 2, level=3))
    assert [len(changed(capture)) for capture in (coarse, fine)] == [1, 5]
    delta = archive.delta(URL, archive.version(URL, 1), archive.version(URL, 2))
    assert [change.change for change in delta.changes if change.change is not Change.UNCHANGED] == [
        Change.MODIFIED
    ]


@pytest.mark.long
def test_large_pages_are_chained_beyond_the_bound(tmp_path: Path) -> None:
    archive = Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/b.db", frame_bound=300_000))
    story = [f"{n} {STORIES[n % 8]} {n * 7919 % 104729}" for n in range(4000)]
    stored = [visit(archive, make_page(html(*story, f"Day {day}"), day)).stored_bytes for day in range(6)]
    assert sum(size < 1000 for size in stored) >= 4
    archive.close()


def test_a_moved_block_is_moved(archive: Archive) -> None:
    first = visit(archive, make_page(html(*STORIES)))
    second = visit(archive, make_page(html(*STORIES[1:], STORIES[0]), 1))
    assert changed(second) == {first.blocks[0].lineage: "MOVED"}
    assert second.new_blocks == 0


def test_a_lineage_is_never_given_twice(archive: Archive) -> None:
    seen: dict[str, str] = {}
    for day in range(12):
        stories = [STORIES[(day + n) % 8].replace("town", f"town {day + n}") for n in range(4)]
        for block in visit(archive, make_page(html(*stories), day)).blocks:
            seen.setdefault(block.lineage, block.topic)
    assert len({lineage.rpartition("-")[0] for lineage in seen}) == 1
    last = visit(archive, make_page(html("A wholly different sentence about fishing.", *STORIES), 20))
    added = [block.lineage for block in last.blocks if block.change is Change.ADDED]
    assert not set(added) & set(seen)


@pytest.mark.parametrize(
    ("outcome", "status", "kind"),
    [
        (Outcome.NOT_FOUND, 404, Kind.GONE),
        (Outcome.GONE, 410, Kind.GONE),
        (Outcome.SERVER_ERROR, 503, Kind.FAILED),
        (Outcome.REDIRECT, 301, Kind.REDIRECT),
        (Outcome.TIMEOUT, None, Kind.FAILED),
        (Outcome.ROBOTS_DENIED, None, Kind.EXCLUDED),
    ],
)
def test_a_visit_without_content_is_recorded_and_is_no_change_of_the_page(
    archive: Archive, outcome: Outcome, status: int | None, kind: Kind
) -> None:
    visit(archive, make_page(html(*STORIES)))
    body = b"<p>an error page</p>" if status else b""
    failed = visit(archive, make_page(body, 1, outcome=outcome, status=status))
    again = visit(archive, make_page(html(*STORIES), 2))
    assert (failed.kind, failed.number, again.kind) == (kind, None, Kind.REVISIT)
    assert archive.version_count(URL) == 1
    if body:
        assert archive.body(failed) == body


@pytest.mark.parametrize(
    ("outcome", "status"), [(Outcome.NOT_FOUND, 404), (Outcome.SERVER_ERROR, 503), (Outcome.INCOMPLETE, 200)]
)
@pytest.mark.parametrize("had_content", [False, True])
def test_a_body_that_came_with_an_error_is_a_version_when_it_comes_as_content(
    archive: Archive, outcome: Outcome, status: int, had_content: bool
) -> None:
    if had_content:
        visit(archive, make_page(html(STORIES[0])))
    failed = visit(archive, make_page(html(*STORIES), 1, outcome=outcome, status=status))
    number = 2 if had_content else 1
    shown = visit(archive, make_page(html(*STORIES), 2))
    assert (shown.kind, shown.number) == (Kind.CHANGED if had_content else Kind.NEW, number)
    assert len(shown.blocks) == len(STORIES)
    seen_again = visit(archive, make_page(html(*STORIES), 3))
    unchanged = visit(archive, make_page(b"", 4, outcome=Outcome.NOT_MODIFIED, status=304))
    assert [(each.kind, each.number) for each in (seen_again, unchanged)] == [(Kind.REVISIT, number)] * 2
    captures = [failed, shown, seen_again, unchanged]
    assert [each.number for each in archive.captures(URL)[had_content:]] == [None, *[number] * 3]
    assert archive.at(URL, None).captured_at == unchanged.captured_at
    assert {archive.body(each) for each in captures} == {html(*STORIES)}
    assert archive.version_count(URL) == number
    assert archive.verify()[1] == []


def test_304_is_a_revisit_of_the_latest_version(archive: Archive) -> None:
    visit(archive, make_page(html(STORIES[0])))
    second = visit(archive, make_page(html(STORIES[1]), 1))
    third = visit(archive, make_page(b"", 2, outcome=Outcome.NOT_MODIFIED, status=304))
    assert (third.kind, third.number, third.digest) == (Kind.REVISIT, 2, second.digest)


def test_an_older_visit_that_comes_later_is_compared_with_what_was_before_it(archive: Archive) -> None:
    visit(archive, make_page(html(STORIES[0]), 1))
    visit(archive, make_page(html(STORIES[1]), 9))
    late = visit(archive, make_page(html(STORIES[0]), 5))
    assert (late.kind, late.number) == (Kind.REVISIT, 1)
    assert [capture.number for capture in archive.captures(URL)] == [1, 1, 2]


def test_the_same_visit_twice_changes_nothing(archive: Archive) -> None:
    page = make_page(html(*STORIES))
    visit(archive, page)
    before = archive.totals()[""]
    assert archive.holds(page)
    visit(archive, page)
    assert archive.totals()[""] == before


def test_a_new_page_is_stored_against_one_of_its_site_that_is_like_it(archive: Archive) -> None:
    menu = [f"Menu entry number {n} with a long and telling description of it" for n in range(30)]
    alone = visit(archive, make_page(html(*menu, STORIES[0]), url="http://example.com/a"))
    other = visit(archive, make_page(html(*menu, STORIES[1]), url="http://example.com/b"))
    elsewhere = visit(archive, make_page(html(*menu, STORIES[2]), url="http://example.org/b"))
    assert other.stored_bytes < alone.stored_bytes / 2 < elsewhere.stored_bytes
    assert archive.body(other) == html(*menu, STORIES[1])


def test_an_error_page_is_no_reference_for_a_page_like_the_one_before_it(archive: Archive) -> None:
    visit(archive, make_page(html(*STORIES), url="http://example.com/old"))
    moved = make_page(b"moved", 1, url="http://example.com/old", outcome=Outcome.REDIRECT, status=301)
    visit(archive, moved)
    new = visit(archive, make_page(html(*STORIES), 2, url="http://example.com/new"))
    assert new.stored_bytes < 100


def test_reading_any_version_decodes_no_more_than_the_bound(tmp_path: Path) -> None:
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/b.db", frame_bound=1_500_000)
    archive = Archive.open(config)
    for day in range(20):
        visit(archive, make_page(html(*STORIES, f"Day {day}"), day))
    store = SQLiteStore(f"{tmp_path}/b.db")
    versions = store.versions(URL)
    assert max(version.cost for version in versions) <= 1_500_000
    assert max(len(store.frames(version.id)) for version in versions) <= 5
    assert archive.verify() == (20, [])
    store.close()
    archive.close()


def test_two_writers_of_one_page_both_get_their_version(tmp_path: Path) -> None:
    config = ArchiveConfig(uri=f"sqlite:///{tmp_path}/c.db")
    one, two = Archive.open(config), Archive.open(config)
    for day in range(10):
        visit(one if day % 2 else two, make_page(html(*STORIES, f"Day {day}"), day))
    assert [capture.number for capture in one.captures(URL)] == list(range(1, 11))
    one.close()
    two.close()


def test_a_conflict_that_stays_is_raised(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    def always(*_: object) -> bool:
        raise Conflict("another writer")

    monkeypatch.setattr(SQLiteStore, "add", always)
    with pytest.raises(Conflict):
        visit(archive, make_page(html(*STORIES)))


@pytest.mark.long
def test_a_writer_that_always_comes_second_is_stored_all_the_same(
    archive: Archive, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    visit(archive, make_page(html(*STORIES)))
    kind = Recorder._kind
    rivals: list[threading.Thread] = []

    def store(number: int) -> None:
        other = Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db"))
        visit(other, make_page(html(f"Rival {number}: {STORIES[0]}"), number + 1))
        other.close()

    def overtaken(self: Recorder, *args: Any) -> tuple[Kind, str]:
        if threading.current_thread() is threading.main_thread():
            rivals.append(threading.Thread(target=store, args=(len(rivals),)))
            rivals[-1].start()
            rivals[-1].join(timeout=2)  # in the last attempt it has to wait
        return kind(self, *args)

    monkeypatch.setattr(Recorder, "_kind", overtaken)
    late = visit(archive, make_page(html(*STORIES, "Late"), 99))
    for rival in rivals:
        rival.join()
    assert len(rivals) == ATTEMPTS
    assert late.number == ATTEMPTS + 1
    assert archive.version_count(URL) == ATTEMPTS + 2
    assert archive.verify() == (ATTEMPTS + 2, [])


def test_any_body_is_given_back_byte_for_byte(archive: Archive) -> None:
    bodies = [b"\x00\xff" * 500, "日本".encode("shift_jis"), b"<p>unclosed <b>", b" ", html(*STORIES)[:-20]]
    for day, body in enumerate(bodies):
        capture = visit(archive, make_page(body, day))
        assert archive.body(capture) == body
    assert archive.verify() == (5, [])


def test_the_visits_after_an_older_one_are_judged_again_without_reading_more_than_needed(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    for day in range(10, 50):
        unchanged = make_page(day=day, outcome=Outcome.NOT_MODIFIED, status=304)
        visit(archive, replace(unchanged, origin=f"a.warc.gz:{day}"))
        if day % 3 == 0:
            visit(archive, make_page(day=day, outcome=Outcome.SERVER_ERROR, status=500))
    visit(archive, make_page(html(*STORIES), 0))
    later = archive.captures(URL)[1:]
    assert {each.number for each in later if each.outcome is Outcome.NOT_MODIFIED} == {1}
    assert [each.kind for each in later].count(Kind.REVISIT) == 40
    captures, read = archive._store.captures, list[Capture]()

    def counted(url: str, *given: Any, **more: Any) -> Iterator[Capture]:
        for each in captures(url, *given, **more):
            read.append(each)
            yield each

    monkeypatch.setattr(archive._store, "captures", counted)
    assert visit(archive, make_page(html(*STORIES), 5)).kind is Kind.REVISIT
    assert len(read) < 20
