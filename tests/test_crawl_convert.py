"""Responses and failures become pages, HTML becomes links, whatever the bytes."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scrapy import exceptions as scrapy_errors
from scrapy.http import HtmlResponse, Response, TextResponse
from twisted.internet import error as twisted_errors

from archivebot.crawl.convert import (
    Reading,
    location_of,
    outcome_of_failure,
    outcome_of_response,
    page_of,
    read,
    reason_of,
    refresh_target,
    stored_response,
)
from archivebot.models import Outcome

URL = "http://a.example/dir/page"
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def page(body: str | bytes, **given: Any) -> HtmlResponse:
    return HtmlResponse(URL, body=body if isinstance(body, bytes) else body.encode(), **given)


def links(body: str | bytes, **given: Any) -> list[str]:
    return [link.removeprefix("http://a.example") for link in read(page(body, **given)).links]


def test_links_come_from_every_element_that_leads_somewhere() -> None:
    body = """<link rel=canonical href=/1><link rel="alternate nofoo" href=/2><link rel=next href=/3>
    <link rel=stylesheet href=/no><a href=/4>x</a><area href=/5><frame src=/6><iframe src=/7></iframe>
    <meta http-equiv=Refresh content="3; URL='/8'"><img src=/no><script src=/no></script><form action=/no>"""
    assert set(links(body)) == {f"/{number}" for number in range(1, 9)}


def test_links_are_resolved_made_canonical_and_given_once() -> None:
    body = (
        "<a href=x><a href='../y'><a href='?q=1'><a href='x#part'><a href=' /dir/x '><a href='//b.example/z'>"
    )
    assert links(body) == ["/dir/x", "/y", "/dir/page?q=1", "http://b.example/z"]


def test_base_href_is_where_links_start_from() -> None:
    assert links("<base href='/other/'><a href=x><base href='/third/'>") == ["/other/x"]


@pytest.mark.parametrize(
    "href", ["", "#top", "javascript:void(0)", "MAILTO:a@b", "data:,x", "tel:1", "file:///etc"]
)
def test_what_is_not_http_is_no_link(href: str) -> None:
    assert links(f"<a href='{href}'>x</a>") == []


def test_nofollow_links_are_left_out_unless_wanted() -> None:
    response = page("<a rel='noopener NoFollow' href=/x>x</a>")
    assert read(response) == Reading()
    assert read(response, skip_nofollow=False).links == ("http://a.example/x",)


@pytest.mark.parametrize(
    ("content", "target"),
    [
        ("0;url=/a", "/a"),
        ("5 ; URL = '/a b'", "/a b"),
        ("1,/a", "/a"),
        ("30", None),
        ("", None),
        ("0;url=", None),
    ],
)
def test_meta_refresh_target(content: str, target: str | None) -> None:
    assert refresh_target(content) == target


@pytest.mark.parametrize("charset", ["utf-8", "gb18030", "shift_jis", "utf-16", "windows-1251"])
def test_links_are_read_in_the_declared_charset(charset: str) -> None:
    name = "ж" if charset == "windows-1251" else "日本"
    body = f"<a href='/{name}'>{name}</a>".encode(charset)
    (link,) = links(body, headers={"Content-Type": f"text/html; charset={charset}"})
    assert (
        link == links(f"<a href='/{name}'>".encode(), headers={"Content-Type": "text/html; charset=utf-8"})[0]
    )


def test_what_is_not_html_has_no_links() -> None:
    body = b"<a href=/x>"
    assert read(Response(URL, body=body)) == read(TextResponse(URL, body=body)) == Reading()


def test_a_tag_soup_with_nul_bytes_and_deep_nesting_is_read() -> None:
    body = b"\0<div>" * 5000 + b"<a h\0ref=/deep>x" + b"</p>" * 100
    assert not read(page(body)).failed


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["utf-8", "utf-16", "utf-7", "gb18030", "hz", "nonsense"]))
def test_reading_never_raises(body: bytes, charset: str) -> None:
    read(page(b"<a href=/x>" + body, headers={"Content-Type": f"text/html; charset={charset}"}))


def test_a_page_keeps_body_headers_and_target() -> None:
    headers = {"Location": "/new page", "Set-Cookie": ["a=1", "b=2"], "ETag": '"x"'}
    response = Response(URL, 301, headers=headers, body=b"\xff\0")
    got = page_of(response, URL, NOW, outcome_of_response(response), links=3, level=2)
    assert (got.status, got.outcome, got.body, got.links, got.level) == (
        301,
        Outcome.REDIRECT,
        b"\xff\0",
        3,
        2,
    )
    assert got.location == "http://a.example/new%20page"
    assert [value for name, value in got.headers if name == "Set-Cookie"] == ["a=1", "b=2"]


def test_a_short_body_is_kept_with_its_reason() -> None:
    response = Response(URL, body=b"half", flags=["dataloss"])
    got = page_of(response, URL, NOW, outcome_of_response(response))
    assert (got.outcome, got.body, got.status) == (Outcome.INCOMPLETE, b"half", 200)
    assert "4 bytes" in got.reason


def test_location_counts_for_redirects_and_created_only() -> None:
    assert location_of(Response(URL, 200, headers={"Location": "/x"})) is None
    assert location_of(Response(URL, 201, headers={"Location": "/x"})) == "http://a.example/x"
    assert location_of(Response(URL, 302, headers={"Location": "javascript:1"})) is None
    assert location_of(Response(URL, 302)) is None


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (scrapy_errors.DownloadTimeoutError("t"), Outcome.TIMEOUT),
        (scrapy_errors.CannotResolveHostError("d"), Outcome.UNREACHABLE),
        (scrapy_errors.DownloadConnectionRefusedError("r"), Outcome.UNREACHABLE),
        (scrapy_errors.DownloadFailedError("f"), Outcome.UNREACHABLE),
        (twisted_errors.ConnectionLost(), Outcome.UNREACHABLE),
        (OSError("o"), Outcome.UNREACHABLE),
        (scrapy_errors.ResponseDataLossError("l"), Outcome.INCOMPLETE),
        (scrapy_errors.DownloadCancelledError("c"), Outcome.TOO_LARGE),
        (scrapy_errors.IgnoreRequest("unpacked"), Outcome.TOO_LARGE),
        (ValueError("v"), Outcome.PROTOCOL_ERROR),
    ],
)
def test_failures_have_an_outcome(error: Exception, outcome: Outcome) -> None:
    assert outcome_of_failure(error) is outcome


def test_a_reason_is_one_line_and_never_empty() -> None:
    assert reason_of(ValueError("two\nlines")) == "two lines"
    assert reason_of(ValueError()) == "ValueError"


def test_what_is_stored_reads_like_a_response() -> None:
    response = stored_response(URL, (("Content-Type", "text/html"),), b"<a href=/x>")
    assert read(response).links == ("http://a.example/x",)
