"""A page is parsed once for all stages that read it, and a version beside it once."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import turbohtml

from archivebot.archive import Archive, readings, snapshot_of
from archivebot.archive.readings import PageReading, Readings
from archivebot.config import ArchiveConfig
from archivebot.crawl.process.calls import read_links
from archivebot.markup import page as page_module
from archivebot.markup import tree
from archivebot.markup.contenttype import content_type
from archivebot.models import Capture, Kind, Page
from archivebot.significance.beside import beside
from archivebot.significance.significance import significance
from tests.factories import html, make_page

STORY = (
    "The council met on Monday to hear why the ferry is late, and who will pay for the second boat. "
    "Nobody spoke against the harbour master, who asks for two more people and a roof over the pier. "
    "The vote is due before the winter, when the old boat has to go to the yard once more."
)
ASKED = {"skip_nofollow": True, "context": True, "forms": False}


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The pages that are parsed; blocks alone and the beginnings of pages are parsed elsewhere."""
    pages: list[str] = []

    def parse(markup: str, **options: Any) -> turbohtml.Document:
        pages.append(markup)
        return turbohtml.parse(markup, **options)

    for module in (page_module, tree):
        monkeypatch.setattr(module, "parse", parse)
    return pages


@pytest.fixture
def config(tmp_path: Path) -> ArchiveConfig:
    return ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db")


def visit(archive: Archive, page: Page) -> Capture:
    """Do what a crawl does with a page that it fetched."""
    found = read_links(archive, page.body, content_type(page.headers), page.url, ASKED)
    assert found.text
    return archive.add(archive.judge(archive.mark(archive.cut(snapshot_of(page)))))


def test_a_new_page_is_parsed_once(config: ArchiveConfig, parsed: list[str]) -> None:
    with closing(Archive.open(config)) as archive:
        assert visit(archive, make_page(html(STORY))).kind is Kind.NEW
    assert len(parsed) == 1


def test_a_changed_page_is_parsed_once_and_so_is_the_version_before(
    config: ArchiveConfig, parsed: list[str]
) -> None:
    pages = [make_page(html(text), day) for day, text in enumerate((STORY, f"{STORY} Nobody came.", "No."))]
    with closing(Archive.open(config)) as archive:
        visit(archive, pages[0])
    parsed.clear()
    with closing(Archive.open(config)) as archive:
        assert visit(archive, pages[1]).kind is Kind.CHANGED
        assert len(parsed) == 2
        parsed.clear()
        visit(archive, pages[1])
        assert parsed == []  # it is kept


def test_so_many_bytes_keep_their_trees_and_one_page_whatever_its_size(
    monkeypatch: pytest.MonkeyPatch, parsed: list[str]
) -> None:
    monkeypatch.setattr(readings, "KEPT_BYTES", 10)
    kept = Readings()
    first, second = kept.of(b"<p>1", "text/html"), kept.of(b"<p>2", "text/html")
    texts = [(page.main_text, page.title) for page in (first, second)]
    assert kept.of(b"<p>1", "text/html") is first
    kept.of(b"<p>3", "text/html")  # in place of the one asked for longest ago
    assert kept.of(b"<p>1", "text/html") is first
    assert parsed == ["<p>1", "<p>2"]
    assert kept.of(b"<p>2", "text/html") is second  # without its tree
    assert [(page.main_text, page.title) for page in (first, second)] == texts
    assert parsed == ["<p>1", "<p>2"]
    assert (second.start(0), second.links) == (3, [])
    assert parsed == ["<p>1", "<p>2", "<p>2"]
    large = kept.of(b"<p>a large page", "text/html")
    assert kept.of(b"<p>a large page", "text/html") is large


def test_so_many_bytes_are_kept_without_their_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "KEPT_BYTES", 4)
    monkeypatch.setattr(readings, "READ_BYTES", 8)
    kept = Readings()
    pages = [kept.of(b"<p>%d" % number, "text/html") for number in range(4)]
    assert [kept.of(page.body, "text/html") is page for page in reversed(pages)] == [True] * 3 + [False]


def test_a_page_without_its_tree_is_compared_as_before(parsed: list[str]) -> None:
    menus = [f"<nav><a href=/{day}>Home</a></nav>" for day in range(2)]
    bodies = [html(menu, STORY, text) for menu, text in zip(menus, ("", "Nobody came."), strict=True)]
    whole = [PageReading(body, "text/html") for body in bodies]
    without = [PageReading(body, "text/html") for body in bodies]
    for page in without:
        assert page.main_text
        page.forget_tree()
    parsed.clear()
    found, expected = significance(*without), significance(*whole)
    assert found == expected
    assert len(parsed) == len(whole)
    assert list(found.added) == list(expected.added) != []  # the place of a line is read from its tree
    assert len(parsed) > len(whole)
    assert [list(page.worth) for page in without] == [list(page.worth) for page in whole]
    assert beside(*without) == beside(*whole)


