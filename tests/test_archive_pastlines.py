"""The lines of earlier versions are kept compressed, so that no earlier version is read twice."""

from __future__ import annotations

import pytest

from archivebot.archive import pastlines
from archivebot.archive.pastlines import PastLines


def key(number: int) -> pastlines.Key:
    return f"{number:064x}", "text/html", ()


@pytest.mark.parametrize(
    "lines", [(), ("",), ("", ""), ("A tern", "", "d\xefves"), ("\ud800", "北京")], ids=repr
)
def test_lines_are_kept_as_they_are(lines: tuple[str, ...]) -> None:
    past = PastLines()
    past.keep(key(1), lines)
    assert past.get(key(1)) == lines


def test_lines_are_those_of_one_version_read_in_one_way() -> None:
    past = PastLines()
    past.keep(("a" * 64, "text/html", ()), ("A tern", "12 visits"))
    past.keep(("a" * 64, "text/html", (".visits",)), ("A tern",))
    assert past.get(("a" * 64, "text/html", ())) == ("A tern", "12 visits")
    assert past.get(("a" * 64, "text/html", (".visits",))) == ("A tern",)
    assert past.get(("a" * 64, "text/plain", ())) is None


def test_the_lines_used_longest_ago_make_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pastlines, "KEPT_BYTES", 60)
    past = PastLines()
    for number in range(2):
        past.keep(key(number), (f"line {number}",))
    assert past.get(key(0)) == ("line 0",)
    for number in range(2, 4):
        past.keep(key(number), (f"line {number}",))
    found = [past.get(key(number)) is not None for number in range(4)]
    assert found[1] is False
    assert found[3] is True
    assert 1 <= sum(found) <= 3
