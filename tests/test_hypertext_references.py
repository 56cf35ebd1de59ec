"""Which elements lead on, and to which canonical URL."""

from __future__ import annotations

import pytest
from turbohtml import parse

from archivebot.hypertext.references import TAGS, reference, refresh_target, resolve


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        ("<a href=/1>x</a>", ("/1", "link")),
        ("<area href=/2>", ("/2", "link")),
        ("<iframe src=/3></iframe>", ("/3", "frame")),
        ("<link rel=canonical href=/4>", ("/4", "relation")),
        ("<link rel='alternate nofoo' href=/5>", ("/5", "relation")),
        ("<link rel=NEXT href=/6>", ("/6", "relation")),
        ("<meta http-equiv=' Refresh' content='3; URL=\"/7\"'>", ("/7", "refresh")),
        ("<svg><a xlink:href=/8>x</a></svg>", ("/8", "link")),
        ("<svg><a xlink:href=/no href=/9>x</a></svg>", ("/9", "link")),
        ("<a xlink:href=/no>x</a>", None),
        ("<a name=top>x</a>", None),
        ("<a href=''>x</a>", None),
        ("<link rel=stylesheet href=/no>", None),
        ("<link rel='Alternate StyleSheet' href=/no>", None),
        ("<link rel=next>", None),
        ("<meta name=robots content='0; url=/no'>", None),
    ],
)
def test_an_element_gives_its_address_and_kind(markup: str, expected: tuple[str, str] | None) -> None:
    assert reference(next(parse(markup).iter_elements(TAGS))) == expected


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=/a", "/a"),
        ("5 ; URL = '/a b'", "/a b"),
        ("1,/a", "/a"),
        ("0 url=/a", "/a"),
        ("0\n/a", "/a"),
        ("0;url=/it's", "/it's"),
        ('0;url="/it\'s" no', "/it's"),
        ("0url=/no", None),
        ("30", None),
        ("", None),
        ("0;url=", None),
    ],
)
def test_meta_refresh_target(content: str, target: str | None) -> None:
    assert refresh_target(content) == target


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("x", "http://a.example/dir/x"),
        ("../y", "http://a.example/y"),
        ("?q=1", "http://a.example/dir/page?q=1"),
        ("x#part", "http://a.example/dir/x"),
        (" /dir/x ", "http://a.example/dir/x"),
        ("//b.example/z", "http://b.example/z"),
        ("HTTPS://B.example", "https://b.example/"),
    ],
)
def test_references_resolve_to_canonical_urls(href: str, url: str) -> None:
    assert resolve(href, "http://a.example/dir/page") == url


@pytest.mark.parametrize(
    "href",
    ["", " ", "#top", "javascript:void(0)", "MAILTO:a@b", "data:,x", "tel:1", "file:///etc", "http://["],
)
def test_what_is_not_http_is_no_reference(href: str) -> None:
    assert resolve(href, "http://a.example/dir/page") is None
