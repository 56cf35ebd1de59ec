"""The lines of a page and the elements around them."""

from __future__ import annotations

from turbohtml import parse

from archivebot.content.lines import MOST_DEPTH, Line, LineWalk


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
