"""Tables as a terminal shows them."""

from __future__ import annotations

import pytest
from wcwidth import width

from archivebot.cli import print_table

CELLS = ["plain", "中文网页", "한국어", "ﾊﾝｶｸ", "مرحبا", "ข้อความ", "cafe\u0301"]
CELLS += ["👩\u200d💻 e", "🇩🇪", "❤\ufe0f", "\x1b[31m"]


@pytest.mark.parametrize("cell", CELLS)
def test_the_next_column_begins_at_the_same_place_in_any_script(
    cell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_table(["title", "size", "page"], [[cell, 5, "/a"], ["longest of all titles", 1000, "/b"]])
    lines = capsys.readouterr().out.splitlines()
    assert {width(line.rpartition("  ")[0]) for line in lines} == {len("longest of all titles  1000")}
    assert lines[1].endswith("     5  /a")


def test_a_wide_head_widens_its_column(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["标题", "n"], [["a", 1]])
    assert capsys.readouterr().out == "标题  n\na     1\n"


def test_a_cell_is_measured_with_its_breaks_and_controls_replaced(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["a", "b"], [["x\ty\nz", "1\u202e"], ["xxxxx", "-"]])
    assert capsys.readouterr().out.splitlines()[1:] == ["x y z  1\ufffd", "xxxxx  -"]


def test_texts_that_begin_with_a_number_are_no_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["n", "why"], [["9 d", "2 of 3 visits saw a change"], ["1.5 kB", "10 of 10 visits saw none"]])
    assert capsys.readouterr().out == (
        "     n  why\n   9 d  2 of 3 visits saw a change\n1.5 kB  10 of 10 visits saw none\n"
    )
