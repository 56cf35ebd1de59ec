"""Where elements start and end in the bytes of a body, whatever the markup."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivebot.markup.tree import Node, Source, children, content, root


def source_of(markup: str) -> Source:
    return Source.of(markup.encode(), "utf-8")


def top(markup: str) -> list[str]:
    """Return the source of each child of the body."""
    source = source_of(markup)
    body = root(source)
    return spans(body, source) if body is not None else []


def spans(node: Node, source: Source) -> list[str]:
    if node.element is None:
        return []
    return [source.text[child.start : child.end] for child in children(node.element, *content(node))]


def inside(markup: str) -> list[str]:
    """Return the source of each child of the body's only child."""
    source = source_of(markup)
    body = root(source)
    assert body is not None
    assert body.element is not None
    (only,) = children(body.element, *content(body))
    return spans(only, source)


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>a<p>b", ["<p>a", "<p>b"]),
        ("<p>a\n<div>b</div>c", ["<p>a\n", "<div>b</div>", "c"]),
        ("<h1>a<h2>b</h2>", ["<h1>a", "<h2>b</h2>"]),
        ("<div>a<div>b</div>", ["<div>a<div>b</div>"]),
        ("<body><p>a</body></html>", ["<p>a"]),
    ],
)
def test_an_unclosed_element_ends_where_its_next_sibling_or_its_parent_does(
    markup: str, expected: list[str]
) -> None:
    assert top(markup) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<ul><li>a<li>b</ul>", ["<li>a", "<li>b"]),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", ["<li>a<ul><li>b</ul>", "<li>c"]),
        ("<dl><dt>a<dd>b<dt>c</dl>", ["<dt>a", "<dd>b", "<dt>c"]),
        ("<select><option>a<option>b</select>", ["<option>a", "<option>b"]),
    ],
)
def test_unclosed_items_end_where_the_next_one_starts(markup: str, expected: list[str]) -> None:
    assert inside(markup) == expected


def test_rows_of_an_implied_tbody_are_children_of_the_table() -> None:
    assert inside("<table><tr><td>a<td>b<tr><td>c</table>") == ["<tr><td>a<td>b", "<tr><td>c"]


def test_a_cell_in_implied_rows_is_a_child_of_the_table() -> None:
    assert inside("<table><td>a<td>b</table>") == ["<td>a", "<td>b"]


def test_a_tbody_in_the_source_is_a_child_by_itself() -> None:
    assert inside("<table><tbody><tr><td>a</tbody><tr><td>b</table>") == [
        "<tbody><tr><td>a</tbody>",
        "<tr><td>b",
    ]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("a<br>b<hr>c", ["a", "<br>", "b", "<hr>", "c"]),
        ("<img src='>'><input value=\"<p>\">", ["<img src='>'>", '<input value="<p>">']),
        ("<br/>a<wbr>", ["<br/>", "a", "<wbr>"]),
        ("<image>a", ["<image>", "a"]),
    ],
)
def test_void_elements_end_with_their_tag(markup: str, expected: list[str]) -> None:
    assert top(markup) == expected


def test_a_slash_closes_no_other_html_element() -> None:
    assert top("<div/>x</div>y") == ["<div/>x</div>", "y"]


@pytest.mark.parametrize(
    "table",
    [
        "<table><b>moved</b><tr><td>a</table>",
        "<table>moved<tr><td>a</table>",
        "<table>moved<b>moved</b>moved<i>moved</i><tr><td>a</table>",
        "<table><tr><a>moved</a><td>a</table>",
        "<table><center><b>moved</b></center><tr><td>a</table>",
    ],
)
@pytest.mark.parametrize("before", ["", "x", "<p>x</p>", "<p>x</p>y", "<table><tr><td>x</table>"])
def test_what_the_parser_moves_out_of_a_table_stays_inside_it(before: str, table: str) -> None:
    found = top(f"{before}{table}<p>after</p>")
    assert "".join(found) == f"{before}{table}<p>after</p>"
    assert found[-2:] == [table, "<p>after</p>"]


def test_what_follows_the_end_tag_of_the_body_belongs_to_it() -> None:
    assert top("<body><p>a</p></body><p>b</p>") == ["<p>a</p>", "<p>b</p>"]
    assert top("<body><p>a</body></html>") == ["<p>a"]


def test_rows_are_found_beside_what_is_moved_out_of_a_table() -> None:
    markup = "<table><tr><b>moved</b><td>a</td></tr>moved<tr><td>b</td></tr></table>"
    source = source_of(markup)
    body = root(source)
    assert body is not None
    assert body.element is not None
    table = list(children(body.element, *content(body)))[-1]
    assert spans(table, source) == ["<tr><b>moved</b><td>a</td></tr>", "<tr><td>b</td></tr>"]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<b>1<p>2</b>3</p>4", ["<b>1", "<p>2</b>3</p>", "4"]),
        ("<a>1<a>2</a>", ["<a>1", "<a>2</a>"]),
        ("<i><b>1</i>2</b>3", ["<i><b>1</i>", "2</b>3"]),
        ("<p>1</b>2</p>", ["<p>1</b>2</p>"]),
        ("<form><div><form></div>x</form>", ["<form><div><form></div>x</form>"]),
    ],
)
def test_misnested_elements_end_before_the_next_one(markup: str, expected: list[str]) -> None:
    assert top(markup) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<div>x\r\n<p>y</p>\r\n</div>", ["x \n", "<p>y</p>"]),
        ("<div>\r<p>y\r</p>\r</div>", ["<p>y\n</p>"]),
        ("<div>é中\U0001f600<p>y</p></div>", ["é中\U0001f600", "<p>y</p>"]),
        ("<div>\0a<p>\0</p></div>", ["\0a", "<p>\0</p>"]),
        ("<div><![CDATA[x]]><p>y</p></div>", ["<p>y</p>"]),
        ("<div><!-- <p> --><p>y</p><!-- --></div>", ["<p>y</p>"]),
        ("<div> \n<p>y</p> \t</div>", ["<p>y</p>"]),
        ("<div><script>if (a<b) '</p>'</script>x</div>", ["<script>if (a<b) '</p>'</script>", "x"]),
    ],
    ids=["crlf", "cr", "multi-byte", "nul", "cdata", "comments", "blanks", "script"],
)
def test_offsets_are_those_of_the_bytes(markup: str, expected: list[str]) -> None:
    assert [text.encode("latin-1").decode() for text in inside(markup)] == expected


