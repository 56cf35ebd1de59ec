"""The site style tree: what it merges, what repeats, and what is written."""

from __future__ import annotations

import json

import pytest

from archivebot.exceptions import UsageError
from archivebot.models import Block
from archivebot.templates import styletree
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


def test_a_tree_is_read_as_it_was_written_and_goes_on_growing() -> None:
    tree = learned(4)
    again = StyleTree.from_json(tree.to_json())
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
    assert bounded.elements[1].features["same"] == whole.elements[1].features["same"] == 2


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
