"""The lines of a page and the elements around them."""

from __future__ import annotations

import pytest
from turbohtml import parse

from archivebot.content.lines import MOST_DEPTH, Line, LineWalk, are_kept
from archivebot.markup.edits import edits


def lines(markup: str) -> list[Line]:
    return LineWalk(parse(markup, source_locations=True)).lines


def test_blocks_end_lines_and_inline_elements_do_not() -> None:
    found = lines("<h1>A <i>b</i></h1>loose<p>c<br>d<ul><li>e<li>f</ul><table><tr><td>g<td>h</table>")
    assert [line.text for line in found] == ["A b", "loose", "c d", "e", "f", "g", "h"]


def test_what_no_reader_sees_is_no_line() -> None:
    hidden = "<title>t</title><script>s</script><style>y</style><template>m</template><!-- c -->"
    assert [line.text for line in lines(f"{hidden}<p>seen")] == ["seen"]


def test_the_text_for_readers_without_scripts_is_read() -> None:
    assert [line.text for line in lines("<div id=app></div><noscript><p>The thread</p></noscript>")] == [
        "The thread"
    ]


def test_characters_in_links_and_in_bold_are_counted() -> None:
    line = lines("<p>ab <a href=/>cdef</a> <b>gh</b> <a href=/>i</a>")[0]
    assert (line.linked, line.links, line.bold) == (5, 2, 2)


def test_a_line_knows_the_names_of_all_elements_around_it() -> None:
    place = lines('<body class=page><div id=sideBar><ul role=menu><li style="display: none">x</ul></div>')[
        0
    ].place
    assert place.names == {"html", "body", "div", ".side", ".bar", "ul", ".menu", "li", ".undisplayed"}
    assert place.own == {"li", ".undisplayed"}


def test_an_element_knows_its_lines_and_its_source() -> None:
    markup = "<body><div><p>a</p><p>b</p></div><p>c</p></body>"
    walk = LineWalk(parse(markup, source_locations=True))
    block = next(place for place in walk.places if place.tag == "div")
    assert (block.first, block.last) == (0, 2)
    assert block.source is not None
    assert markup[slice(*block.source)] == "<div><p>a</p><p>b</p></div>"


def test_nesting_without_end_is_read_to_a_depth() -> None:
    deep = "<div>" * (MOST_DEPTH - 20)
    assert [line.text for line in lines(f"{deep}reached")] == ["reached"]
    assert lines("<div>" * 20_000 + "x") == []


def test_an_element_that_the_page_made_up_ends_lines_and_names_them() -> None:
    found = lines("<cart-drawer>in it</cart-drawer>beside<b>not</b>")
    assert [line.text for line in found] == ["in it", "besidenot"]
    assert found[0].place.own == {"cart-drawer", ".cart", ".drawer"}


def test_what_the_page_does_not_show_is_told_from_what_it_hides_from_screen_readers() -> None:
    page = "<p hidden>a<p style='color:red; display:none'>b<p aria-hidden=true>c<p aria-hidden=false>d"
    names = [line.place.own for line in lines(page)]
    assert names == [{"p", ".undisplayed"}, {"p", ".undisplayed"}, {"p", ".unseen"}, {"p"}]


def test_names_for_tests_and_for_screen_readers_are_read_where_classes_are_generated() -> None:
    place = lines('<div class="a1 b2" data-testid=productGrid aria-label="Related items">x')[0].place
    assert place.own == {"div", ".product", ".grid", ".related", ".items"}


def test_images_are_counted_since_the_line_before() -> None:
    found = lines("<img src=a><p>one</p><div><img src=b><img src=c></div><p>two</p><p>three</p>")
    assert [line.images for line in found] == [1, 2, 0]


def test_links_without_a_text_are_none_of_the_next_line() -> None:
    found = lines("<div><a href=/><img src=a></a></div> <p><a href=/b>b</a></p>")
    assert [(line.text, line.links, line.images) for line in found] == [("b", 1, 1)]


def test_two_breaks_part_paragraphs_and_one_stays_in_the_text() -> None:
    found = lines("<div>one<br>two<br> <br/>\n<br>three <a href=/>x<br><br>y</a></div>")
    assert [line.text for line in found] == ["one two", "three x", "y"]
    assert [line.shown for line in found] == ["one\ntwo", "three x", "y"]
    assert [line.parted for line in found] == [False, True, True]
    assert [line.linked for line in found] == [0, 1, 1]


def test_a_preformatted_text_keeps_its_lines_and_blank_lines_part_it() -> None:
    found = lines("<p>a\nb</p><pre>\n<b>def f():\n</b>    x  \n\n\n  y\n</pre><p>c</p>")
    assert [line.shown for line in found] == ["a b", "def f():\n    x", "  y", "c"]
    assert [line.text for line in found] == ["a b", "def f(): x", "y", "c"]
    assert [line.parted for line in found] == [False, False, True, False]
    assert found[1].bold == len("def f():")


def test_words_of_scripts_without_spaces_are_counted_by_their_characters() -> None:
    assert lines("<p>人人生而自由在尊严上</p>")[0].words == 6
    assert lines("<p>한국 신문</p>")[0].words == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class=menu", "class=main"),
        ("class=menu", "class='menu 1'"),
        ("id=i1", "id=i2"),
        ("id=i1", "id=footer"),
        ("<i class=a>", "<i class=menu>"),
        ("<x-y class=a>", "<x-y class=menu>"),
        ("style=''", "style='display: none'"),
        ("style=''", "style='color: red'"),
        ("href=a", "href=b"),
        ("1()", "2()"),
        ("seen", "heard"),
    ],
)
def test_edits_keep_the_lines_that_are_the_same(old: str, new: str) -> None:
    page = (
        "<div class=menu id=i1><p style=''>seen <i class=a><a href=a>x</a></i><x-y class=a>z</x-y>"
        "</div><script>1()</script>"
    )
    assert old in page
    found = edits(page.encode(), page.replace(old, new).encode())
    assert found is not None
    walks = [LineWalk(parse(each)) for each in (page, page.replace(old, new))]
    assert are_kept(found) == walks[0].is_like(walks[1])