def test_a_byte_order_mark_is_no_text_and_counts_its_bytes() -> None:
    source = Source.of(codecs.BOM_UTF8 + b"<p>a</p>", "utf-8")
    body = root(source)
    assert body is not None
    assert body.element is not None
    (only,) = children(body.element, *content(body))
    assert (only.tag, only.start, only.end) == ("p", 3, 11)


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
@pytest.mark.parametrize(
    "text", ["a", "\U0001f600", "\U0001f600\U00020000", "\ud800", "\udc00b", "\r\n", "\0"]
)
def test_utf_16_has_offsets_of_its_units(charset: str, mark: str, text: str) -> None:
    def unpaired(markup: str) -> bytes:
        return markup.encode(charset, "surrogatepass")

    body = unpaired(f"{mark}<p>{text}</p><i>x</i>")
    source = Source.of(body, charset)
    node = root(source)
    assert len(source.text) * source.unit == len(body)
    assert node is not None
    assert node.element is not None
    found = [body[2 * child.start : 2 * child.end] for child in children(node.element, *content(node))]
    assert found == [unpaired(f"<p>{text}</p>"), unpaired("<i>x</i>")]


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        (codecs.BOM_UTF16_BE + "<p>a".encode("utf-16-be"), "utf-16"),
        (codecs.BOM_UTF16_LE + "<p>a".encode("utf-16-le"), "utf-16"),
        (codecs.BOM_UTF16_LE + "<p>a".encode("utf-16-le"), "utf-16-be"),
        ("<p>a".encode("utf-16-le"), "utf-16"),
        ("<p>a".encode("utf-16-le") + b"x", "utf-16-le"),
    ],
    ids=["mark big", "mark little", "mark against charset", "no mark", "half a unit at the end"],
)
def test_the_order_of_the_bytes_is_that_of_the_mark_else_little(body: bytes, charset: str) -> None:
    assert Source.of(body, charset).text.lstrip() == "<p>a"


@given(st.binary(max_size=100), st.sampled_from(["utf-8", "gb18030", "utf-16", "utf-16-le", "utf-16-be"]))
def test_the_source_has_as_many_units_as_the_body(body: bytes, charset: str) -> None:
    source = Source.of(body, charset)
    assert len(source.text) == len(body) // source.unit


def test_a_page_of_frames_has_no_body() -> None:
    assert root(source_of("<frameset><frame></frameset>")) is None


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<html><body class=a><p>x</p></body></html>", "<p>x</p></body></html>"),
        ("<html><head></head><p>x</p>", "<html><head></head><p>x</p>"),
        ("", ""),
    ],
)
def test_the_root_reaches_from_its_start_tag_to_the_end(markup: str, expected: str) -> None:
    source = source_of(markup)
    node = root(source)
    assert node is not None
    assert source.text[node.start : node.end] == expected


def test_a_text_has_no_tag_and_is_all_content() -> None:
    text = Node(None, 3, 7)
    assert (text.tag, content(text)) == ("", (3, 7))


TAGS = (
    "html head body div p table caption colgroup col tbody thead tr td th ul li dl dt dd a b i font nobr svg"
    " math select option button form h1 br img input hr template textarea title script style frameset"
    " noscript pre plaintext foreignObject details image iframe object"
).split()
SOUP = [
    *(f"<{tag}>" for tag in TAGS), *(f"</{tag}>" for tag in TAGS), "<div/>", "<svg/>", "<!-- c -->",
    "<!doctype html>", "text", " ", "\r\n", "\r", "\0", "&amp;", "<", "</", ">", "<![CDATA[x]]>", "é",
    "\U0001f600", "\ufeff",
]  # fmt: skip
soups = st.lists(st.sampled_from(SOUP), max_size=30).map("".join)


def assert_spans(node: Node, source: Source) -> None:
    """Check every element below a node: inside its parent, in order, without overlap, at its own tag."""
    stack = [node]
    while stack:
        parent = stack.pop()
        if parent.element is None:
            continue
        start, end = content(parent)
        assert parent.start <= start
        assert end <= parent.end
        position = start
        for child in children(parent.element, start, end):
            assert position <= child.start < child.end <= end
            position = child.end
            if child.tag:
                tag = source.text[child.start : child.start + 6].lower()
                assert tag.startswith("<" + ("im" if child.tag == "img" else child.tag.lower())[:5])
            stack.append(child)


@given(soups)
@settings(max_examples=400, deadline=None)
def test_children_lie_in_their_parent_in_order_and_apart(markup: str) -> None:
    source = source_of(markup)
    node = root(source)
    if node is not None:
        assert_spans(node, source)


@given(soups, st.sampled_from(["utf-16-le", "utf-16-be"]))
@settings(max_examples=100, deadline=None)
def test_children_of_utf_16_lie_in_their_parent_in_order_and_apart(markup: str, charset: str) -> None:
    source = Source.of(markup.encode(charset), charset)
    node = root(source)
    if node is not None:
        assert_spans(node, source)
