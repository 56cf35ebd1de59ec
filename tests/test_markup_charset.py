"""The charset of a text: what its bytes, its header and its markup declare, and what it looks like."""

from __future__ import annotations

import codecs
import time
from encodings.aliases import aliases

import pytest
from hypothesis import given
from hypothesis import strategies as st

from archivebot.markup.charset import (
    PRESCANNED,
    SEEN,
    charset_of,
    codec,
    meta,
    wide_charset,
    xml_declaration,
)

CODECS = sorted({*aliases.values(), "idna", "punycode", "undefined", "unicode_escape", "raw_unicode_escape"})
DECLARATIONS = (meta, xml_declaration)


@pytest.mark.parametrize(
    ("body", "label", "charset"),
    [
        (codecs.BOM_UTF8 + b"<p>", "iso-8859-1", "utf-8"),
        (codecs.BOM_UTF16_LE + "<p>".encode("utf-16-le"), "utf-8", "utf-16-le"),
        (codecs.BOM_UTF16_BE + "<p>".encode("utf-16-be"), "", "utf-16-be"),
        (b"<meta charset=euc-kr>", "big5", "big5hkscs"),
        (b"<meta charset=shift_jis>", "", "cp932"),
        (b"<meta http-equiv=content-type content='text/html; charset=windows-1251'>", "", "cp1251"),
        (b"<?xml version='1.0' encoding='iso-8859-2'?>", "", "iso8859-2"),
        (b"", "gb2312", "gb18030"),
    ],
    ids=["mark before header", "utf-16 little", "utf-16 big", "header before meta", "meta", "meta http-equiv",
         "xml declaration", "header"],
)  # fmt: skip
def test_the_strongest_declaration_counts(body: bytes, label: str, charset: str) -> None:
    assert charset_of(body, label, DECLARATIONS) == charset


@pytest.mark.parametrize(
    ("body", "charset"),
    [
        (b"", "utf-8"),
        (b"plain", "utf-8"),
        ("Grüße 北京".encode(), "utf-8"),
        ("Grüße 北京".encode()[:-1], "utf-8"),
        ("Grüße".encode("latin-1"), "cp1252"),
        (b"\xff", "cp1252"),
        (b"caf\xe9", "cp1252"),
        ("<p>x".encode("utf-16-le"), "utf-16-le"),
        ("\n<p>x".encode("utf-16-be"), "utf-16-be"),
        ("Библиотека открыта".encode("cp1251"), "cp1251"),
        ("図書館の検索".encode("cp932"), "cp932"),
        ("図書館の検索".encode("iso2022_jp"), "iso2022_jp"),
    ],
)
def test_what_declares_nothing_is_judged_by_its_bytes(body: bytes, charset: str) -> None:
    assert charset_of(body, "", DECLARATIONS) == charset


def test_few_signs_in_a_long_text_are_western() -> None:
    library = "Библиотека".encode("cp1251")
    assert charset_of(library + b" is open all year. " * 1000) == "cp1252"
    assert charset_of(library + b" is open all year. ") == "cp1251"


def test_marks_amid_a_text_are_none() -> None:
    assert charset_of(b"a \xff\xfe \xff\xfe \xff\xfe") not in ("utf-16-le", "utf-16-be")
    assert not wide_charset(b"a \xff\xfe")


@pytest.mark.parametrize("name", ["utf-16", "utf-16le", "UTF-16BE", "utf-32"])
def test_two_bytes_a_character_are_not_believed_of_a_text_without_nul(name: str) -> None:
    assert charset_of(b"<p>x", name) == "utf-8"
    assert charset_of(b"<p>\xe9", name) == "cp1252"


def test_a_meta_of_utf_16_means_utf_8() -> None:
    assert charset_of(b"<meta charset=utf-16>\xe9", "", DECLARATIONS) == "utf-8"


def test_utf_16_is_believed_of_a_body_of_two_bytes_each() -> None:
    assert charset_of("x<p>".encode("utf-16-be"), "utf-16be") == "utf-16-be"


@pytest.mark.parametrize(
    "name", "nonsense base64 hex zip rot13 idna punycode undefined unicode_escape \0".split(" ")
)
def test_what_is_no_charset_of_texts_is_not_believed(name: str) -> None:
    assert codec(name) == ""
    assert charset_of("é".encode(), name) == "utf-8"
    assert charset_of(b"<meta charset=%b>\xe9" % name.encode(), "", DECLARATIONS) == "cp1252"


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("x-x-big5", "big5hkscs"),
        ("ks_c_5601-1987", "cp949"),
        ("ISO-8859-8-I", "iso8859-8"),
        ("logical", "iso8859-8"),
        ("x-mac-cyrillic", "mac-cyrillic"),
        ("x-user-defined", "cp1252"),
        ("hz-gb-2312", "hz"),
        ("utf-8-sig", "utf-8"),
        ("utf_16", "utf-16-le"),
        ("unicode", "utf-16-le"),
        (" UTF-8\n", "utf-8"),
    ],
)
def test_labels_of_the_standard_and_of_python_have_a_codec(label: str, name: str) -> None:
    assert codec(label) == name


@pytest.mark.parametrize("name", CODECS)
def test_whatever_is_declared_the_body_can_be_read_and_written_again(name: str) -> None:
    for body in (bytes(range(256)), b"\\ud800 +2AA- \\x", b"<\0p\0>\0\xd8", b""):
        body.decode(charset_of(body, name), "replace").encode()


@given(st.binary(), st.text())
def test_any_bytes_with_any_label_can_be_read(body: bytes, label: str) -> None:
    body.decode(charset_of(body, label, DECLARATIONS), "replace").encode()


@pytest.mark.parametrize(
    "piece", [b"<meta charset", b"<!-- charset ", b"<?xml encoding ", b"\x1b$", b"\xff", b" \0"]
)
def test_a_long_body_takes_as_long_as_its_beginning(piece: bytes) -> None:
    started = time.perf_counter()
    charset_of(piece * (8 * SEEN // len(piece)), "", DECLARATIONS)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    "tag",
    [
        "<meta charset='windows-1251'>",
        '<meta http-equiv=Content-Type content="a; charset=windows-1251">',
    ],
)
def test_a_declaration_may_begin_in_the_bytes_that_are_prescanned_and_end_behind_them(tag: str) -> None:
    for before in range(PRESCANNED - len(tag), PRESCANNED + 2):
        assert meta(f"{'<p>':{before}}{tag}".encode()) == "windows-1251"
