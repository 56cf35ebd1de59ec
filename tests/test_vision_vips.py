"""VIPS on pages made by hand: what is divided, how coherent it is, and that blocks nest."""

from __future__ import annotations

import time
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivebot.vision.block import Box, VisionBlock, around
from archivebot.vision.node import Font, Node
from archivebot.vision.vips import segment


def text(words: str, left: float, top: float, right: float, bottom: float, **given: object) -> Node:
    return Node("", Box(left, top, right, bottom), f"/text()[{words}]", words, **{"inline": True, **given})


def element(tag: str, *children: Node, box: Box | None = None, **given: object) -> Node:
    whole = box or around(child.box for child in children)
    return Node(tag, whole, f"/{tag}[{whole.left},{whole.top}]", children=children, **given)


def page(*, line: bool = False) -> Node:
    """Return a page of a head, a menu beside a story of two paragraphs, and a foot, 1000 by 800."""
    head = element("header", text("Bay News", 0, 0, 400, 60, font=Font(32.0, 700)), box=Box(0, 0, 1000, 60))
    items = [element("li", text(f"Item {n}", 0, 100 + 20 * n, 90, 118 + 20 * n)) for n in range(5)]
    story = [
        element(
            "p",
            text(f"Story {n}", 200, 100 + 250 * n, 990, 340 + 250 * n),
            box=Box(200, 100 + 250 * n, 1000, 340 + 250 * n),
        )
        for n in range(2)
    ]
    rest = [element("hr", box=Box(0, 640, 1000, 642))] if line else []
    foot = element(
        "footer", text("Imprint", 0, 700, 300, 780), box=Box(0, 700, 1000, 780), background="black"
    )
    middle = element("div", element("ul", *items), element("div", *story))
    return element("body", head, middle, *rest, foot, box=Box(0, 0, 1000, 800))


def assert_nested(block: VisionBlock) -> None:
    assert 1 <= block.doc <= 10
    for child in block.children:
        assert block.box.holds(child.box)
        assert child.doc >= block.doc
        assert_nested(child)
    for one, other in combinations(block.children, 2):
        assert not one.box.overlaps(other.box)
    for separator in block.separators:
        assert 1 <= separator.weight <= 9
        assert not any(separator.box.overlaps(child.box) for child in block.children)


@pytest.mark.parametrize("permitted", range(1, 11))
def test_children_lie_within_their_parent_side_by_side_and_no_less_coherent(permitted: int) -> None:
    found = segment(page(line=True), permitted)
    assert_nested(found)
    assert found.path == page().path
    assert " ".join(leaf.text for leaf in found.leaves()).split() == found.text.split()


def test_the_parts_of_a_page_are_its_blocks() -> None:
    texts = [leaf.text for leaf in segment(page(), 6).leaves()]
    assert texts == ["Bay News", "Item 0 Item 1 Item 2 Item 3 Item 4", "Story 0 Story 1", "Imprint"]


def test_the_more_coherence_is_asked_for_the_more_blocks_there_are() -> None:
    counts = [len(list(segment(page(), permitted).leaves())) for permitted in range(1, 11)]
    assert counts == sorted(counts)
    assert counts[0] == 1
    assert counts[-1] == 9  # head, five items, two paragraphs, foot


def test_what_is_not_divided_further_is_as_coherent_as_permitted_or_one_thing() -> None:
    for permitted in range(1, 11):
        for leaf in segment(page(), permitted).leaves():
            assert leaf.doc >= permitted or leaf.elements == 1


def test_an_hr_is_an_explicit_separator_and_no_block() -> None:
    found = segment(page(line=True), 6)
    assert "hr" not in {block.tag for block in found.walk()}
    (drawn,) = [separator for block in found.walk() for separator in block.separators if separator.explicit]
    assert drawn.box.holds(Box(0, 640, 1000, 642))
    assert drawn.weight == max(separator.weight for block in found.walk() for separator in block.separators)
    assert not any(
        separator.explicit for block in segment(page(), 6).walk() for separator in block.separators
    )


def test_text_in_one_font_has_degree_10_and_in_two_9() -> None:
    plain = element("p", text("One", 0, 0, 50, 10), text("two", 50, 0, 90, 10))
    bold = element("b", text("two", 50, 40, 90, 50, font=Font(16.0, 700)), inline=True)
    mixed = element("p", text("One", 0, 40, 50, 50), bold)
    found = segment(element("body", plain, mixed), 10)
    assert [(block.text, block.doc) for block in found.children] == [("One two", 10), ("One two", 9)]


