"""What a person reads in a piece of markup, and what stands out in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.markup.dom import highlights, read, visible_text


def text(markup: str) -> str:
    return visible_text(markup.encode(), "utf-8")


def marked(markup: str) -> list[str]:
    return highlights(read(markup.encode(), "utf-8"))


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<p>One<p>Two", "One\nTwo"),
        ("<ul><li>One<li>Two</ul>", "One\nTwo"),
        ("<h1>Title</h1>words", "Title\nwords"),
        ("One<br>Two", "One\nTwo"),
        ("<p>a\r\n   b</p>", "a b"),
        ("<p>some <b>bold</b> and<i>joined</i> words", "some bold andjoined words"),
        ("<a href='http://example.com/'>link</a>", "link"),
        ("<table><tr><td>1<td>2<tr><td>3</table>", "1 2\n3"),
    ],
)
def test_paragraphs_items_and_rows_give_a_line_each(markup: str, expected: str) -> None:
    assert text(markup) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<select><option>One<option>Two</select>", "One Two"),
        ("<button>One</button><button>Two</button>", "One Two"),
        ("<span>up<button>One</button></span>down", "up One down"),
        ("Press <button>One</button>.", "Press One."),
        ("<svg><g><text>Jan</text></g><g><text>Feb</text></g></svg>", "Jan Feb"),
        ("<a href=/>Home</a><a href=/n>News</a>", "Home News"),
        ("[<a href=/1>1</a>,<a href=/2>2</a>]", "[1,2]"),
        ("a <a href=/>boat</a>s", "a boats"),
        ("<label>Name<input></label><label>Age<input></label>", "Name Age"),
        ("<fieldset><legend>Size</legend>Small</fieldset>", "Size\nSmall"),
        ("<center>Welcome</center>to the bay", "Welcome\nto the bay"),
        ("<dialog>One</dialog><dialog>Two</dialog>", "One\nTwo"),
    ],
)
def test_what_a_browser_lays_out_apart_is_no_word(markup: str, expected: str) -> None:
    assert text(markup) == expected


@pytest.mark.parametrize(
    "markup",
    ["<script>x</script>", "<style>x{}</style>", "<template>x</template>", "<title>x</title>", "<!-- x -->",
     "<p>\n</p>", "<img src=a.png>", "", "</p>", "\0"],
)  # fmt: skip
def test_what_is_not_read_gives_no_text(markup: str) -> None:
    assert text(markup) == ""
    assert text(f"{markup}<p>words") == "words"


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("R&amp;D &lt;team&gt; caf&eacute;", "R&D <team> café"),
        ("&#20013;&#x6587;", "中文"),
        ("&nbsp;a&nbsp;&nbsp;b", "a b"),
        ("&unknown; &amp", "&unknown; &"),
        ("&#xd800;", "\ufffd"),
    ],
)
def test_entities_are_read_as_their_characters(markup: str, expected: str) -> None:
    assert text(markup) == expected


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<tr><td>1<td>2", "1 2"),
        (" \n<TR class=a><TD>1<TD>2", "1 2"),
        ("<td>1</td><td>2</td>", "1 2"),
        ("<tbody><tr><th>1<td>2</tbody>", "1 2"),
        ("<thead><tr><th>1<th>2</thead>", "1 2"),
        ("<tfoot><tr><td>1<td>2", "1 2"),
        ("<caption>Title</caption><tr><td>1<td>2", "Title\n1 2"),
    ],
)
def test_parts_of_a_table_are_read_as_in_their_table(markup: str, expected: str) -> None:
    assert text(markup) == expected


def test_tags_that_only_begin_like_those_of_a_table_are_none() -> None:
    assert text("<track>a <b>b</b>") == "a b"
    assert read(b"<thing>x", "utf-8").select("table") == []


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<table><caption>Title</caption><tr><td>1</table>", "Title\n1"),
        ("<table><caption>Title</caption></table>", "Title"),
        ("before<table><tr><td>1<caption>Title</caption></table>after", "before\nTitle\n1\nafter"),
        ("<table><tr><td><table><caption>Inner</caption><tr><td>1</table></table>", "Inner 1"),
        ("<svg><caption>Picture</caption></svg>", "Picture"),
    ],
)
def test_the_caption_of_a_table_is_read_before_its_rows(markup: str, expected: str) -> None:
    assert text(markup) == expected


@pytest.mark.parametrize("charset", ["shift_jis", "gb18030", "euc-kr", "utf-16-le", "utf-16-be", "cp1252"])
def test_text_is_read_in_its_charset(charset: str) -> None:
    words = {"euc-kr": "한국어", "cp1252": "Grüße"}.get(charset, "日本")
    assert visible_text(f"<p>{words}</p>".encode(charset), charset) == words


@given(
    st.binary(max_size=200),
    st.sampled_from("utf-8 ascii utf-16-le shift_jis gb18030 iso2022_jp cp1252".split()),
)
def test_any_bytes_are_read_in_any_charset(data: bytes, charset: str) -> None:
    assert "\r" not in visible_text(data, charset)
    assert all(highlights(read(data, charset)))


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<h3>Small</h3><h1>Large</h1><h2>Middle</h2>", ["Large", "Middle", "Small"]),
        ("<table><caption>Caption</caption><tr><th>Head<th>Other</table>", ["Caption", "Head"]),
        ("<fieldset><legend>Legend</legend>x</fieldset>", ["Legend"]),
        ("<details><summary>Summary</summary>x</details>", ["Summary"]),
        ("<figure><img><figcaption>Figure</figcaption></figure>", ["Figure"]),
        ("<dl><dt>Term<dd>meaning</dl>", ["Term"]),
        ("<nav aria-label='Main menu'><a>x</a></nav>", ["Main menu"]),
        ("<nav aria-label='Menu'><h2>Title</h2></nav>", ["Title", "Menu"]),
        ("<nav aria-label=' '><a>x</a></nav>", []),
        ("<nav aria-label><a>x</a></nav>", []),
        ("<h2><img></h2><h3>Text</h3>", ["Text"]),
        ("<h2></h2><h2>Second</h2>", []),
        ("<p>plain", []),
    ],
)
def test_headings_captions_and_labels_stand_out_in_order_of_weight(markup: str, expected: list[str]) -> None:
    assert marked(markup) == expected


@pytest.mark.parametrize("tag", ["strong", "b", "big", "em", "font", "mark"])
def test_formatted_text_stands_out_only_at_the_start(tag: str) -> None:
    assert marked(f"<p><{tag}>First</{tag}> words <{tag}>later</{tag}>") == ["First"]
    assert marked(f"<p>Words <{tag}>later</{tag}>") == []


def test_an_empty_formatted_element_does_not_hide_the_first_one() -> None:
    assert marked("<b></b><p><b>First</b> words") == ["First"]


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<h2>\n  Opening\n  hours\n</h2>", "Opening hours"),
        ("<h2>Opening<br>hours</h2>", "Opening hours"),
        ("<h2>Opening <script>x</script><style>y{}</style>hours</h2>", "Opening hours"),
        ("<p><strong>Opening\n hours</strong>\n all days", "Opening hours"),
        ("<p><strong>Opening<br>hours</strong> all days", "Opening hours"),
        ("<ul aria-label=' Opening\n hours '><li>x</ul>", "Opening hours"),
    ],
)
def test_what_stands_out_is_one_line_of_what_a_reader_sees(markup: str, expected: str) -> None:
    assert marked(markup) == [expected]
