"""The partition: the paper's example and cases, any bytes, hostile pages."""

from __future__ import annotations

import random
import re
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivebot.models import Block
from archivebot.segmentation.layout import join, split
from archivebot.segmentation.segmenter import MAX_PARTS, partition


def texts(body: bytes, level: int) -> list[str]:
    """Return the blocks of a body with their tags taken out."""
    return [
        re.sub(rb"<[^>]*>", b" ", body[block.start : block.end]).decode("utf-8", "replace").strip()
        for block in partition(body, level).blocks
    ]


def assert_partition(body: bytes, blocks: tuple[Block, ...]) -> None:
    """Check that the blocks are ordered, disjoint, within the body, and that it can be put together again."""
    assert all(0 <= block.start < block.end <= len(body) for block in blocks)
    assert all(one.end <= other.start for one, other in pairwise(blocks))
    assert join(*split(body, blocks)) == body


def paper_page(changed: str = "") -> bytes:
    """Build the page of the paper's figure 2: title, columns, bottom; CC2..CC6 can be changed."""

    def block(name: str, text: str) -> str:
        return f'<div id="{name}">{text} <b>{name}</b></div>'

    centre = "".join(block(f"CC{n}", f"Story {n} {changed if n > 1 else ''} of the day") for n in range(1, 7))
    return f"""<html><head><title>News</title></head><body>
<div id="T">{block("T1", "The masthead")}{block("T2", "The menu")}</div>
<div id="C">{block("CL", "Left column with links")}
<div id="CC">{centre}</div>
<div id="CR">{"".join(block(f"CR{n}", f"Aside {n}") for n in range(1, 4))}</div></div>
<div id="B">{block("B1", "Imprint")}{block("B2", "Copyright")}</div>
</body></html>""".encode()


@pytest.mark.parametrize(
    ("level", "names"),
    [
        (1, "T C B"),
        (2, "T1 T2 CL CC CR B1 B2"),
        (3, "T1 T2 CL CC1 CC2 CC3 CC4 CC5 CC6 CR1 CR2 CR3 B1 B2"),
        (4, "T1 T2 CL CC1 CC2 CC3 CC4 CC5 CC6 CR1 CR2 CR3 B1 B2"),
    ],
)
def test_the_papers_example_is_cut_level_by_level(level: int, names: str) -> None:
    body = paper_page()
    found = [re.match(rb'<div id="(\w+)"', body[b.start : b.end]) for b in partition(body, level).blocks]
    assert " ".join(match[1].decode() if match else "?" for match in found) == names


def test_a_change_of_five_stories_changes_exactly_their_blocks() -> None:
    def pieces(body: bytes, level: int) -> list[bytes]:
        return [body[block.start : block.end] for block in partition(body, level).blocks]

    before, after = paper_page(), paper_page("updated")
    new = [piece for piece in pieces(after, 3) if piece not in pieces(before, 3)]
    assert [re.search(rb'id="(\w+)"', piece)[1] for piece in new] == [b"CC2", b"CC3", b"CC4", b"CC5", b"CC6"]
    (new,) = [piece for piece in pieces(after, 2) if piece not in pieces(before, 2)]
    assert new.startswith(b'<div id="CC">')
    (new,) = [piece for piece in pieces(after, 1) if piece not in pieces(before, 1)]
    assert new.startswith(b'<div id="C">')


def test_the_head_and_scripts_stay_in_the_layout() -> None:
    body = b"<head><title>T</title></head><body><script>var a = '<p>x</p>'</script><p>One</p><p>Two</p>"
    assert texts(body, 3) == ["One", "Two"]


def test_mostly_text_is_cut_at_its_paragraphs() -> None:
    body = (
        b"<html><body>" + b"".join(b"<p>Paragraph %d is here.</p>" % n for n in range(30)) + b"</body></html>"
    )
    assert len(partition(body, 1).blocks) == 30


def test_text_and_inline_elements_between_blocks_make_a_block() -> None:
    assert texts(b"<div><p>One</p>loose <b>text</b> here<p>Two</p></div>", 1) == [
        "One",
        "loose  text  here",
        "Two",
    ]


