"""Responses and failures become pages, HTML becomes hypertext, whatever the bytes."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from OpenSSL import SSL
from scrapy import exceptions as scrapy_errors
from scrapy.http import HtmlResponse, Response, TextResponse
from twisted.internet import error as twisted_errors

from archivebot.crawl.compat.parser import ParseError
from archivebot.crawl.reading.convert import (
    location_of,
    outcome_of_failure,
    outcome_of_response,
    page_of,
    read,
    reason_of,
)
from archivebot.crawl.reading.pages import MOST_TEXT
from archivebot.hypertext import Hypertext
from archivebot.models import Link, Outcome

URL = "http://a.example/dir/page"
LINKS = (Link("http://a.example/new"),)
NOW = datetime(2026, 1, 2, tzinfo=UTC)


def page(body: str | bytes, **given: Any) -> HtmlResponse:
    return HtmlResponse(URL, body=body if isinstance(body, bytes) else body.encode(), **given)


def test_a_response_is_read_in_its_charset_from_its_own_url() -> None:
    body = "<a href='日本'>日本</a>".encode("shift_jis")
    (link,) = read(page(body, headers={"Content-Type": "text/html; charset=shift_jis"})).links
    assert (link.url, link.anchor) == ("http://a.example/dir/%E6%97%A5%E6%9C%AC", "日本")


def test_nofollow_and_context_are_handed_on() -> None:
    response = page("<title>T</title><a rel=nofollow href=/x>x</a>")
    assert read(response) == Hypertext()
    found = read(response, skip_nofollow=False, context=True)
    assert (found.title, [link.url for link in found.links]) == ("T", ["http://a.example/x"])


@pytest.mark.parametrize("kind", [Response, TextResponse, HtmlResponse])
def test_the_bytes_and_the_header_decide_not_the_class_of_a_response(kind: type[Response]) -> None:
    body = b"<a href=/x>"
    assert read(kind(URL, body=body)).links
    assert read(kind(URL, body=body, headers={"Content-Type": "text/plain"})) == Hypertext()
    assert read(kind(URL, body=b"\x89PNG" + body, headers={"Content-Type": "text/html"})) == Hypertext()


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("text/plain", "Tide tables"),
        ("Text/Plain; charset=utf-8", "Tide tables"),
        ("text/css", ""),
        ("text/csv", "Tide tables"),
        ("application/json", ""),
        (None, "Tide tables"),
    ],
)
def test_plain_text_is_read_as_it_is_where_its_text_is_asked_for(kind: str | None, text: str) -> None:
    response = TextResponse(URL, body=b"Tide tables", headers={"Content-Type": kind} if kind else {})
    assert read(response, context=True) == Hypertext(text=text)
    assert read(response) == Hypertext()


def test_of_a_long_plain_text_the_beginning_is_read() -> None:
    response = TextResponse(URL, body=b"tide " * MOST_TEXT, headers={"Content-Type": "text/plain"})
    assert len(read(response, context=True).text) == MOST_TEXT


def test_of_a_long_page_the_beginning_is_judged() -> None:
    body = b"<p>" + b"tide " * MOST_TEXT + b'</p><a href="/last">x</a>'
    found = read(HtmlResponse(URL, body=body, encoding="utf-8"), context=True)
    assert len(found.text) == MOST_TEXT
    assert [link.anchor for link in found.links] == ["x"]


def test_the_end_of_a_long_plain_text_does_not_change_how_the_beginning_is_read() -> None:
    body = "潜水 ".encode() * MOST_TEXT + b"\xff"
    response = TextResponse(URL, body=body, headers={"Content-Type": "text/plain"})
    assert read(response, context=True).text == ("潜水 " * MOST_TEXT)[:MOST_TEXT]


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["utf-8", "utf-16", "utf-7", "gb18030", "hz", "nonsense"]))
def test_reading_never_raises(body: bytes, charset: str) -> None:
    read(page(b"<a href=/x>" + body, headers={"Content-Type": f"text/html; charset={charset}"}))


def test_a_page_keeps_body_headers_and_target() -> None:
    headers = {"Location": "/new page", "Set-Cookie": ["a=1", "b=2"], "ETag": '"x"'}
    response = Response(URL, 301, headers=headers, body=b"\xff\0")
    got = page_of(response, URL, NOW, outcome_of_response(response), links=LINKS, level=2)
    assert (got.status, got.outcome, got.body, got.links, got.level) == (
        301,
        Outcome.REDIRECT,
        b"\xff\0",
        LINKS,
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


def test_a_location_that_is_no_utf_8_leads_where_its_bytes_lead() -> None:
    answer = Response(URL, 302, headers={"Location": b"/caf\xe9?q=\xc3\xa9"})
    assert location_of(answer) == "http://a.example/caf%E9?q=%C3%A9"


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


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ParseError("non-integer status code", b"hello there"), "non-integer status code: hello there"),
        (ParseError("interim answers only", b""), "interim answers only"),
        (SSL.Error([("SSL routines", "", "wrong version number")]), "TLS: wrong version number"),
        (SSL.Error([]), "[]"),
        (scrapy_errors.DownloadCancelledError(""), "more bytes came than a body may have"),
    ],
)
def test_a_reason_has_words_and_no_values_of_python(error: Exception, reason: str) -> None:
    assert reason_of(error) == reason
