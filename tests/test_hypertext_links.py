"""Links have an anchor and a role, and each target is given once."""

from __future__ import annotations

import pytest

from archivebot.hypertext import read
from archivebot.hypertext.links import MOST_ANCHOR
from archivebot.models import Link

URL = "http://a.example/dir/page"


def links(body: str, *, context: bool = False) -> list[Link]:
    return list(read(body.encode(), "utf-8", URL, context=context).links)


def targets(body: str) -> list[str]:
    return [link.url.removeprefix("http://a.example") for link in links(body)]


def test_links_come_from_every_element_that_leads_somewhere() -> None:
    body = """<link rel=canonical href=/1><link rel=stylesheet href=/no><a href=/2>x</a><area href=/3>
    <iframe src=/4></iframe><iframe src=/5></iframe><meta http-equiv=Refresh content="3; URL='/6'">
    <img src=/no><script src=/no></script><form action=/no></form><noscript><a href=/7>x</a></noscript>"""
    assert set(targets(body)) == {f"/{number}" for number in range(1, 8)}


def test_frames_lead_on_in_a_frameset_only_and_templates_are_no_part_of_the_page() -> None:
    frames = "<frame src=/1><noframes><a href=/2>x</a></noframes>"
    assert targets(f"<frameset>{frames}</frameset>") == ["/1"]
    assert targets(f"<p>x</p>{frames}") == []
    assert targets("<template><a href=/1>x</a></template><a href=/2>x</a>") == ["/2"]


def test_base_href_is_where_links_start_from() -> None:
    assert targets("<base href='/other/'><a href=x></a><base href='/third/'>") == ["/other/x"]


def test_the_query_of_a_link_is_in_the_charset_of_its_page() -> None:
    body = """<a href="/é?q=é">x</a><script>location = "/s?é"</script>""".encode("cp1252")
    expected = ["http://a.example/%C3%A9?q=%E9", "http://a.example/s?%E9"]
    for context in (False, True):
        assert [link.url for link in read(body, "windows-1252", URL, context=context).links] == expected


def test_nofollow_links_are_left_out_unless_wanted() -> None:
    body = b"<a rel='noopener NoFollow' href=/x>x</a>"
    assert read(body, "utf-8", URL).links == ()
    assert [link.url for link in read(body, "utf-8", URL, skip_nofollow=False).links] == [
        "http://a.example/x"
    ]


@pytest.mark.parametrize("context", [False, True])
@pytest.mark.parametrize(
    ("markup", "anchor"),
    [
        ("<a href=x>\n The  <b>first</b>\tpage</a> tail", "The first page"),
        ("<a href=x><div>One</div><div> two</div></a>", "One two"),
        ("<a href=x title=T><img alt=' Our logo'></a>", "Our logo"),
        ("<a href=x aria-label=L title=T><img alt=''></a>", "L"),
        ("<a href=x title=T> </a>", "T"),
        ("<area href=x alt=North>", "North"),
        ("<svg><a xlink:href=x><text>A box</text></a><a xlink:href=x><text>No</text></a></svg>", "A box"),
        ("<frameset><frame src=x title=Menu>", "Menu"),
        ("<iframe src=x title=Map>no frames</iframe>", "Map"),
        ("<a href=x></a>", ""),
    ],
)
def test_the_anchor_is_the_text_or_what_stands_for_it(markup: str, anchor: str, context: bool) -> None:
    assert [link.anchor for link in links(markup, context=context)] == [anchor]


@pytest.mark.parametrize("context", [False, True])
def test_of_links_with_one_target_the_one_that_says_most_stays_in_the_first_place(context: bool) -> None:
    body = """<nav><a href=x>Courses</a></nav><a href=y>Y</a><a href=x><img></a>
    <a href=x>CS 415, autumn</a><a href=x>again</a>"""
    found = [(link.url[-1], link.anchor, link.role) for link in links(body, context=context)]
    assert found == [("x", "CS 415, autumn", "main"), ("y", "Y", "main")]


@pytest.mark.parametrize("context", [False, True])
@pytest.mark.parametrize(
    ("markup", "role"),
    [
        ("<p>{}</p>", "main"),
        ("<nav><ul><li>{}</ul></nav>", "navigation"),
        ("<header>{}</header>", "header"),
        ("<footer>{}</footer>", "footer"),
        ("<aside>{}</aside>", "aside"),
        ("<form><label>{}</label></form>", "form"),
        ("<nav>Menu</nav>{}", "main"),
        ("<main>{}</main>", "main"),
        ("<article><header>{}</header></article>", "main"),
        ("<main><footer>{}</footer></main>", "main"),
        ("<main><nav>{}</nav></main>", "navigation"),
        ("<aside><article>{}</article></aside>", "aside"),
        ("<form><p>{}</p></form>", "main"),  # a form around the whole page
        ("<form><nav>{}</nav><h1>Title</h1></form>", "navigation"),
    ],
)
def test_the_role_is_the_part_of_the_page_around_the_link(markup: str, role: str, context: bool) -> None:
    assert [link.role for link in links(markup.format("<a href=x>x</a>"), context=context)] == [role]


def test_an_anchor_is_cut_where_a_page_never_closes_it() -> None:
    (link,) = links("<a href=x>" + "word <i>more</i> " * 10_000)
    assert 0 < len(link.anchor) <= MOST_ANCHOR


def test_robots_meta_tags_are_given_in_order() -> None:
    body = b"<meta name=' Robots' content=NoIndex><meta name=archivebot content=all><meta name=x>"
    assert read(body, "utf-8", URL).robots == (("robots", "NoIndex"), ("archivebot", "all"))
