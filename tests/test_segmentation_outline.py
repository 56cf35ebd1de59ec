"""The outline: the blocks that a reader sees at first sight, and what is hidden from her."""

from __future__ import annotations

import pytest

from archivebot.markup.seen import MAX_DEPTH, Box, look
from archivebot.markup.tree import Source
from archivebot.segmentation.outline import outline

TEXT = "<p>" + "A sentence of the page with some words in it. " * 20 + "</p>"
PAGE = f"""<!DOCTYPE html><html><body class="home"><div id="wrap">
<div id="top"><h1>Site</h1><a href="/">Home</a> <a href="/news">News</a></div>
<div id="middle">{TEXT}</div>
<div id="bottom">Address and rights</div>
</div><div style="width: 300px; display: none;"><form>Tell us<textarea></textarea></form></div>
</body></html>"""


def cut(page: str, charset: str = "utf-8") -> list[str]:
    body = page.encode(charset)
    return [body[block.start : block.end].decode(charset) for block in outline(body)]


def seen(page: str) -> Box:
    box = look(Source.of(page.encode(), "utf-8"))
    assert box is not None
    return box


def test_a_frame_is_opened_and_what_is_hidden_is_not_seen() -> None:
    assert [block[:16] for block in cut(PAGE)] == ['<div id="top"><h', '<div id="middle"', '<div id="bottom"']


def test_what_holds_less_than_the_whole_page_is_not_opened() -> None:
    two = f"<div id=a>{TEXT}<div>{TEXT}</div></div><div id=b>{TEXT}</div>"
    assert [block[:8] for block in cut(two)] == ["<div id=", "<div id="]


def test_paragraphs_and_headings_beside_each_other_are_one_block() -> None:
    assert cut("<div>Head</div><h1>A</h1><p>B</p>C<ul><li>D</ul><table><tr><td>E</table>") == [
        "<div>Head</div>",
        "<h1>A</h1><p>B</p>C<ul><li>D</ul>",
        "<table><tr><td>E</table>",
    ]


def test_a_feed_is_one_block_and_columns_of_one_class_are_several() -> None:
    items = f"<div class=post>{TEXT}</div>" * 4
    assert cut(f"<div id=wrap><h2>News</h2>{items}</div>") == [f"<div id=wrap><h2>News</h2>{items}</div>"]
    assert len(cut(f"<div id=wrap><h2>News</h2>{items[: len(items) // 4 * 3]}</div>")) == 4
    assert len(cut(f"<table><tr>{f'<td class=a>{TEXT}</td>' * 4}</tr></table>")) == 4


def test_layout_inside_an_inline_element_counts_as_layout() -> None:
    assert cut("<center><font><div>Head</div><p>Text</p></font></center>") == [
        "<div>Head</div>",
        "<p>Text</p>",
    ]


def test_a_page_of_one_text_is_one_block() -> None:
    assert cut(f"<html><body>{TEXT}</body></html>") == [TEXT]
    assert cut("<html><body></body></html>") == ["<html><body></body></html>"]


def test_offsets_hold_in_sixteen_bits() -> None:
    page = "\ufeff<html><body><div>Kopf</div><div>Ünder 𝄞</div></body></html>"
    assert cut(page, "utf-16-le") == ["<div>Kopf</div>", "<div>Ünder 𝄞</div>"]


@pytest.mark.parametrize(
    ("page", "letters", "linked", "links", "pictures", "controls"),
    [
        ("<p>a b&nbsp;&amp;c<!-- no --></p>", 4, 0, 0, 0, 0),
        ("<p>text <a href=/>two <b>words</b></a> <a name=x>here</a>", 16, 8, 1, 0, 0),
        ("<p hidden>no</p><script>no</script><noscript>no</noscript><style>no</style>", 0, 0, 0, 0, 0),
        ("<p><img src=a><svg><text>no</text></svg><video>no</video></p>", 2, 0, 0, 3, 0),
        (
            "<form><input name=q><input type=submit><input type=hidden><select><option>no</select>",
            0,
            0,
            0,
            0,
            2,
        ),
        ("<table><tr><td>a<td>b</table>", 2, 0, 0, 0, 0),
        ("<html hidden><body style='display:none'><p>a</p><p hidden>no</p>", 1, 0, 0, 0, 0),
        ("<body hidden><p><a href=/>a</a><img src=a>", 1, 1, 1, 1, 0),
    ],
)
def test_what_is_counted(
    page: str, letters: int, linked: int, links: int, pictures: int, controls: int
) -> None:
    box = seen(page)
    found = box.counts
    counts = (found.letters, found.linked, found.links, found.pictures, found.controls)
    assert counts == (letters, linked, links, pictures, controls)


def test_text_below_the_greatest_depth_is_counted() -> None:
    assert seen("<div>" * (MAX_DEPTH + 100) + "deep").letters == 4
    assert cut("<div>" * 5000 + "deep")


def test_letters_that_the_parser_moved_count_where_they_are_in_the_source() -> None:
    page = seen("<div><p>before</p><table><b>moved</b><tr><td>cell</table></div><p>after</p>")
    (outer, _) = page.parts
    table = outer.parts[1]
    assert (table.node.tag, page.sight.is_moved) == ("table", True)
    page.sight.recount(page)
    assert page.letters == sum(part.letters for part in page.parts)
    assert outer.letters == sum(part.letters for part in outer.parts)
    assert (page.letters, table.letters, outer.before(table.node.end)) == (20, 9, (2, 15))


def test_what_the_parser_moved_out_of_tables_counts_in_them() -> None:
    page = seen(
        "<a href=/a>go<table><tr><td>one</td></tr>moved<img src=a></table></a>"
        "<table><a href=/b>two</a><tr><td>three</td></tr></table><table><tr><td>last</table>end"
    )
    page.sight.recount(page)
    link, second, third, text = page.parts
    assert page.letters == sum(part.letters for part in page.parts) == 25
    assert [part.letters for part in (link, *link.parts, second, third, text)] == [10, 2, 8, 8, 4, 3]
    first = link.parts[1].counts
    assert (first.letters, first.linked, first.pictures) == (8, 8, 1)
    assert (second.counts.linked, second.counts.links) == (3, 1)
    assert page.before(text.node.start) == (3, 22)
