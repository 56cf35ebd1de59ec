"""What stands around a link: text before and after, the heading above; and the title of a page."""

from __future__ import annotations

import pytest

from archivebot.hypertext import Hypertext, read
from archivebot.hypertext.flow import AROUND
from archivebot.models import Link


def page(body: str) -> Hypertext:
    return read(body.encode(), "utf-8", "http://a.example/", context=True)


def link(body: str, target: str = "x") -> Link:
    return next(link for link in page(body).links if link.url == f"http://a.example/{target}")


def around(body: str) -> tuple[str, str]:
    found = link(body)
    return found.before, found.after


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<p>one <a href=x>X</a> two</p>", ("one", "two")),
        ("<p>zero</p><p>one <b><a href=x>X</a></b> two</p><p>three</p>", ("one", "two")),
        ("<p><a href=y>Y</a>, <a href=x>X</a>, <a href=z>Z</a></p>", ("Y,", ", Z")),
        ("<p>one<br><a href=x>X</a><br>two", ("one", "two")),
        ("<table><tr><td>CS 1</td><td><a href=x>X</a></td><td>9 am</td></tr><tr><td>no", ("CS 1", "9 am")),
        ("<ul><li>no<li><a href=x>X</a><li>no</ul>", ("", "")),
        ("one <a href=x><p>X</p></a> two", ("one", "")),
        ("<p>one <script>no()</script><a href=x>X</a><button>no</button> two", ("one", "two")),
        ("<p>one <a href=x><img alt=X></a> two", ("one", "two")),
        ("<p>one <a name=n><a href=x>X</a> two", ("one", "two")),
    ],
)
def test_the_text_around_a_link_is_that_of_its_line(body: str, expected: tuple[str, str]) -> None:
    assert around(body) == expected


def test_the_text_around_is_cut_to_the_nearest_characters() -> None:
    before, after = around("<p>" + "far " * 200 + "near <a href=x>X</a> near" + " far" * 200)
    assert before.endswith("far near")
    assert after.startswith("near far")
    assert AROUND - 4 < len(before) <= AROUND
    assert AROUND - 4 < len(after) <= AROUND


@pytest.mark.parametrize(
    ("body", "heading"),
    [
        ("<h1>Top</h1><h3>Near  it</h3><p><a href=x>X</a>", "Near it"),
        ("<h2>Own</h2><h3>See <a href=x>X</a></h3>", "Own"),
        ("<h2><span>Deep</span><div>down</div></h2><a href=x>X</a>", "down"),
        ("<dl><dt>Term</dt><dd><a href=x>X</a></dl>", "Term"),
        ("<table><caption>Staff</caption><tr><td><a href=x>X</a></table>", "Staff"),
        ("<h1>Top</h1><p><b>Courses:</b></p><ul><li><a href=x>X</a></ul>", "Courses:"),
        ("<h1>Top</h1><p><b>Not</b> all bold</p><a href=x>X</a>", "Top"),
        ("<h1>Top</h1><p><b><a href=y>A bold link</a></b></p><a href=x>X</a>", "Top"),
        ("<a href=x>X</a><h1>Below</h1>", ""),
    ],
)
def test_the_heading_is_the_nearest_above(body: str, heading: str) -> None:
    assert link(body).heading == heading


@pytest.mark.parametrize(
    ("body", "title"),
    [
        ("<title> A\n page </title><h1>Other</h1>", "A page"),
        ("<title></title><h2>Second</h2><h1>First</h1><h1>Next</h1>", "First"),
        ("<p>none</p>", ""),
    ],
)
def test_the_title_is_the_element_or_the_first_of_the_highest_headings(body: str, title: str) -> None:
    assert page(body).title == title


def test_links_are_the_same_with_and_without_their_surroundings() -> None:
    body = b"<nav><a href=x>X</a></nav><h1>H</h1><p>see <a href=y>Y</a> and <a href=x>the X</a><iframe src=z>"
    plain, full = (
        read(body, "utf-8", "http://a.example/", context=context).links for context in (False, True)
    )
    assert plain == tuple(Link(link.url, link.anchor, role=link.role, kind=link.kind) for link in full)


def test_without_context_there_is_neither_title_nor_text() -> None:
    found = read(b"<title>T</title><p>text", "utf-8", "http://a.example/")
    assert (found.title, found.text) == ("", "")
