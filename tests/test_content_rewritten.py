"""A line with an edited text is written again as a walk over the page reads it, or not at all."""

from __future__ import annotations

import pytest

from archivebot.content.lines import LineWalk
from archivebot.content.rewritten import moved, rewritten, starts_of
from archivebot.markup.charset import codec
from archivebot.markup.edits import edits
from archivebot.markup.page import ParsedPage

PAGE = """<!doctype html><title>5 terns</title><h1>Terns</h1><p>Seen <b>12</b> times<p><a href=/>7 photos</a>
and <i>31</i> films</p> after it <hr> 8 more <ul><li><a href=/2>One page</a><li>Two</ul><table><tr><td>4<td> 4
<td>é 4</table><pre>1  2
3</pre><p>a<br>b 9<select><option>6</select><object>7 <div>0</div></object>
<p>1 and <i>1</i><p>Fish &amp; chips<p>42"""

WRITTEN = {
    "bold text": ("<b>12", "<b>1234"),
    "a link in a line": ("7 photos", "22 photos"),
    "another element": ("<i>31", "<i>3"),
    "a text after an element": (" after it ", " 3 behind it "),
    "a text after a line": (" 8 more ", " 9 "),
    "a line that is a link": ("One page", "Another page"),
    "a text without an end": ("<li>Two", "<li>Three "),
    "a cell": ("<td>4<", "<td>5<"),
    "blanks": ("<td> 4\n", "<td>4"),
    "letters that are no ASCII": ("é 4", "日本 4"),
    "a reference": ("Fish &amp; chips", "Fish &lt; chips"),
    "the last text": ("42", "43"),
}

LEFT = {
    "the title": ("5 terns", "6 terns"),
    "a choice": ("<option>6", "<option>7"),
    "an object": ("<div>0", "<div>1"),
    "a preformatted text": ("1  2", "1  3"),
    "a line with a break": ("b 9", "b 8"),
    "a text that is twice in its line": ("<i>1</i>", "<i>2</i>"),
    "a text that vanishes": ("<td>4<", "<td> <"),
    "a reference to another letter": ("é 4", "&eacute; 5"),
    "a text that may be bold": (" times", " days"),
    "a name": ("<h1>", "<h1 class=menu>"),
}


def _rewritten(before: str, after: str) -> tuple[LineWalk | None, LineWalk]:
    """Return the lines that are written again, and those that a walk over the page reads."""
    page, later = ParsedPage.of(before), ParsedPage.of(after)
    walk = LineWalk(page.document)
    starts = starts_of(walk, page)
    found = edits(page.body, later.body)
    assert starts is not None
    assert found is not None
    walk.forget_elements()
    return rewritten(walk, starts, found, "utf-8"), LineWalk(later.document)


@pytest.mark.parametrize("edit", WRITTEN)
def test_a_line_is_written_as_it_is_read(edit: str) -> None:
    old, new = WRITTEN[edit]
    assert old in PAGE
    found, read = _rewritten(PAGE, PAGE.replace(old, new, 1))
    assert found is not None
    assert found.is_like(read)


@pytest.mark.parametrize("edit", LEFT)
def test_a_line_that_is_not_certain_is_left_to_the_walk(edit: str) -> None:
    old, new = LEFT[edit]
    assert old in PAGE
    assert _rewritten(PAGE, PAGE.replace(old, new, 1))[0] is None


def test_several_texts_of_a_line_are_written() -> None:
    found, read = _rewritten("<p>1 of <i>2</i> in <i>3</i><p>2", "<p>7 of <i>8</i> in <i>9</i><p>6")
    assert found is not None
    assert [line.text for line in found.lines] == ["7 of 8 in 9", "6"]
    assert found.is_like(read)


@pytest.mark.parametrize("label", ["utf-8", "windows-1252", "iso-8859-1", "iso-8859-15", "us-ascii"])
def test_a_line_is_written_in_each_charset_in_which_ascii_is_ascii(label: str) -> None:
    old, new = (f"<p>é<p>{number} times".encode(codec(label)) for number in (1, 20))
    page, later = ParsedPage(old, codec(label)), ParsedPage(new, codec(label))
    walk = LineWalk(page.document)
    starts, found = starts_of(walk, page), edits(old, new)
    assert starts is not None
    assert found is not None
    written = rewritten(walk, starts, found, page.charset)
    assert written is not None
    assert written.is_like(LineWalk(later.document))


def test_a_text_that_the_parser_moves_is_left_to_the_walk() -> None:
    old = "<table><tr><td>5</td>5<td>6</table>"
    assert _rewritten(old, old.replace("</td>5", "</td>7"))[0] is None


def test_elements_begin_where_they_would_be_found() -> None:
    before, after = "<p>1<p class=a>2<ul><li>3</ul>", "<p>11<p class=bcd>2222<ul><li>3</ul>"
    pages = [ParsedPage.of(text) for text in (before, after)]
    found, later = (starts_of(LineWalk(page.document), page) for page in pages)
    since = edits(pages[0].body, pages[1].body)
    assert found is not None
    assert later is not None
    assert since is not None
    shifted = moved(found, since)
    assert shifted is not None
    assert shifted.tolist() == later.tolist()
    assert moved(found - 1, since) is None
