"""The lines among which a line is judged."""

from __future__ import annotations

import numpy as np
from turbohtml import parse

from archivebot.content.context import CLOSE, MEANS, Context, Matrix
from archivebot.content.lines import LineWalk
from archivebot.content.surroundings import Around

PAGE = "<ul><li class=name>one</li><li>two words</li><li class=name>three</li></ul><p>four and five</p>"


def context(markup: str) -> Context:
    return Context.of(lines := LineWalk(parse(markup)).lines, Around.of(lines))


def means(found: Context, values: Matrix) -> list[Matrix]:
    own, *others = np.hsplit(found.beside(values), MEANS + 1)
    assert (own == values).all()
    return others


def test_the_mean_over_the_page_is_weighted_by_length() -> None:
    found = context(PAGE)
    values = np.arange(8.0).reshape(4, 2)
    page = means(found, values)[4]
    assert np.allclose(page, np.average(values, axis=0, weights=found.weights))
    assert found.weights[3] > found.weights[1] > found.weights[0] == found.weights[2]


def test_lines_of_one_kind_have_one_mean() -> None:
    alike = means(context(PAGE), np.array([[1.0], [5], [3], [7]]))[-1]
    assert alike[:, 0].tolist() == [2, 5, 2, 7]


def test_the_first_line_has_itself_before_it_and_the_last_itself_behind() -> None:
    found = context("<p>a" * 8)
    before, behind = (means(found, np.arange(8.0)[:, None])[at][:, 0] for at in (5, 6))
    assert before[:3].tolist() == [0, 0, 0.5]
    assert behind[-3:].tolist() == [6.5, 7, 7]
    assert before[7] == np.mean([3, 4, 5, 6])
    assert CLOSE == 4


def test_the_shares_are_the_transposed_of_the_means() -> None:
    found, chance = context(PAGE * 3), np.random.default_rng(1)
    values = chance.random((12, 2))
    slopes = [chance.random((12, 2)) for _ in range(MEANS)]
    by_means = sum((mean * slope).sum() for mean, slope in zip(means(found, values), slopes, strict=True))
    assert np.isclose(by_means, (values * found.shares(slopes)).sum())
