"""Links in scripts: what is opened, gone to or written is found, and no other string."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.hypertext import read
from archivebot.hypertext.scripts import UNKNOWN, Way, code_of, leads_by_click, literals
from archivebot.models import Link
from tests.test_hypertext_links import URL, links, targets


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("window.open('x')", "x"),
        ('self.open("/a/b.html", "name", "width=300")', "/a/b.html"),
        ("window . open ( `x` )", "x"),
        ("parent.open('x')", "x"),
        ("location = 'x'", "x"),
        ("location='x'", "x"),
        ("window.location = 'x';", "x"),
        ("document.location.href = 'x'", "x"),
        ("top.location.href='x'", "x"),
        ("window.top.location.href='x'", "x"),
        ("location.replace('x')", "x"),
        ("if (a) { location.assign('x') }", "x"),
        ("if (location.href == 'y') location.href = 'x'", "x"),
        ("function f(){location.href='x'}", "x"),
        (r"location = 'http:\/\/a.example\/x'", "http://a.example/x"),
        (r"location = '\x2fx\u002fy'", "/x/y"),
        (r"""location = '/it\'s'""", "/it's"),
    ],
)
def test_the_address_that_a_script_opens_or_goes_to_is_given(script: str, expected: str) -> None:
    assert [text for _, text in literals(script)] == [expected]


@pytest.mark.parametrize(
    "script",
    [
        "",
        "var pages = ['/a.html', '/b.html']; show('/c.html')",
        "xhr.open('GET', '/api')",
        "open('x')",  # a function of any kind
        "reopen('x'); geolocation = 'x'; overwrite('<a href=x>')",
        "user.location = 'Berlin'",
        "var location = 'Berlin'",
        "data-location='x'",
        "location == 'x' || location === 'x'",
        "location.hash = 'x'; location.search = '?x'",
        "location = '/page?id=' + id",
        "window.open('/page/'.concat(id))",
        "window.open('/%s' % x)",
        "window.open(base + '/x')",
        "window.open(url)",
        "window.open('')",
        "location = `/page/${id}`",
        "location = 'never\nclosed",
        "stream.write('<a href=x>')",
        "document.write(markup())",
        "location",
        "window.open(",
    ],
)
def test_other_strings_and_addresses_that_are_put_together_are_left_out(script: str) -> None:
    assert [text for _, text in literals(script) if text != UNKNOWN] == []


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("document.write('<a href=x>')", "<a href=x>"),
        ("document.writeln('<p>', '<b>')", "<p><b>"),
        ("document.write('<scr' + 'ipt>')", "<script>"),
        ("document.write('<b>' + name + '</b>')", "<b>?</b>"),
        ("document.write('<b>' + items[0].name(1) + '</b>')", "<b>?</b>"),
        ("document.write('<b>' + (a ? 'b' : 'c') + '</b>')", "<b>"),
        (r'document.write("<a href=\"x\">")', '<a href="x">'),
        ("document.write('<a\\\nhref=x>')", "<ahref=x>"),
    ],
)
def test_what_is_written_is_joined_as_far_as_it_is_literal(script: str, expected: str) -> None:
    assert [(way, text.replace(UNKNOWN, "?")) for way, text in literals(script)] == [(Way.WRITE, expected)]


def test_each_way_is_told_in_the_order_of_the_script() -> None:
    script = "window.open('a'); document.write('<b>'); location = 'c'; window.open('d')"
    assert list(literals(script)) == [(Way.OPEN, "a"), (Way.WRITE, "<b>"), (Way.GO, "c"), (Way.OPEN, "d")]


def test_what_stands_inside_a_string_is_not_read_twice() -> None:
    assert [way for way, _ in literals("document.write(\"<a onclick=window.open('x')>\")")] == [Way.WRITE]


@pytest.mark.parametrize(
    ("href", "code"),
    [
        ("javascript:f()", "f()"),
        (" JAVASCRIPT: f()", " f()"),
        ("javascript:window.open('%2Fx')", "window.open('/x')"),
        ("/javascript:f()", None),
        ("javascript", None),
        ("#", None),
    ],
)
def test_the_code_of_an_address_is_told_from_other_addresses(href: str, code: str | None) -> None:
    assert code_of(href) == code


@given(st.text(alphabet="locatinpewr.=()'\"`\\+, \n\u2028<>/x$u0"))
def test_any_text_is_read(script: str) -> None:
    assert all(isinstance(way, Way) and text for way, text in literals(script))


PIECES = ["location", "window.open(", "document.write(", ".", "=", "'", '"', "`", "\\", "+", "a", " ", "("]


@given(st.lists(st.sampled_from(PIECES)))
def test_any_row_of_pieces_is_read(pieces: list[str]) -> None:
    assert all(text for _, text in literals("".join(pieces)))


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "window.",
            "location",
            "window.open(",
            "document.write('",
            'document.write("',
            "location='",
            "location.",
        ),
        *("document.write('' + ", "document.write(a + ", "location = `", "window . ", "location\t", "\\"),
        *("document.write('document.write(", "window.open('window.open(\"", "'a' + ", "location(('"),
    ],
)
def test_hostile_scripts_take_time_in_proportion(piece: str) -> None:
    script = "document.write('" + piece * (300_000 // len(piece))
    started = time.process_time()
    assert sum(len(text) for _, text in literals(script)) <= len(script)
    assert time.process_time() - started < 2


def test_a_link_that_a_script_writes_is_found_with_its_anchor() -> None:
    (link,) = links(
        "<p>Text</p><script>document.write('<a href=\"/forum/1\"><b>First</b> thread</a>')</script>"
    )
    assert (link.url, link.anchor, link.role, link.kind) == (
        "http://a.example/forum/1",
        "First thread",
        "script",
        "script",
    )


def test_markup_that_is_written_in_several_calls_is_one() -> None:
    script = "document.write('<a hr'); document.write('ef=x>A'); document.write('</a><a href=y>B</a>')"
    assert [(link.url[-1], link.anchor) for link in links(f"<script>{script}</script>")] == [
        ("x", "A"),
        ("y", "B"),
    ]


def test_a_written_address_that_is_put_together_is_left_out() -> None:
    assert targets(
        "<script>document.write('<a href=/x/' + id + '.html>' + name + '</a><a href=/y>B</a>')</script>"
    ) == ["/y"]


@pytest.mark.parametrize("context", [False, True])
def test_a_javascript_address_leads_where_its_code_does(context: bool) -> None:
    body = "<nav><a href=\"javascript:window.open('/x.html')\">The <b>plan</b></a></nav>"
    (link,) = links(body, context=context)
    assert link == Link("http://a.example/x.html", "The plan", role="script", kind="script")
    assert targets("<a href=\"JavaScript:location='y'\">Y</a><area href='javascript:void(0)'>") == ["/dir/y"]


@pytest.mark.parametrize("context", [False, True])
@pytest.mark.parametrize(
    ("markup", "anchor"),
    [
        ("<tr onclick=\"location.href='/x'\"><td>Row</tr>", ""),
        ("<div onClick=\"window.open('/x')\"> To  the page </div>", "To the page"),
        ("<button onclick=\"location='/x'\">Go</button>", "Go"),
        ("<input type=button value='Go on' onclick=\"window.location='/x'\">", "Go on"),
        ("<a href='#' onclick=\"window.open('/x')\" title=Map><img></a>", "Map"),
    ],
)
def test_a_click_on_anything_leads_where_its_code_does(markup: str, anchor: str, context: bool) -> None:
    found = links(f"<table>{markup}</table>" if markup.startswith("<tr") else markup, context=context)
    assert found == [Link("http://a.example/x", anchor, role="script", kind="script")]


@pytest.mark.parametrize(
    "kind", ["", "text/javascript", "TEXT/JavaScript", "module", "application/x-javascript"]
)
def test_scripts_are_read_whatever_their_type_is_called(kind: str) -> None:
    assert targets(f"<script type='{kind}'>location = '/x'</script>") == ["/x"]


@pytest.mark.parametrize(
    "kind", ["text/template", "application/json", "application/ld+json", "text/x-handlebars"]
)
def test_data_and_templates_are_no_scripts(kind: str) -> None:
    assert targets(f"<script type='{kind}'>location = '/x'</script>") == []


def test_the_file_of_a_script_is_no_page() -> None:
    assert targets("<script src=/code.js>location = '/x'</script><script src=/more.js></script>") == ["/x"]


@pytest.mark.parametrize("context", [False, True])
def test_links_of_scripts_come_last_and_never_in_place_of_another(context: bool) -> None:
    body = """<script>location = '/x'; location = '/y'</script><a href="javascript:location='/x'">Script</a>
    <nav><a href=/x><img></a></nav><a href=/z>Z</a>"""
    found = [(link.url[-1], link.role, link.kind) for link in links(body, context=context)]
    assert found == [("x", "navigation", "link"), ("z", "main", "link"), ("y", "script", "script")]


def test_links_of_scripts_start_from_the_base_and_are_canonical() -> None:
    assert targets("<base href=/other/><script>location = 'x#part'</script>") == ["/other/x"]
    assert targets("<script>location='mailto:a@b'; location='#top'; location='javascript:f()'</script>") == []


def test_nofollow_holds_for_scripts_too() -> None:
    body = """<a rel=nofollow href="javascript:location='/x'">x</a>
    <script>document.write('<a rel=nofollow href=/y>')</script>"""
    assert targets(body) == []
    found = read(body.encode(), "utf-8", URL, skip_nofollow=False).links
    assert [link.url for link in found] == ["http://a.example/x", "http://a.example/y"]


@pytest.mark.parametrize(
    "script",
    [
        "document.write('<')",
        "document.write('<!-- ')",
        "document.write('<\\0a href=x>')",
        "document.write('<\ud7ff>')",
    ],
)
def test_written_markup_that_is_none_does_no_harm(script: str) -> None:
    reading = read(f"<a href=/x>x</a><script>{script}</script>".encode(), "utf-8", URL)
    assert [link.url for link in reading.links] == ["http://a.example/x"]


def test_a_page_without_clicks_that_lead_is_not_searched_for_them() -> None:
    assert not leads_by_click(b"<p onclick='show(1)'>" * 1000)
    assert leads_by_click(b"<p onclick='show(1)'>" * 1000 + b"<p onclick=\"document.location='/x'\">")


def test_hostile_written_markup_takes_time_in_proportion() -> None:
    started = time.process_time()
    links("<script>document.write('" + "<a href=x><div>" * 20_000 + "text" * 50_000 + "')</script>")
    links("<div onclick=location='/x'>" * 20_000 + "text" * 50_000)
    assert time.process_time() - started < 5
