"""Limits that stay where the tags stay."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivebot.models import Block
from archivebot.segmentation.carry import carry
from archivebot.segmentation.segmenter import partition
from tests.test_segmentation_segmenter import TREES, UNCUT, assert_partition, paper_page, written

PAGE = (
    b"<html><head><script>var t = '<p>1</p>'</script></head><body><!-- 1 -->\n"
    b"<p>One &amp; all</p>\n<ul><li>First</li><li>Second item</li></ul>loose text\n<p title='a > b'>Two</p>\n"
    b"</body></html>"
)


def pieces(body: bytes, blocks: tuple[Block, ...] | None) -> list[bytes]:
    assert blocks is not None
    assert_partition(body, blocks)
    return [body[block.start : block.end] for block in blocks]


def carried(after: bytes, level: int = 2) -> list[bytes] | None:
    blocks = carry(PAGE, partition(PAGE, level).blocks, after)
    return None if blocks is None else pieces(after, blocks)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"Second item", b"Second item, which is now longer than all others by far"),
        (b"One &amp; all", b"One &lt; none &#65;"),
        (b"loose text", b"loose text, and more of it"),
        (b"title='a > b'", b'class="x > y < z"'),
        (b">Two<", b">\n  Two\n\n<"),
    ],
)
def test_an_edit_changes_the_block_that_holds_it_and_no_other(old: bytes, new: bytes) -> None:
    before = pieces(PAGE, partition(PAGE, 2).blocks)
    (edited,) = [index for index, piece in enumerate(before) if old.strip(b"<>") in piece]
    after = carried(PAGE.replace(old, new))
    assert after is not None
    assert [index for index, pair in enumerate(zip(before, after, strict=True)) if pair[0] != pair[1]] == [
        edited
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [(b"var t = '<p>1</p>'", b"var t = '<b>2'"), (b"<!-- 1 -->", b"<!-- <p>2 -->"), (b"\n", b"\r\n ")],
)
def test_a_change_around_the_blocks_changes_none(old: bytes, new: bytes) -> None:
    assert carried(PAGE.replace(old, new)) == pieces(PAGE, partition(PAGE, 2).blocks)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"<li>First</li>", b""),
        (b"<li>First</li>", b"<li>Zeroth</li><li>First</li>"),
        (b"<ul>", b"<ol>"),
        (b"Second", b"<b>Second</b>"),
        (b"</p>\n<ul>", b"</p>\ntext where there was none<ul>"),
        (b"loose text", b""),
        (b"<!-- 1 -->", b""),
        (b"</body>", b"<p>Three</p></body>"),
        (b"</script>", b""),
    ],
)
def test_other_tags_or_texts_come_or_gone_are_cut_anew(old: bytes, new: bytes) -> None:
    assert old in PAGE
    assert carried(PAGE.replace(old, new)) is None


def test_the_same_body_has_the_same_blocks() -> None:
    blocks = partition(PAGE, 3).blocks
    assert carry(PAGE, blocks, PAGE) == blocks
    assert carry(b"", (), b"") == ()


def test_an_edit_far_longer_than_its_block_is_followed_to_its_end() -> None:
    after = carried(PAGE.replace(b"First", b"word " * 20_000))
    assert after is not None
    assert after[-1] == b"<p title='a > b'>Two</p>"


def test_the_papers_example_keeps_its_limits() -> None:
    before, after = paper_page(), paper_page("updated")
    assert carry(before, partition(before, 3).blocks, after) == partition(after, 3).blocks


@pytest.mark.long
@given(st.lists(TREES, max_size=6), st.integers(1, 5), st.data())
@settings(max_examples=200, deadline=None)
def test_carried_limits_never_fall_inside_a_tag_comment_script_or_template(
    trees: list[object], level: int, data: st.DataObject
) -> None:
    out, ignored = bytearray(b"<html><body>"), [range(0)]
    for tree in trees:
        written(tree, out, ignored)
    body = bytes(out)
    words = data.draw(st.sampled_from(["other", "much longer words than before ", "&lt;", "中"]))
    after_trees = [_edited(tree, words) for tree in trees]
    new, uncut = bytearray(b"<html><body>"), [range(1, 6), range(7, 12)]
    for tree in after_trees:
        written(tree, new, uncut)
    blocks = carry(body, partition(body, level).blocks, bytes(new))
    if blocks is not None:
        assert_partition(bytes(new), blocks)
        inside = {at for found in uncut for at in found}
        assert not inside & {edge for block in blocks for edge in (block.start, block.end)}
        assert len(blocks) == len(partition(body, level).blocks)


def _edited(tree: object, words: str) -> object:
    if isinstance(tree, str):
        return re.sub("words", words, tree) if tree not in UNCUT else tree
    assert isinstance(tree, tuple)
    return tree[0], [_edited(inner, words) for inner in tree[1]]


@given(st.binary(max_size=200), st.binary(max_size=200))
@settings(max_examples=200, deadline=None)
def test_any_two_bodies_give_a_partition_or_none(before: bytes, after: bytes) -> None:
    blocks = carry(before, partition(before, 2).blocks, after)
    if blocks is not None:
        assert_partition(after, blocks)
