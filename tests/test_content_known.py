"""What the lines of a page are known by, and the rows of a model that stand for it."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest
from turbohtml import parse

from archivebot.content.known import Features, Known, near
from archivebot.content.lines import Line, LineWalk
from archivebot.content.surroundings import Around
from archivebot.content.wording import line_words

INDEX = {
    "names": {"nav": 1, "p": 2},
    "near": {"nav": 3, "p": 4},
    "words": {"home": 5, "terns": 6},
    "above": {"<h2>": 7},
    "opened": {"latest": 8},
}
MARKUP = "<nav>Home<nav><p>Home</p></nav></nav><h2>Terns</h2><p>Of the sea</p>"


def lines(markup: str) -> list[Line]:
    return LineWalk(parse(markup)).lines


def known(markup: str) -> Known:
    return Known.of(Around.of(lines(markup)), INDEX)


def test_each_line_has_the_bias_and_the_rows_of_what_it_is_known_by() -> None:
    rows, starts = known(MARKUP).by_line()
    assert [sorted(each.tolist()) for each in np.split(rows, starts[1:])] == [
        [0, 1, 3, 5],
        [0, 1, 2, 3, 4, 5],
        [0, 6],
        [0, 2, 4, 7],
    ]
    assert rows[starts].tolist() == [0, 0, 0, 0]


def test_the_sums_of_the_bundles_are_those_of_the_rows_of_each_line() -> None:
    found = known(MARKUP)
    table = np.random.default_rng(0).normal(size=(9, 3))
    rows, starts = found.by_line()
    assert np.allclose(found.sums(table), np.add.reduceat(table[rows], starts))


def test_what_stands_under_a_heading_is_known_by_its_words() -> None:
    around = Around.of(lines("<p>a</p><h2>Terns of Europe</h2><p>b</p>"))
    found = [above for _, _, above, _ in Features.of(around).by_line(around)]
    assert found == [frozenset(), frozenset(), {"terns", "of", "europe", "<h2>"}]


def test_a_line_is_known_by_the_words_with_which_the_elements_around_it_open() -> None:
    around = Around.of(lines("<div><b>Latest news</b><ul><li>One<li>Two</ul></div><div><p>Alone</p></div>"))
    opened = [opening for *_, opening in Features.of(around).by_line(around)]
    assert opened == [set(), {"latest", "news"}, {"one", "latest", "news"}, {"latest", "news"}]
    rows, starts = Known.of(around, INDEX).by_line()
    assert [8 in each for each in np.split(rows, starts[1:])] == [False, True, True, True]


def test_near_names_are_those_of_the_nearest_two_elements() -> None:
    place = lines("<div class=a-page><section class=the-card><p class=lead-text>x")[0].place
    assert near(place) == {"section", ".the", ".card", "p", ".lead", ".text"}


def test_only_a_short_line_is_known_by_its_words() -> None:
    assert line_words("Add to cart") == {"add", "to", "cart"}
    assert line_words("a b c d e f g h i j k l m") == set()


@pytest.mark.long
def test_other_processes_add_up_the_rows_of_a_line_in_the_same_order() -> None:
    names = "main menu article content footer title sidebar related entry"
    code = f"""if True:
        from tests.test_content_known import Around, Known, lines
        names = {names.split()}
        rows = {{f".{{name}}": row for row, name in enumerate(names)}} | {{
            name: row for row, name in enumerate(names)
        }}
        markup = "<div class='{names}'><p class='{names}'>{names}</p></div>"
        index = dict.fromkeys(("names", "near", "words", "above", "opened"), rows)
        print(Known.of(Around.of(lines(markup)), index).rows.tolist())
    """
    found = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1
