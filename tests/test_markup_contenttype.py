"""The values of Content-Type headers: which of them holds."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.markup.contenttype import content_type, parse


@pytest.mark.parametrize(
    ("values", "kind", "charset"),
    [
        ("", "", ""),
        ("text/html", "text/html", ""),
        (" Text/HTML ;charset=UTF-8 ", "text/html", "UTF-8"),
        ('text/html; charset="gb2312"; x', "text/html", "gb2312"),
        ("text/html;charset=a;charset=b", "text/html", "a"),
        ("text/html; charset=", "text/html", ""),
        ('text/html; x="a, text/plain; charset=b"', "text/html", ""),
        ("text/html, text/plain", "text/plain", ""),
        ("text/html; charset=a, text/html", "text/html", "a"),
        ("text/html; charset=a, text/html; charset=b", "text/html", "b"),
        ("text/html; charset=a, text/plain", "text/plain", ""),
        ("text/html, */*", "text/html", ""),
        ("text/html, nonsense", "text/html", ""),
        ("html", "", ""),
        ("text/html/x", "", ""),
        ("charset=utf-8", "", "utf-8"),
        ("unknown/unknown", "", ""),
        ('text/html; charset="a', "text/html", "a"),
    ],
)
def test_the_last_type_counts_with_the_charset_that_belongs_to_it(
    values: str, kind: str, charset: str
) -> None:
    assert parse(values) == (kind, charset)


def test_headers_are_found_whatever_their_case() -> None:
    assert content_type((("CONTENT-TYPE", "a/b"), ("content-type", "c/d"), ("X", "e/f"))) == "a/b, c/d"
    assert content_type(()) == ""


@given(st.text())
def test_any_value_is_read(value: str) -> None:
    assert parse(value).type == parse(value).type.lower()


@pytest.mark.parametrize("piece", [";", '"', ",", "; a=", ";charset ", '="\\', " "])
def test_long_headers_take_time_in_proportion(piece: str) -> None:
    started = time.perf_counter()
    parse("text/html" + piece * 100_000)
    assert time.perf_counter() - started < 2