def test_text_between_blocks_is_a_block_and_flows_together_with_inline_elements() -> None:
    link = element("a", text("there", 60, 100, 100, 110), inline=True)
    body = element(
        "body", element("h1", text("Head", 0, 0, 90, 20)), text("Go", 0, 100, 50, 110), link,
        element("p", text("End", 0, 200, 90, 220)),
    )  # fmt: skip
    assert [leaf.text for leaf in segment(body, 8).leaves()] == ["Head", "Go there", "End"]


def test_a_part_of_another_colour_is_a_block() -> None:
    def column(top: float, colour: str) -> Node:
        return element("p", text(f"At {top:.0f}", 0, top, 100, top + 100), background=colour)

    body = element("body", *(column(100.0 * n, "red" if n == 1 else "white") for n in range(3)))
    assert [leaf.text for leaf in segment(body, 6).leaves()] == ["At 0", "At 100", "At 200"]


def test_parts_that_overlap_are_one_block() -> None:
    body = element(
        "body",
        element("p", text("One", 0, 0, 100, 100)),
        element("p", text("Two", 50, 50, 150, 150)),
        element("p", text("Three", 0, 300, 100, 400)),
    )
    found = segment(body, 10)
    assert_nested(found)
    assert [leaf.text for leaf in found.leaves()] == ["One Two", "Three"]


def test_what_lies_over_the_page_does_not_join_what_it_covers() -> None:
    banner = element("div", text("Cookies", 0, 80, 100, 320), lifted=True)
    body = element(
        "body",
        element("p", text("One", 0, 0, 100, 100)),
        element(
            "div", element("p", text("Two", 0, 300, 100, 400)), element("p", text("Three", 0, 450, 100, 900))
        ),
        banner,
    )
    found = segment(body, 10)
    assert_nested(found)
    assert sorted(word for leaf in found.leaves() for word in leaf.text.split()) == [
        "Cookies",
        "One",
        "Three",
        "Two",
    ]
    assert len(list(found.leaves())) >= 2


def test_parts_that_interlock_are_children_without_separators() -> None:
    pinwheel = [
        Box(0, 0, 20, 10),
        Box(20, 0, 30, 20),
        Box(10, 20, 30, 30),
        Box(0, 10, 10, 30),
        Box(12, 12, 18, 18),
    ]
    body = element(
        "body",
        *(element("p", text(str(n), b.left, b.top, b.right, b.bottom)) for n, b in enumerate(pinwheel)),
    )
    found = segment(body, 10)
    assert_nested(found)
    assert len(found.children) == 5
    assert found.separators == ()


def test_a_page_of_one_text_is_one_block() -> None:
    found = segment(element("body", element("div", element("p", text("Alone", 0, 0, 90, 10)))))
    assert (found.doc, found.text, found.children) == (10, "Alone", ())


PLACES = st.integers(0, 60)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(PLACES, PLACES, PLACES, PLACES, st.integers(0, 3), st.sampled_from("pab"), st.booleans())
    ),
    st.integers(1, 10),
)
def test_any_page_gives_nested_blocks_with_all_its_text(
    given_boxes: list[tuple[int, int, int, int, int, str, bool]], permitted: int
) -> None:
    leaves = [
        element(
            tag,
            text(f"t{n}", x, y, x + w + 2, y + h + 2),
            inline=tag != "p",
            lifted=lifted,
            background="wrgb"[colour],
        )
        for n, (x, y, w, h, colour, tag, lifted) in enumerate(given_boxes)
    ] or [element("p", text("t", 0, 0, 9, 9))]
    half = len(leaves) // 2
    groups = [element("div", *part) for part in (leaves[:half], leaves[half:]) if part]
    found = segment(element("body", *groups), permitted)
    assert_nested(found)
    assert sorted(" ".join(leaf.text for leaf in found.leaves()).split()) == sorted(
        leaf.children[0].text for leaf in leaves
    )


def test_a_page_of_many_parts_takes_a_moment() -> None:
    rows = [element("p", text(f"Row {n}", 0, 20 * n, 500, 20 * n + 15)) for n in range(3000)]
    deep = text("Deep", 600, 0, 700, 10)
    for _ in range(400):
        deep = element("div", deep)
    started = time.process_time()
    found = segment(element("body", *rows, deep), 10)
    assert time.process_time() - started < 3
    assert len(list(found.leaves())) > 1000