def test_wrappers_cost_no_level() -> None:
    body = b"<body>" + b"<div><div><section>" * 5 + b"<p>One</p><p>Two</p>" + b"</section></div></div>" * 5
    assert texts(body, 1) == ["One", "Two"]


def test_a_page_without_tags_around_its_text_is_one_block() -> None:
    assert texts(b"<html>just some words", 3) == ["just some words"]


def test_many_blanks_do_not_belong_to_blocks() -> None:
    (block,) = partition(b"<body>" + b" \n" * 1000 + b"<p>x</p>" + b" \n" * 1000, 3).blocks
    assert (block.start, block.end) == (2006, 2014)


def test_images_and_forms_without_text_are_blocks() -> None:
    body = b"<div><img src=a></div><div><form><input name=q></form></div><div> </div>"
    assert len(partition(body, 1).blocks) == 2


def test_a_long_table_becomes_tens_of_blocks_whose_limits_survive_an_insertion() -> None:
    def page(rows: list[str]) -> bytes:
        return ("<table>" + "".join(rows) + "</table>").encode()

    rows = [f"<tr><td>Name {n:05}</td><td>{'value ' * 30}</td></tr>" for n in range(2000)]
    before, after = page(rows), page([*rows[:1000], "<tr><td>New</td><td>row</td></tr>", *rows[1000:]])
    pieces = [{body[b.start : b.end] for b in partition(body, 1).blocks} for body in (before, after)]
    assert 10 <= len(pieces[0]) <= 2 * MAX_PARTS
    assert len(pieces[1] - pieces[0]) == 1


def test_deeper_levels_cut_only_inside_blocks_of_shallower_ones() -> None:
    body = paper_page()
    for level in range(1, 6):
        coarse, fine = partition(body, level).blocks, partition(body, level + 1).blocks
        assert all(any(c.start <= f.start and f.end <= c.end for c in coarse) for f in fine)


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be", "utf-16"])
def test_utf_16_is_cut_at_whole_characters(charset: str) -> None:
    text = "<html><body><p>Grüße \U0001f600 \ud55c\uad6d</p><p>Zwei</p></body></html>"
    body = text.encode(charset) if charset == "utf-16" else ("\ufeff" + text).encode(charset)
    blocks = partition(body, 1).blocks
    assert_partition(body, blocks)
    plain = "utf-16-be" if charset == "utf-16-be" else "utf-16-le"
    assert [body[b.start : b.end].decode(plain)[:3] for b in blocks] == ["<p>", "<p>"]
    assert body[blocks[0].start : blocks[0].end].decode(plain).endswith("\ud55c\uad6d</p>")


@pytest.mark.parametrize("charset", ["gb18030", "shift_jis", "euc-jp", "big5", "euc-kr", "iso-2022-jp"])
def test_east_asian_charsets_are_cut_at_tags(charset: str) -> None:
    words = {"euc-kr": "\ud55c\uad6d\uc5b4", "big5": "\u4e2d\u83ef\u6c11\u570b"}.get(
        charset, "\u65e5\u672c\u8868\u30bd"
    )
    body = f"<meta charset={charset}><body><p>{words}</p><p>{words}{words}</p>".encode(charset)
    found = partition(body, 1)
    assert [body[b.start : b.end].decode(charset) for b in found.blocks] == [
        f"<p>{words}</p>",
        f"<p>{words}{words}</p>",
    ]


@pytest.mark.parametrize(
    "body",
    [
        b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        b"%PDF-1.7\n<p>not html</p>",
        b"no markup at all",
        b"\x00" * 100,
    ],
    ids=["png", "pdf", "text", "nul"],
)
def test_what_is_no_markup_is_one_block(body: bytes) -> None:
    assert partition(body, 3).blocks == (Block(0, len(body), 1),)


