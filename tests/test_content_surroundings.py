"""What is measured of the elements around a line."""

from __future__ import annotations

import math

import numpy as np
from turbohtml import parse

from archivebot.content.lines import Line, LineWalk
from archivebot.content.measures import measures
from archivebot.content.surroundings import LEVELS, Around, title_around, within

CARDS = "".join(f"<li class=card><h3>Tern {name}</h3><p>${name}" for name in (10, 20, 30))


def lines(markup: str) -> list[Line]:
    return LineWalk(parse(markup)).lines


def test_the_elements_around_grow_by_lines_and_end_with_the_page() -> None:
    found = lines("<div><div><p>a</p></div><p>b</p></div><p>c</p>")
    around = Around.of(found)
    assert (around.last - around.first).tolist() == [[1, 1, 1], [2, 2, 3], [3, 3, 3], [3, 3, 3]]
    assert len(around.first) == LEVELS


def test_an_element_is_looked_at_once_for_all_lines_in_it() -> None:
    around = Around.of(lines("<div>a<p>b</p>c</div>"))
    assert [place.tag for place in around.places] == ["div", "p"]
    assert around.index.tolist() == [0, 1, 0]


def test_values_are_summed_within_ranges() -> None:
    assert within(np.array([1.0, 2, 4]), np.array([0, 1, 2]), np.array([3, 2, 2])).tolist() == [7, 2, 0]


def test_the_title_is_as_far_as_the_levels_to_what_holds_both() -> None:
    page = "<main><header><h1>abcd</h1></header><p>efgh</p></main><footer><ul><li>ijklmnop</ul></footer>"
    found = lines(page)
    columns = title_around(Around.of(found), np.array([4.0, 4, 8]))
    assert columns["below title"].tolist() == [0, 0.1, 0.3]
    assert columns["above title"].tolist() == [0, 0.2, 0.3]
    assert columns["with title"].tolist() == [0.25, 0.5, 1]
    assert not any(column.any() for column in title_around(Around.of(lines("<p>a")), np.ones(1)).values())


def test_images_and_prices_of_a_card_are_counted() -> None:
    found = lines(f"<img src=a><p>Menu</p><ul>{CARDS.replace('<h3>', '<img src=i><img src=j><h3>')}</ul>")
    columns = measures(found, "", Around.of(found))
    assert columns["images before"].tolist() == [1, 2, 0, 2, 0, 2, 0]
    assert math.isclose(columns["page images"][0], math.log1p(7))
    assert math.isclose(columns["price ^2"][1], math.log1p(3))
