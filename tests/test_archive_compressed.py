"""What is seldom needed is kept compressed, so that no page is read twice for it."""

from __future__ import annotations

import pytest

from archivebot.archive import compressed
from archivebot.archive.compressed import Compressed
from archivebot.archive.readings import PageReading
from archivebot.content.lines import MOST_DEPTH


@pytest.mark.parametrize(
    "lines", [(), ("",), ("", ""), ("A tern", "", "d\xefves"), ("\ud800", "北京")], ids=repr
)
def test_lines_are_kept_as_they_are(lines: tuple[str, ...]) -> None:
    past = Compressed[tuple[str, ...]]()
    past.keep(1, lines)
    assert past.get(1) == lines


def test_an_object_is_that_of_its_key() -> None:
    past = Compressed[str]()
    past.keep(("a" * 64, "text/html", ()), "12 visits")
    past.keep(("a" * 64, "text/html", (".visits",)), "A tern")
    assert past.get(("a" * 64, "text/html", ())) == "12 visits"
    assert past.get(("a" * 64, "text/html", (".visits",))) == "A tern"
    assert past.get(("a" * 64, "text/plain", ())) is None


def test_the_objects_used_longest_ago_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "KEPT_BYTES", 100)  # three of 32 bytes
    past = Compressed[tuple[str, ...]]()
    for number in range(3):
        past.keep(number, (f"line {number}",))
    assert past.get(0) == ("line 0",)
    past.keep(3, ("line 3",))
    assert [past.get(number) is not None for number in range(4)] == [True, False, True, True]


def test_the_reading_of_a_deep_page_is_kept_completely() -> None:
    page = PageReading(
        b"<title>Terns</title>" + b"<div>" * (MOST_DEPTH - 9) + b"<p>A tern dives for fish. " * 40,
        "text/html",
    )
    assert page.main_text
    expected = page.main_text, page.lines, list(page.worth), page.fingerprint, page.title
    page.forget_tree()
    kept = Compressed[PageReading]()
    kept.keep(1, page)
    found = kept.get(1)
    assert found is not None
    assert found is not page
    assert (found.main_text, found.lines, list(found.worth), found.fingerprint, found.title) == expected
    assert not found.content.page.has_tree
