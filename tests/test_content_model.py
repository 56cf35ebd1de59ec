"""The model of main lines and the weights that come with it."""

from __future__ import annotations

import math

from turbohtml import parse

from archivebot.content.lines import LineWalk
from archivebot.content.measures import measures
from archivebot.content.model import Model, line_words, near, shipped


def walk(markup: str) -> LineWalk:
    return LineWalk(parse(markup))


def test_every_weight_of_the_shipped_model_has_its_measure() -> None:
    lines = walk("<p>One line").lines
    assert set(shipped().measures) == set(measures(lines, ""))


def test_a_likelihood_is_the_logistic_of_the_sum_of_its_weights() -> None:
    model = Model(0.5, {"linked": -2.0}, {"nav": -1.0, "ul": 0.25}, {".tail": 3.0}, {"more": 0.125})
    line = walk("<nav><ul><li class=tail><a href=/>more</a> of it").lines
    share = 4 / len("more of it")
    wanted = 0.5 - 2 * share - 1 + 0.25 + 3 + 0.125
    assert math.isclose(model.likelihood(line, "")[0], 1 / (1 + math.exp(-wanted)))
    assert len(model.likelihood([], "")) == 0


def test_near_names_are_those_that_nothing_further_out_has() -> None:
    place = walk("<div class=a-page><section class=the-card><p class=lead-text>x").lines[0].place
    assert near(place) == {"section", ".the", ".card", "p", ".lead", ".text"}


def test_only_a_short_line_is_known_by_its_words() -> None:
    assert line_words("Add to cart") == {"add", "to", "cart"}
    assert line_words("a b c d e f g h i j k l m") == set()


def test_prose_is_likelier_than_navigation_of_the_same_page() -> None:
    prose = "Terns are seabirds of the family Laridae, normally found near the sea, rivers, or wetlands. " * 3
    lines = walk(f"<nav><ul><li><a href=/>Home</a></ul></nav><article><p>{prose}</p></article>").lines
    menu, article = shipped().likelihood(lines, "")
    assert article > 0.8 > menu


def test_measures_of_neighbours_stop_at_the_ends_of_the_page() -> None:
    columns = measures(walk("<p>aa<p>bb<p>cc").lines, "")
    one = columns["characters"][0]
    assert columns["characters -1"].tolist() == [0, one, one]
    assert columns["characters +2"].tolist() == [one, 0, 0]


def test_measures_of_the_elements_around_grow_to_the_page() -> None:
    columns = measures(walk("<div><p>aaaa</p><p>bbbb</p></div><p>cccccccc</p>").lines, "")
    assert columns["share ^0"].tolist() == [0.25, 0.25, 0.5]
    assert columns["share ^1"].tolist() == [0.5, 0.5, 1]
    assert columns["share ^3"].tolist() == [1, 1, 1]
