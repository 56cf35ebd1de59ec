"""The block with most words of its own is the plain main text of a page."""

from __future__ import annotations

import sys

import pytest

from archivebot.content.page import read
from tests.conftest import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))  # scripts beside each other, no package

from ownwords import own_words


def chosen(markup: str) -> list[str]:
    lines = read(markup)[1].lines
    return [line.text for line, yes in zip(lines, own_words(lines), strict=True) if yes]


def test_of_two_blocks_the_one_with_one_character_more_wins() -> None:
    less, more = "a" * 100, "b" * 101
    assert chosen(f"<div>{less}</div><div>{more}</div>") == [more]
    assert chosen(f"<div>{more}</div><div>{less}</div>") == [more]


def test_of_equals_the_first_stays() -> None:
    assert chosen(f"<div>{'a' * 100}</div><div>{'b' * 100}</div>") == ["a" * 100]


def test_a_block_of_links_alone_counts_nothing() -> None:
    links = "<a href=/>" + "A very long link " * 50 + "</a>"
    assert chosen(f"<div>{links}</div><div>Short</div>") == ["Short"]
    assert chosen(f"<div>{links}</div>") == []
    assert chosen(f"<div>Text {links}</div><div>Own words</div>") == ["Own words"]


@pytest.mark.parametrize("markup", ["", " ", "<html><body></body></html>", "<div><img alt=text></div>"])
def test_an_empty_page_gives_nothing(markup: str) -> None:
    assert chosen(markup) == []


@pytest.mark.parametrize("inner", ["<div>{}</div>", "<table><tr><td>{}</table>"])
def test_text_of_blocks_within_is_not_a_blocks_own(inner: str) -> None:
    first, second = "a" * 30, "b" * 30
    nested = inner.format(first) + inner.format(second)
    assert chosen(f"<div>{'c' * 40}{nested}</div><div>short</div>") == ["c" * 40]
    assert chosen(f"<div>{'c' * 20}{nested}</div>") == [first]


def test_paragraphs_items_and_headings_count_for_the_block_around_them() -> None:
    assert chosen("<div><h2>Terns</h2><p>Dive.</p><ul><li>Fish</ul></div><div>Imprint</div>") == [
        "Terns",
        "Dive.",
        "Fish",
    ]


def test_a_page_without_blocks_is_one() -> None:
    assert chosen("<h1>Terns</h1><p>Dive.") == ["Terns", "Dive."]


def test_of_a_table_that_arranges_a_page_the_fullest_table_within_wins() -> None:
    page = "<table><tr><td>Menu<td><table><tr><td>Terns dive for fish<tr><td>and eat</table></table>"
    assert chosen(page) == ["Terns dive for fish", "and eat"]
