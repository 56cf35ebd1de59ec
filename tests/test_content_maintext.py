"""Which lines of a page are its main text, and where they stand."""

from __future__ import annotations

import numpy as np
from turbohtml import parse

from archivebot.content.lines import LineWalk
from archivebot.content.maintext import choose, joined, ranges, tempered


def expected_f1(likelihood: list[float], words: list[int], chosen: list[bool]) -> float:
    right = sum(p * w for p, w, yes in zip(likelihood, words, chosen, strict=True) if yes)
    size = sum(w for w, yes in zip(words, chosen, strict=True) if yes)
    return 2 * right / (size + sum(p * w for p, w in zip(likelihood, words, strict=True)))


def test_no_other_choice_of_the_likeliest_lines_is_worth_more() -> None:
    told, words = np.array([0.7, 0.2, 0.95, 0.4, 0.5]), [10, 80, 40, 5, 60]
    chosen, likelihood = choose(told, words).tolist(), tempered(told).tolist()
    order = sorted(range(5), key=lambda i: -likelihood[i])
    others = [[i in order[:count] for i in range(5)] for count in range(1, 6)]
    assert chosen in others
    best = max(expected_f1(likelihood, words, other) for other in others)
    assert expected_f1(likelihood, words, chosen) == best


def test_a_page_of_unlikely_lines_keeps_the_likeliest() -> None:
    assert choose(np.array([0.001, 0.002, 0.001]), [3, 50, 3]).tolist() == [False, True, False]


def test_a_range_is_the_largest_element_that_is_main_as_a_whole() -> None:
    markup = "<body><nav><p>a</p></nav><div><p>b</p><p>c</p></div><div><p>d</p><p>e</p></div></body>"
    walk = LineWalk(parse(markup, source_locations=True))
    found = ranges(walk.places, walk.lines, np.array([False, True, True, True, False]))
    assert [markup[start:end] for start, end in found] == ["<div><p>b</p><p>c</p></div>", "<p>d</p>"]


def test_a_refrain_stays_and_so_do_the_breaks_of_its_lines() -> None:
    verse = "And the ferry comes<br>in the morning"
    walk = LineWalk(parse(f"<p>First<br>verse</p><p>{verse}</p><p>Second</p><p>{verse}<br><br>End</p>"))
    refrain = "And the ferry comes\nin the morning"
    every = [True] * len(walk.lines)
    assert joined(walk.lines, every) == f"First\nverse\n{refrain}\nSecond\n{refrain}\n\nEnd"


def test_the_same_text_in_an_element_of_another_kind_is_left_out() -> None:
    said = "<div class=wide><p>The ferry runs again<p>Ferry</div>"
    walk = LineWalk(parse(f"{said}{said.replace('wide', 'narrow')}{said}"))
    said = "The ferry runs again\nFerry"
    assert joined(walk.lines, [True] * 6) == f"{said}\nFerry\n{said}"


def test_a_heading_to_which_a_list_of_contents_leads_stays() -> None:
    walk = LineWalk(parse("<li><a href=#foot>The way on foot</a><h2>The way on foot</h2>"))
    assert joined(walk.lines, [True, True]) == "The way on foot\nThe way on foot"
