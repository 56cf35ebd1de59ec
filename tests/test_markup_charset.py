"""The charset of a body, and whether it is markup."""

from __future__ import annotations

import codecs
from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.markup.charset import charset_of, is_markup

CODECS = sorted({*aliases.values(), "idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"})


@pytest.mark.parametrize(
    ("body", "content_type", "charset"),
    [
        (codecs.BOM_UTF8 + b"<p>", "text/html; charset=iso-8859-1", "utf-8"),
        (codecs.BOM_UTF16_LE + "<p>".encode("utf-16-le"), "text/html; charset=utf-8", "utf-16-le"),
        (codecs.BOM_UTF16_BE + "<p>".encode("utf-16-be"), "", "utf-16-be"),
        (b"<meta charset=euc-kr>", "text/html; charset=big5", "big5hkscs"),
        (b"<meta charset=shift_jis>", "text/html", "cp932"),
        (b"<meta http-equiv=content-type content='text/html; charset=windows-1251'>", "", "cp1251"),
        (b"<?xml version='1.0' encoding='iso-8859-2'?>", "", "iso8859-2"),
        (b"", "text/html; charset=gb2312", "gb18030"),
    ],
    ids=["mark before header", "utf-16 little", "utf-16 big", "header before meta", "meta", "meta http-equiv",
         "xml declaration", "header"],
)  # fmt: skip
def test_the_strongest_declaration_counts(body: bytes, content_type: str, charset: str) -> None:
    assert codecs.lookup(charset_of(body, content_type)) == codecs.lookup(charset)


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        (b"", "utf-8"),
        (b"plain", "utf-8"),
        ("Grüße 北京".encode(), "utf-8"),
        ("Grüße".encode("latin-1"), "cp1252"),
        (b"\xff", "cp1252"),
        ("<p>x".encode("utf-16-le"), "utf-16-le"),
        ("<p>x".encode("utf-16-be"), "utf-16-be"),
    ],
)
def test_what_declares_nothing_is_judged_by_its_bytes(body: bytes, charset: str) -> None:
    assert charset_of(body) == charset


@pytest.mark.parametrize("name", ["utf-16", "utf-16le", "UTF-16BE"])
def test_utf_16_is_not_believed_of_a_body_of_single_bytes(name: str) -> None:
    assert charset_of(b"<p>x", f"text/html; charset={name}") == "utf-8"
    assert charset_of(b"<meta charset=%b>\xe9" % name.encode()) == "cp1252"


def test_utf_16_is_believed_of_a_body_of_two_bytes_each() -> None:
    assert charset_of("<p>x".encode("utf-16-be"), "text/html; charset=utf-16be") == "utf-16-be"


@pytest.mark.parametrize(
    "name", ["nonsense", "base64", "hex", "zip", "rot13", "idna", "punycode", "undefined", "unicode_escape"]
)
def test_what_is_no_charset_of_texts_is_not_believed(name: str) -> None:
    assert charset_of("é".encode(), f"text/html; charset={name}") == "utf-8"
    assert charset_of(b"<meta charset=%b>\xe9" % name.encode()) == "cp1252"


@pytest.mark.parametrize("name", CODECS)
def test_whatever_is_declared_the_body_can_be_read_and_written_again(name: str) -> None:
    for body in (bytes(range(256)), b"\\ud800 +2AA- \\x", b"<\0p\0>\0\xd8", b""):
        body.decode(charset_of(body, f"text/html; charset={name}"), "replace").encode()


@given(st.binary(), st.text())
def test_any_bytes_with_any_header_can_be_read(body: bytes, content_type: str) -> None:
    body.decode(charset_of(body, content_type), "replace").encode()


@pytest.mark.parametrize(
    ("body", "content_type", "markup"),
    [
        (b"<p>x", "", True),
        (b"<p>x", "text/html; charset=utf-8", True),
        (b"<p>x", "TEXT/HTML", True),
        (b"<p>x", "application/xhtml+xml", True),
        (b"<rss>", "application/rss+xml", True),
        (b"<svg>", "image/svg+xml", True),
        (b"<p>x", "text/plain", False),
        (b"<p>x", "application/pdf", False),
        (b"\xef\xbb\xbf \r\n\t\0<p>", "", True),
        (b"words before <b>markup</b>", "", True),
        (b"words only", "", False),
        (b"words only", "text/html", True),
        (b"a < b \0\1", "", False),
        (b" " * 2000 + b"<p>", "", False),
        (b"", "", False),
    ],
)
def test_markup_is_told_by_its_type_else_by_its_first_bytes(
    body: bytes, content_type: str, markup: bool
) -> None:
    assert is_markup(body, content_type, "utf-8") is markup


@pytest.mark.parametrize(
    "start",
    [b"%PDF-1.7", b"GIF89a", b"\x89PNG\r\n", b"\xff\xd8\xff\xe0", b"PK\x03\x04", b"\x1f\x8b\x08", b"RIFF",
     b"OggS", b"ID3", b"wOF2"],
)  # fmt: skip
@pytest.mark.parametrize("content_type", ["", "text/html"])
def test_known_binary_formats_are_no_markup_whatever_their_type_says(start: bytes, content_type: str) -> None:
    assert not is_markup(start + b" <p>x</p>", content_type, "utf-8")


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
def test_utf_16_is_markup_where_its_text_is(charset: str) -> None:
    assert is_markup("<p>x".encode(charset), "", charset)
    assert is_markup("\n<p>x".encode(charset), "", charset)
    assert not is_markup("words".encode(charset), "", charset)