def test_the_same_bytes_of_another_type_are_another_page() -> None:
    kept = Readings()
    assert kept.of(b"<p>1", "text/html").main_text == "1"
    assert kept.of(b"<p>1", "text/plain").lines == ("<p>1",)


@pytest.mark.parametrize(
    ("body", "title"),
    [
        (b"<title>A tern\n dives</title>" + html(STORY), "A tern dives"),
        (b"<!-- <title>Not this</title> --><TITLE>This</TITLE ><p>" + STORY.encode(), "This"),
        (b"<title></title><p>a</p><title>b</title>", ""),
        (b"<title>Never closed", "Never closed"),
        ("<title>K\xfcste</title><p>caf\xe9</p>".encode("latin-1"), "K\xfcste"),
        ("\ufeff<title>K\xfcste</title>".encode("utf-16"), "K\xfcste"),
        (b"%PDF-1.4", ""),
    ],
)
def test_a_title_is_that_of_the_whole_page(body: bytes, title: str) -> None:
    assert Readings().title(body, "text/html") == Readings().of(body, "text/html").full_title == title


def test_only_the_beginning_of_a_page_is_parsed_for_its_title(parsed: list[str]) -> None:
    assert Readings().title(b"<title>a</title>" + html(STORY), "text/html") == "a"
    assert parsed == ["<title>a</title>"]


def test_a_reading_counts_for_its_lines_and_elements_too() -> None:
    page = PageReading(html(STORY), "text/html")
    assert page.weight == len(page.body)
    assert page.main_text
    page.forget_tree()
    walk = page.content.walk if page.content else None
    assert walk is not None
    assert page.weight == len(page.body) + readings.ITEM_BYTES * (len(walk.lines) + len(walk.places))


def test_a_past_version_makes_room_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "READ_BYTES", 8)
    kept = Readings()
    first, second = kept.of(b"<p>1", "text/html"), kept.of(b"<p>2", "text/html")
    second.is_past = True
    kept.forget_trees()
    kept.of(b"<p>3", "text/html")
    kept.forget_trees()  # in place of the second, though the first was used longer ago
    assert kept.of(b"<p>1", "text/html") is first
    assert kept.of(b"<p>2", "text/html") is not second


def test_a_past_version_takes_no_room_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "READ_BYTES", 8)
    kept = Readings()
    pages = [kept.of(b"<p>%d" % number, "text/html") for number in range(3)]
    pages[2].is_past = True
    kept.forget_trees()
    assert [kept.of(page.body, "text/html") is page for page in pages] == [True, True, False]


def test_edits_are_forgotten_with_the_trees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readings, "KEPT_BYTES", 0)  # the page put there last is kept alone
    kept = Readings()
    pages = [kept.of(html(STORY, number), "text/html") for number in "12"]
    for before, after in (pages, reversed(pages)):
        after.since_version(before)
        assert kept.of(after.body, "text/html") is after
    assert all(page.since for page in pages)
    kept.forget_trees()
    assert not any(page.since for page in pages)


def test_a_page_with_a_past_is_read_once_however_many_others_come_between(
    monkeypatch: pytest.MonkeyPatch, config: ArchiveConfig, parsed: list[str]
) -> None:
    monkeypatch.setattr(readings, "KEPT_BYTES", 0)  # the page put there last is kept alone
    monkeypatch.setattr(readings, "READ_BYTES", 0)
    bodies = [html(STORY, f"<nav>{day}</nav>") for day in range(3)]
    others = [html(f"<p>Another page {number}") for number in range(2)]
    with closing(Archive.open(config)) as archive:
        for day in range(2):
            visit(archive, make_page(bodies[day], day))
        for day, body in enumerate(others):
            visit(archive, make_page(body, day, url=f"http://a.test/{day}"))
        parsed.clear()
        visit(archive, make_page(bodies[2], 2))
    assert bodies[1].decode() not in parsed


def test_the_habits_of_lines_need_no_earlier_version_again(
    monkeypatch: pytest.MonkeyPatch, config: ArchiveConfig, parsed: list[str]
) -> None:
    monkeypatch.setattr(readings, "READ_BYTES", 0)  # the page put there last is kept alone
    bodies = [html(STORY, *(["Nobody came."] if day % 2 else []), f"<nav>{day}</nav>") for day in range(8)]
    with closing(Archive.open(config)) as archive:
        for day, body in enumerate(bodies):
            parsed.clear()
            found = visit(archive, make_page(body, day))
            archive.readings.forget_trees()
    assert (found.kind, found.reason) == (Kind.TOUCHED, "only lines that come and go or count")
    assert parsed == [bodies[-1].decode()]
