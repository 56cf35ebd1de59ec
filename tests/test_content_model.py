"""The model of main lines and the weights that come with it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from turbohtml import parse

from archivebot.content.context import MEANS
from archivebot.content.known import TABLES
from archivebot.content.lines import LineWalk
from archivebot.content.measures import measures
from archivebot.content.model import Model, shipped
from archivebot.content.surroundings import Around, Column

PROSE = "Terns are seabirds of the family Laridae, normally found near the sea, rivers, or wetlands. " * 3


def walk(markup: str) -> LineWalk:
    return LineWalk(parse(markup))


def measured(markup: str) -> dict[str, Column]:
    lines = walk(markup).lines
    return measures(lines, "", Around.of(lines))


def small(**rows: list[float]) -> Model:
    """A model with one hidden value that knows one name of each table."""
    order = ("bias", "linked", *TABLES)
    index = {table: {name: at} for at, (table, name) in enumerate(zip(TABLES, NAMES, strict=True), 2)}
    mix = np.zeros((MEANS + 2, 1))
    mix[0] = 2
    return Model(
        {"linked": (0.5, 0.25)}, index, np.array([rows.get(n, [0, 0]) for n in order]), (mix,), (np.ones(1),)
    )


NAMES = ("nav", ".tail", "more", "terns", "latest")


def test_every_measure_of_the_shipped_model_is_measured() -> None:
    assert set(shipped().scales) == set(measured("<p>One line"))


def test_a_score_is_the_sum_of_what_goes_straight_and_of_what_is_mixed() -> None:
    model = small(bias=[0.5, 0.25], linked=[-2, 0], names=[-1, 0], near=[3, 0.5], words=[0.125, 0])
    line = walk("<nav><ul><li class=tail><a href=/>more</a> of it").lines
    share = 4 / len("more of it")
    wanted = 0.5 - 2 * (share - 0.5) / 0.25 - 1 + 3 + 0.125 + 2 * (0.25 + 0.5)
    assert math.isclose(model.likelihood(line, "")[0], 1 / (1 + math.exp(-wanted)))
    assert len(model.likelihood([], "")) == 0


def test_a_hidden_value_below_zero_is_none() -> None:
    model = small(bias=[1, -5])
    assert math.isclose(model.likelihood(walk("<p>x").lines, "")[0], 1 / (1 + math.exp(-1)))


def test_a_name_counts_once_however_many_elements_have_it() -> None:
    model = small(names=[1, 0], bias=[0.25, 0])
    lines = walk("<nav><div><nav><p>x").lines
    assert math.isclose(model.likelihood(lines, "")[0], 1 / (1 + math.exp(-1.25)), abs_tol=1e-9)


def test_prose_is_likelier_than_navigation_of_the_same_page() -> None:
    lines = walk(f"<nav><ul><li><a href=/>Home</a></ul></nav><article><p>{PROSE}</p></article>").lines
    menu, article = shipped().likelihood(lines, "")
    assert article > 0.8 > menu


def test_a_model_is_read_as_it_was_written() -> None:
    text = shipped().to_json()
    again = Model.from_json(text)
    assert (again.to_json(), again.scales, again.index) == (text, shipped().scales, shipped().index)
    assert again.rows.tolist() == shipped().rows.tolist()
    assert json.loads(text)["bias"] == (shipped().rows[0] * 100).round().tolist()


@pytest.mark.parametrize("table", TABLES)
def test_every_row_belongs_to_one_name(table: str) -> None:
    rows = [row for names in shipped().index.values() for row in names.values()]
    assert sorted(rows) == list(range(len(shipped().scales) + 1, len(shipped().rows)))
    assert shipped().index[table]


def test_measures_of_neighbours_stop_at_the_ends_of_the_page() -> None:
    columns = measured("<p>aa<p>bb<p>cc")
    one = columns["characters"][0]
    assert columns["characters -1"].tolist() == [0, one, one]
    assert columns["characters +2"].tolist() == [one, 0, 0]


def test_measures_of_the_elements_around_grow_to_the_page() -> None:
    columns = measured("<div><p>aaaa</p><p>bbbb</p></div><p>cccccccc</p>")
    assert columns["share ^0"].tolist() == [0.25, 0.25, 0.5]
    assert columns["share ^1"].tolist() == [0.5, 0.5, 1]
    assert columns["share ^3"].tolist() == [1, 1, 1]
