"""Blocks through two captures: no text stands in two of them, and order and place of those that stay hold."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from archivebot.markup import tree
from archivebot.markup.dom import visible_text
from archivebot.markup.tree import Source
from archivebot.models import Block, Change
from archivebot.segmentation.outline import outline
from archivebot.segmentation.segmenter import partition
from archivebot.versioning.align import align

LEVELS = range(1, 7)


def nested(depth: int, kind: str) -> str:
    """Nest elements of a kind; each level has text of its own before and after the inner one."""
    open_, close = {"div": ("<div>", "</div>"), "table": ("<table><tr><td>", "</td></tr></table>")}[kind]
    inner = f"<p>core{depth} of the page</p><p>second{depth} of the page</p>"
    for level in range(depth, 0, -1):
        words = (
            f"{open_}before{level} some words that stand here . {{}} . after{level} and some behind it{close}"
        )
        inner = words.format(inner + f"<div>beside{level} with a text of its own</div>")
    return inner


def article(word: str = "quiet", items: int = 5) -> bytes:
    """Return a page with a menu, a story, a nested table and a list of so many items."""
    listed = "".join(
        f"<li><a href=/{n}>Item {n}</a> was shown in the hall of item {n}</li>" for n in range(items)
    )
    rows = "".join(f"<tr><td>Row {n}<td>Value {n * n}</tr>" for n in range(4))
    return f"""<html><head><title>Hall</title></head><body>
<div id=head><h1>The hall</h1><p>What is on, and where it is to be found</p></div>
<div id=page><div id=story><h2>News of today</h2><p>The hall was {word} all morning, and nobody came.</p>
<p>In the afternoon there was music by the band of the town.</p></div>
<div id=list><ul>{listed}</ul></div>
<div id=table><table><tr><td><table>{rows}</table></td><td>Beside the table</td></tr></table></div></div>
<div id=foot><p>Imprint and copyright of the hall</p></div></body></html>""".encode()


def pieces(body: bytes, level: int) -> list[bytes]:
    return [body[block.start : block.end] for block in partition(body, level).blocks]


def path(body: bytes, block: Block) -> str:
    """Return the elements down to the first of a block, each with its number among those of its tag."""
    node, steps = tree.root(Source.of(body, "utf-8")), ["body"]
    while node is not None and node.element is not None and node.start < block.start:
        count: Counter[str] = Counter()
        for child in tree.children(node.element, *tree.content(node)):
            count[child.tag] += 1
            if child.start <= block.start < child.end:
                steps.append(f"{child.tag or 'text'}[{count[child.tag]}]")
                node = child
                break
        else:
            return "/".join(steps)
    return "/".join(steps)


@pytest.mark.parametrize("kind", ["div", "table"])
@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize("level", LEVELS)
def test_text_of_nested_elements_is_never_counted_in_two_blocks(kind: str, depth: int, level: int) -> None:
    body = f"<body><h1>Top1 of all</h1>{nested(depth, kind)}</body>".encode()
    marks = re.findall(r"\b[a-zA-Z]+\d\b", visible_text(body, "utf-8"))
    for blocks in (partition(body, level).blocks, outline(body)):
        texts = [visible_text(body[block.start : block.end], "utf-8") for block in blocks]
        found = Counter(mark for text in texts for mark in re.findall(r"\b[a-zA-Z]+\d\b", text))
        assert found == Counter(marks)
        assert set(found.values()) == {1}


@pytest.mark.parametrize("level", LEVELS)
def test_blocks_stand_in_the_order_of_the_document(level: int) -> None:
    body = article()
    texts = [visible_text(piece, "utf-8").split() for piece in pieces(body, level)]
    assert [word for text in texts for word in text] == visible_text(body, "utf-8").split()


@pytest.mark.parametrize("level", LEVELS)
def test_two_captures_of_the_same_bytes_have_the_same_blocks_at_the_same_places(level: int) -> None:
    one, other = (partition(article(), level).blocks for _ in range(2))
    assert one == other
    assert [path(article(), block) for block in one] == [path(article(), block) for block in other]


@pytest.mark.parametrize("level", LEVELS)
def test_order_and_paths_of_blocks_that_stay_hold_when_a_word_changes_and_an_item_is_appended(
    level: int,
) -> None:
    before, after = article(), article("loud", items=6)
    old, new = partition(before, level).blocks, partition(after, level).blocks
    matches = align(
        pieces(before, level),
        pieces(after, level),
        lambda index: visible_text(pieces(before, level)[index], "utf-8"),
        lambda index: visible_text(pieces(after, level)[index], "utf-8"),
    )
    kept = [(match.before, match.after) for match in matches if match.before is not None]
    assert [before for before, _ in kept] == list(range(len(old)))  # none is lost, none is moved
    assert [path(before, old[one]) for one, _ in kept] == [
        path(after, new[other]) for _, other in kept if other is not None
    ]
    changed = [match for match in matches if match.change is not Change.UNCHANGED]
    assert {match.change for match in changed} <= {Change.MODIFIED, Change.ADDED}
    for match in changed:
        assert match.after is not None
        text = visible_text(pieces(after, level)[match.after], "utf-8")
        assert "loud" in text or "Item 5" in text


def test_an_edited_word_leaves_all_paths_and_changes_one_block() -> None:
    before, after = article(), article("loud")
    old, new = partition(before, 4).blocks, partition(after, 4).blocks
    assert [path(before, block) for block in old] == [path(after, block) for block in new]
    (changed,) = [piece for piece in pieces(after, 4) if piece not in pieces(before, 4)]
    assert b"loud" in changed
    assert path(after, new[pieces(after, 4).index(changed)]).startswith("body/div[2]/div[1]/p[1]")
