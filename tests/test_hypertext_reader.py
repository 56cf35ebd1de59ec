"""Reading takes any bytes, in time that grows with their number."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from archivebot.hypertext import Hypertext, read

URL = "http://a.example/dir/page"


@pytest.mark.parametrize("charset", ["utf-8", "gb18030", "shift_jis", "utf-16", "windows-1251"])
def test_a_page_is_read_in_its_charset(charset: str) -> None:
    name = "ж" if charset == "windows-1251" else "日本"
    found = read(
        f"<title>{name}</title><p><a href='/{name}'>{name}</a>".encode(charset), charset, URL, context=True
    )
    same = read(f"<a href='/{name}'>".encode(), "utf-8", URL)
    assert (found.title, found.links[0].anchor, found.links[0].url) == (name, name, same.links[0].url)


@pytest.mark.parametrize("charset", ["utf-7", "hz", "nonsense"])
def test_a_charset_that_the_parser_does_not_know_is_no_failure(charset: str) -> None:
    assert [link.url for link in read(b"<a href=/x>x</a>", charset, URL).links] == ["http://a.example/x"]


@pytest.mark.parametrize(("charset", "byte"), [("cp1251", b"\x98"), ("utf-8", b"\xff"), ("gb18030", b"\xff")])
def test_a_byte_that_the_charset_lacks_ends_nothing(charset: str, byte: bytes) -> None:
    found = read(b"<a href=/x>x</a>" + byte + b"<a href=/y>y</a>", charset, URL)
    assert [link.anchor for link in found.links] == ["x", "y"]


def test_nothing_is_read_out_of_nothing() -> None:
    assert read(b"", "utf-8", URL, context=True) == Hypertext()
    assert read(b"<!-- -->", "utf-8", URL).links == ()


def test_nul_bytes_do_not_hide_links() -> None:
    link = read(b"\0<a \0 href=/x>x\0y</a>", "utf-8", URL).links[0]
    assert (link.url, link.anchor) == ("http://a.example/x", "xy")
    assert read(b"<a h\0ref=/x>x</a>", "utf-8", URL).links == ()  # it is another attribute


@pytest.mark.parametrize("context", [False, True])
def test_what_follows_the_end_of_a_page_is_read(context: bool) -> None:
    body = b"<body><a href=/x>x</a></body></html><ul><li><a href=/y>y</a></ul><!-- c --> <a href=/z>z</a>"
    found = read(body, "utf-8", "http://a.example/", context=context)
    assert [link.url.rpartition("/")[2] for link in found.links] == ["x", "y", "z"]


HOSTILE = {
    "deep": b"<div>" * 50_000 + b"<a href=/x>x",
    "open anchors": b"<a href=/x><b>" * 1000 + b"<i>x</i>" * 50_000,
    "a long anchor": b"<a href=/x>" + b"x " * 500_000,
    "many links": b"<p>" + b"<a href=/x>x</a> " * 50_000,
    "open forms": b"<form><div>" * 900 + b"<i></i>" * 50_000 + b"<p>x",
    "white space": b"<a href=/x>" + b" " * 1_000_000 + b"x</a>",
}


@pytest.mark.long
@pytest.mark.parametrize("context", [False, True])
@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_hostile_pages_are_read_and_their_links_stay_small(body: bytes, context: bool) -> None:
    found = read(body, "utf-8", URL, context=context)
    assert len(found.links) <= 1
    assert all(len(link.anchor + link.before + link.after + link.heading) < 1000 for link in found.links)


TAGS = "<a href=x>|<a>|</a>|<p>|<nav>|</nav>|<form>|</form>|<b>|</b>|<h1>|</h1>|<td>|<title>|<select>| text"


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from(TAGS.split("|")), max_size=30).map("".join), st.booleans())
def test_any_order_of_tags_is_read(body: str, context: bool) -> None:
    assert isinstance(read(body.encode(), "utf-8", URL, context=context), Hypertext)


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["utf-8", "utf-16", "utf-7", "gb18030", "hz", "nonsense"]))
def test_reading_never_raises(body: bytes, charset: str) -> None:
    read(b"<a href=/x>" + body, charset, URL, context=True)
