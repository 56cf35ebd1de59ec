"""The site style tree: acceptance fact 8 of the reference, cleaning, and what is written."""

from __future__ import annotations

import json

import pytest

from archivebot.exceptions import UsageError
from archivebot.models import Block
from archivebot.templates import styletree
from archivebot.templates.importance import (
    GAMMA,
    composite_importance,
    content_importance,
    node_importance,
)
from archivebot.templates.parts import Part, parts_of
from archivebot.templates.styletree import Element, StyleTree


def part(tag: str, *parts: Part, says: str = "") -> Part:
    return Part(tag, parts=parts, feature=says)


def page(*below: str) -> Part:
    """Return a page TABLE-IMG-TABLE whose right table holds these."""
    return part("body", part("table"), part("img"), part("table", *map(part, below)))


def names(element: Element) -> list[tuple[list[str], int]]:
    return [([tag for tag, _ in looks], style.count) for looks, style in element.styles.items()]


@pytest.fixture
def two_pages() -> StyleTree:
    tree = StyleTree()
    tree.add(page("p", "img", "p", "a"))
    tree.add(page("p", "br", "p"))
    return tree


def test_two_pages_with_one_style_of_the_body_and_two_below_the_right_table(two_pages: StyleTree) -> None:
    body, *rest = two_pages.elements
    assert (body.look, body.count) == (("body", ""), 2)
    assert names(body) == [(["table", "img", "table"], 2)]
    right = rest[2]
    assert (right.look, right.count) == (("table", ""), 2)
    assert names(right) == [(["p", "img", "p", "a"], 1), (["p", "br", "p"], 1)]
    assert [element.count for element in rest[3:]] == [1] * 7


def test_importance_of_presentation() -> None:
    assert node_importance([100], 100) == 0
    assert node_importance([35, 25, 25, 15], 100) == pytest.approx(0.2921, abs=5e-5)
    assert node_importance([1], 1) == 1


def test_importance_of_contents() -> None:
    assert content_importance([3, 1, 1, 1], 3) == 0.75
    assert content_importance([7], 7) == 0
    assert content_importance([2], 1) == 1


def test_the_power_of_gamma_is_the_number_of_styles() -> None:
    for styles, power in ((1, 0.9), (2, 0.81), (3, 0.729)):
        assert pytest.approx(power) == GAMMA**styles
        assert composite_importance(0.0, [(1 / styles, 1.0)] * styles) == pytest.approx(power)
        assert composite_importance(1.0, [(1 / styles, 0.0)] * styles) == pytest.approx(1 - power)


def test_styles_are_weighted_by_their_share_of_pages(two_pages: StyleTree) -> None:
    # Below: 4 and 3 elements on one page each, all of importance 1. Right: two styles, node importance 1.
    # Body: one style of table 0, img 0, table 1.
    assert two_pages.importances[3] == pytest.approx(1.0)
    assert two_pages.importances[0] == pytest.approx(0.9 / 3)


def test_a_tree_of_one_page_or_none_divides_by_nothing() -> None:
    tree = StyleTree()
    assert tree.pages == 0
    assert tree.importances == [1.0]
    tree.add(page("p"))
    assert set(tree.importances) == {1.0}


def site(number: int) -> bytes:
    return f"""<html><body class=page-{number}><div class=top><a href=/>Home</a> <img src=logo.png></div>
<div class=text><h1>Title {number}</h1><p>Words of page {number}.</p></div>
<div class=foot><p>The rights</p><p>The address</p></div><script>n={number}</script></body></html>""".encode()


def learned(count: int) -> StyleTree:
    tree = StyleTree()
    for number in range(count):
        found = parts_of(site(number))
        assert found is not None
        tree.add(found)
    return tree


def text_of(body: bytes, part: Part) -> bytes:
    return body[part.start : part.end]


def test_the_largest_noisy_parts_are_the_furniture() -> None:
    tree, body = learned(10), site(77)
    found = parts_of(body)
    assert found is not None
    assert [text_of(body, noise)[:15] for noise in tree.noise(found)] == [
        b"<div class=top>",
        b"<div class=foot",
    ]


def test_blocks_are_known_by_how_many_pages_say_the_same_there() -> None:
    tree, body = learned(10), site(3)
    found = parts_of(body)
    assert found is not None
    start, end = body.index(b"<div class=text"), body.index(b"<div class=foot")
    head, text, foot = Block(0, start, 1), Block(start, end, 1), Block(end, len(body), 1)
    shares = tree.repeats(found, [head, text, foot, Block(0, len(body), 1), Block(5, 6, 2)])
    assert (shares[head], shares[text], shares[foot]) == pytest.approx((1.0, 0.1, 1.0))
    assert 0.1 < shares[Block(0, len(body), 1)] < 1
    assert shares[Block(5, 6, 2)] == 0


def test_a_tree_without_pages_knows_no_repetition() -> None:
    found, block = parts_of(site(1)), Block(0, len(site(1)), 1)
    assert found is not None
    assert StyleTree().repeats(found, [block]) == {block: 0.0}


def test_what_no_page_had_before_is_important() -> None:
    tree = learned(10)
    strange = part("body", part("table", part("tr", says="x")))
    assert [value for _, value in tree.weigh(strange)][1:] == [1.0, 1.0]
    assert tree.noise(strange) == []


def test_an_element_that_is_bare_on_some_pages_has_a_style_more() -> None:
    tree = StyleTree()
    for parts in ((), (part("p", says="x"),)):
        tree.add(part("body", Part("div", parts=parts)))
    # Two styles on one page each: 0.19 * 1 + 0.81 * (0.5 * 1 + 0.5 * 0), as nothing stands in the bare one.
    assert tree.importances[1] == pytest.approx(0.19 + 0.81 * 0.5)


def test_a_tree_is_read_as_it_was_written_and_goes_on_growing() -> None:
    tree = learned(4)
    again = StyleTree.from_json(tree.to_json())
    assert again.importances == tree.importances
    for one in (tree, again):
        found = parts_of(site(9))
        assert found is not None
        one.add(found)
    assert again.to_json() == tree.to_json()
    assert again.pages == 5


def test_another_version_is_not_read() -> None:
    data = json.loads(StyleTree().to_json()) | {"version": 0}
    with pytest.raises(UsageError, match="version 0"):
        StyleTree.from_json(json.dumps(data))


def test_contents_beyond_the_bound_count_as_standing_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    whole, bounded = StyleTree(), StyleTree()
    contents = ["same", "a", "same", "b", "c", "d"]
    for text in contents:
        whole.add(part("body", part("p", says=text)))
    monkeypatch.setattr(styletree, "MOST_FEATURES", 2)
    for text in contents:
        bounded.add(part("body", part("p", says=text)))
    assert (len(bounded.elements[1].features), bounded.elements[1].once) == (2, 3)
    assert bounded.importances == whole.importances


def test_a_full_tree_stays_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    tree = StyleTree()
    monkeypatch.setattr(styletree, "MOST_ELEMENTS", 3)
    assert tree.add(page("p", "br"))
    before = tree.to_json()
    assert not tree.add(page("p", "br"))
    assert tree.to_json() == before


def test_deep_pages_are_merged_and_written() -> None:
    tree = StyleTree()
    for _ in range(2):
        found = parts_of(b"<div>" * 3000 + b"deep")
        assert found is not None
        tree.add(found)
    assert StyleTree.from_json(tree.to_json()).pages == 2
