"""Captures that were touched, what a delta says of its blocks, and what is learned from earlier versions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from archivebot.archive import Archive
from archivebot.exceptions import CorruptObject
from archivebot.models import REQUISITE, Capture, Change, ChangeKind, Kind, Snapshot
from archivebot.storage.base import StoredVersion
from archivebot.versioning.keep import Keep
from tests.factories import URL, make_page, visit

STORY = "The council met on Monday to hear why the ferry is late, and who will pay for the second boat. "


def page(story: str = STORY, menu: str = "Home", seen: str = "1,204 views", advert: str = "") -> bytes:
    return f"""<html><head><title>Ferry</title></head><body>
<nav><ul><li><a href=/>{menu}</a></li><li><a href=/sea>Sea</a></li></ul></nav>
<main><h1>The ferry</h1><p>{story * 4}</p><p>{STORY[:60]}</p></main>
<aside class=ad><p>{advert}</p></aside><footer><p>{seen}</p></footer></body></html>""".encode()


def test_a_change_of_furniture_touches_the_page_and_is_a_version(archive: Archive) -> None:
    first = visit(archive, make_page(page(), 0))
    second = visit(archive, make_page(page(menu="Start", seen="1,377 views"), 1))
    third = visit(archive, make_page(page(STORY.replace("Monday", "Tuesday")), 2))
    assert [capture.kind for capture in (first, second, third)] == [Kind.NEW, Kind.TOUCHED, Kind.CHANGED]
    assert [capture.number for capture in (first, second, third)] == [1, 2, 3]
    assert archive.body(second) == page(menu="Start", seen="1,377 views")
    assert archive.captures(URL)[1].reason.startswith("only furniture: ")


def test_a_page_that_turns_back_to_an_old_menu_is_touched_as_well(archive: Archive) -> None:
    for day, menu in enumerate(["Home", "Start", "Home"]):
        last = visit(archive, make_page(page(menu=menu), day))
    assert (last.kind, last.number) == (Kind.TOUCHED, 1)


def test_a_page_in_another_charset_has_not_changed_if_its_text_is_the_same(archive: Archive) -> None:
    def served(story: str, charset: str, day: int) -> Capture:
        body = page(story).decode().replace("<title>Ferry", "<title>Fähre").encode(charset)
        headers = (("Content-Type", f"text/html; charset={charset}"),)
        return visit(archive, make_page(body, day, headers=headers))

    german = STORY.replace("council", "Bürgermeister")
    served(german, "utf-8", 0)
    assert served(german, "iso-8859-1", 1).kind is Kind.TOUCHED
    assert served(german, "utf-8", 2).kind is Kind.TOUCHED
    edited = served(german.replace("Monday", "Tuesday"), "iso-8859-1", 3)
    assert edited.reason.startswith("…Bürgermeister met on [-Monday-]{+Tuesday+}")
    first, last = (archive.version(URL, number) for number in (1, edited.number or 0))
    assert archive.delta(URL, first, last).attributes == ()


def test_a_change_from_a_version_that_is_not_read_says_why(archive: Archive) -> None:
    first, second, third, last = (make_page(page(seen=f"{day} views"), day) for day in range(4))
    visit(archive, first)
    archive.add(Snapshot.uncut(second, "not cut: 600000 tags or more"))
    archive.add(Snapshot.uncut(replace(third, origin=REQUISITE)))
    visit(archive, last)

    def reason(number: int) -> str:
        return archive.change(archive.version(URL, number), archive.version(URL, 4)).reason

    assert reason(2) == "version 2 was not cut: 600000 tags or more"
    assert reason(3) == "version 3 was not cut: it is a page requisite"
    assert len(archive.prune(URL, Keep.parse("ends"), datetime.now(UTC)).versions) == 2
    assert reason(2) == "version 2 was pruned"


def test_a_delta_says_of_each_block_whether_content_changed(archive: Archive) -> None:
    visit(archive, make_page(page(), 0))
    visit(archive, make_page(page(STORY.replace("Monday", "Tuesday"), menu="Start"), 1))
    delta = archive.delta(URL, archive.version(URL, 1), archive.version(URL, 2))
    assert (delta.kind, delta.reason[:11]) == (ChangeKind.CONTENT, "The council")
    kinds = {change.topic: change.kind for change in delta.changes if change.change is not Change.UNCHANGED}
    assert set(kinds.values()) == {ChangeKind.CONTENT, ChangeKind.FURNITURE}
    assert all(change.kind is None for change in delta.changes if change.change is Change.UNCHANGED)


def test_texts_that_take_turns_are_known_from_the_versions_before(archive: Archive) -> None:
    texts = [
        "Our readers say: the best paper between here and the lighthouse, and they should know it by now.",
        "Subscribe before the end of the month and get the almanac of tides for the whole year as a present.",
    ]
    kinds = []
    for day in range(6):
        body = page().replace(b"<main>", f"<main><p>{texts[day % 2]}</p>".encode())
        body = body.replace(b"1,204", str(1204 + day).encode())
        kinds.append(visit(archive, make_page(body, day)).kind)
    assert kinds[:3] == [Kind.NEW, Kind.CHANGED, Kind.CHANGED]
    assert kinds[3:] == [Kind.TOUCHED] * 3


def test_what_cannot_be_compared_has_changed(archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    visit(archive, make_page(page(), 0))
    archive._bodies._kept.clear()

    def damaged(version: StoredVersion) -> bytes:
        raise CorruptObject("damaged")

    monkeypatch.setattr(archive._bodies, "_by_chain", damaged)
    assert visit(archive, make_page(page(menu="Start"), 1)).kind is Kind.CHANGED


def test_a_comparison_that_fails_is_told_and_counts_as_a_change(
    archive: Archive, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def breaking(*_: object) -> None:
        raise RecursionError("too deep")

    visit(archive, make_page(page(), 0))
    monkeypatch.setattr("archivebot.archive.comparison.significance", breaking)
    assert visit(archive, make_page(page(menu="Start"), 1)).kind is Kind.CHANGED
    assert f"the changes of {URL} cannot be determined" in caplog.text