HOSTILE = {
    "nested": b"<div>x",
    "unclosed": b"<p><b><i><font>",
    "misnested": b"<b><i></b>x</i>",
    "tables": b"<table><tr><td>x",
    "foster": b"<table>x<b>",
    "open comment": b"<!--",
    "quotes": b"<a b='\"",
    "less-than": b"<",
    "end tags": b"</div>",
    "scripts": b"<script>",
    "select": b"<select><option>",
    "svg": b"<svg><title>",
    "nul": b"<p>\x00x",
    "crlf": b"<p>\r\nx\r",
    "frameset": b"<frameset><frame>",
    "paragraphs": b"<p>word</p>",
    "lists": b"<ul><li>x",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_pages_are_partitioned(name: str) -> None:
    body = b"<html><body>" + HOSTILE[name] * 10_000
    assert_partition(body, partition(body, 6).blocks)


@pytest.mark.long
@pytest.mark.parametrize("name", ["nested", "misnested", "tables", "quotes", "paragraphs"])
def test_ten_megabytes_of_hostile_markup_end_soon(name: str) -> None:
    body = b"<html><body>" + HOSTILE[name] * (10_000_000 // len(HOSTILE[name]))
    started = time.process_time()
    assert_partition(body, partition(body, 3).blocks)
    assert time.process_time() - started < 60  # a quadratic walk would take hours


@given(st.binary(max_size=300), st.integers(1, 9))
@settings(max_examples=200, deadline=None)
def test_any_bytes_at_any_level_are_put_together_again(data: bytes, level: int) -> None:
    assert_partition(data, partition(data, level).blocks)


UNCUT = [
    "<script>if (a<b) '</p>'</script>",
    "<style>p>a{}</style>",
    "<!-- <p>x</p> -->",
    "<title>a<b</title>",
    "<template><p>x</p><p>y</p></template>",
    "<svg><g><text>x</text></g><g>y</g></svg>",
    "<textarea><p>x</p></textarea>",
    "<img alt='<p>' src=x>",
]
TEXTS = ["some words ", "\r\n", "中文 ", "&amp; ", "<b>bold</b> ", "<a href=x>link</a> "]
CONTAINERS = ["div", "section", "p", "ul", "li", "table", "td", "article"]
TREES = st.recursive(
    st.sampled_from(UNCUT + TEXTS),
    lambda inner: st.tuples(st.sampled_from(CONTAINERS), st.lists(inner, max_size=6)),
    max_leaves=60,
)


def written(tree: object, out: bytearray, uncut: list[range]) -> None:
    """Write a tree as HTML, noting the offsets at which nothing may be cut."""
    if isinstance(tree, str):
        start = len(out)
        out += tree.encode()
        if tree in UNCUT:
            uncut.append(range(start + 1, len(out)))
        return
    assert isinstance(tree, tuple)
    tag, inner = tree
    for piece in (f"<{tag} class='{tag}'>", *inner, f"</{tag}>"):
        start = len(out)
        written(piece, out, uncut)
        if piece not in inner:
            uncut.append(range(start + 1, len(out)))


@pytest.mark.long
@given(st.lists(TREES, max_size=8), st.integers(1, 6))
@settings(max_examples=300, deadline=None)
def test_cuts_never_fall_inside_a_tag_comment_script_or_template(trees: list[object], level: int) -> None:
    out, uncut = bytearray(b"<html><body>"), [range(1, 6), range(7, 12)]
    for tree in trees:
        written(tree, out, uncut)
    blocks = partition(bytes(out), level).blocks
    assert_partition(bytes(out), blocks)
    inside = {at for found in uncut for at in found}
    assert not inside & {edge for block in blocks for edge in (block.start, block.end)}


@given(
    st.lists(st.sampled_from([*UNCUT, *TEXTS, *(f"<{t}>" for t in CONTAINERS), "</p>", "</b>", "<", "\x00"]))
)
@settings(max_examples=200, deadline=None)
def test_tag_soup_is_put_together_again(tokens: list[str]) -> None:
    body = "".join(tokens).encode()
    assert_partition(body, partition(body, 4).blocks)


def test_partitions_of_mutated_pages_are_put_together_again() -> None:
    rng = random.Random(7)
    page = paper_page()
    for _ in range(300):
        body = bytearray(page)
        for _ in range(rng.randrange(1, 20)):
            at = rng.randrange(len(body))
            body[at : at + rng.randrange(3)] = bytes(rng.choices(b"<>/\"'=-! \x00p", k=rng.randrange(3)))
        assert_partition(bytes(body), partition(bytes(body), rng.randrange(1, 6)).blocks)
