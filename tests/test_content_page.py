"""The content of a page, from bytes to text."""

from __future__ import annotations

import time
from datetime import date

import pytest

from archivebot.content.page import Content, body_content, content

NAV = "<nav><ul><li><a href=/>Home</a><li><a href=/shop>Shop</a><li><a href=/c>About</a></ul></nav>"
FOOTER = "<footer><p>© 2024 Example Ltd. All rights reserved.</p><a href=/privacy>Privacy policy</a></footer>"
PARAGRAPHS = (
    "The common tern breeds in a wide range of habitats, from flat rocks to floating rafts on inland lakes.",
    "It feeds by plunge-diving for fish, and the male carries what he catches to the female that he courts.",
    "Eggs are laid in a shallow scrape, which the parents line with débris when the tide has come near.",
)
ARTICLE = (
    "<main><article><h1>The common tern</h1><time datetime=2021-06-07>June</time>"
    + "".join(f"<p>{text}</p>\n" for text in PARAGRAPHS * 3)
    + "</article></main>"
)
HEAD = "<!doctype html><html lang=en><title>The common tern | Birds</title>"
PAGE = f"{HEAD}<body>{NAV}{ARTICLE}{FOOTER}</body></html>"


def test_an_article_is_told_from_its_furniture() -> None:
    page = content(PAGE)
    assert all(paragraph in page.text for paragraph in PARAGRAPHS)
    assert "Home" not in page.text
    assert "rights reserved" not in page.text
    assert (page.title, page.language, page.published) == ("The common tern", "en", date(2021, 6, 7))


@pytest.mark.parametrize(
    "charset", ["utf-8", "utf-16-le", "utf-16", "cp1252", "gb18030", "shift_jis", "none"]
)
def test_ranges_are_of_the_bytes_whatever_the_charset(charset: str) -> None:
    text = PAGE.replace("\n", "\r\n").replace("é", "e" if charset == "shift_jis" else "é").replace("©", "(c)")
    codec = "utf-8" if charset == "none" else charset
    body = text.encode(codec)
    page = content(body, charset)
    reading = codec if codec != "utf-16" else "utf-16-le"
    held = "".join(body[start:end].decode(reading) for start, end in page.ranges)
    assert PARAGRAPHS[0] in held
    assert "<p>" in held
    assert "Home" not in held
    assert PARAGRAPHS[1] in page.text


def test_ranges_of_a_string_are_characters() -> None:
    page = content(PAGE)
    assert "".join(PAGE[start:end] for start, end in page.ranges).count(PARAGRAPHS[2]) == 3


def test_bytes_that_are_no_characters_do_not_move_the_ranges() -> None:
    body = PAGE.encode().replace(b"Home", b"H\xff\xfe\xe9me").replace(b"Eggs", b"\xc3ggs")
    held = b"".join(body[start:end] for start, end in content(body).ranges)
    assert PARAGRAPHS[0].encode() in held
    assert b"H\xff" not in held


def test_ranges_are_in_order_and_do_not_overlap() -> None:
    edges = [edge for each in content(PAGE).ranges for edge in each]
    assert edges == sorted(edges)


@pytest.mark.parametrize(
    "body", [b"", b"\0\0", b"<", b"\xff\xfe", b"<frameset><frame src=a>", b"<html><body></body>"]
)
def test_any_bytes_are_accepted(body: bytes) -> None:
    assert isinstance(content(body), Content)


def test_a_page_that_shows_text_has_a_text() -> None:
    assert content("<nav><a href=/a>One</a></nav>").text == "One"
    assert content("plain words, no markup").text == "plain words, no markup"


def test_a_shell_that_a_script_fills_is_read_by_its_description() -> None:
    shell = '<meta name=description content="A thread on  terns."><div id=app>Loading</div>'
    assert content(shell).text == "Loading\nA thread on terns."


def test_a_thread_in_noscript_is_read() -> None:
    posts = "".join(f"<div class=post><p>{text}</p></div>" for text in PARAGRAPHS)
    assert PARAGRAPHS[1] in content(f"<div id=app></div><noscript>{posts}</noscript>").text


@pytest.mark.long
@pytest.mark.parametrize(
    "piece", ["<div>", "<p>word word", "<a href=/>x", "<table><tr><td>x", "&", "<b><p>x"]
)
def test_a_megabyte_of_hostile_markup_ends_soon(piece: str) -> None:
    started = time.process_time()
    content(piece * (1_000_000 // len(piece)))
    assert time.process_time() - started < 60  # a quadratic walk would take an hour


def test_a_codec_that_does_not_read_texts_stands_for_utf_8() -> None:
    assert content(PAGE.encode(), "idna") == content(PAGE.encode())


def test_a_text_keeps_its_lines_and_blank_lines() -> None:
    rows = "name,price\r\n\r\nchair,10\r\n  table,20  \r\n"
    page = body_content(rows.encode(), "text/csv")
    assert (page.text, page.title, page.ranges) == (
        "name,price\n\nchair,10\n  table,20",
        "",
        ((0, len(rows)),),
    )
    assert body_content("\ufeffone\ntwo".encode("utf-16-le"), "text/plain").text == "one\ntwo"
    assert body_content(b"caf\xe9\n" + b"Der Hafen und die F\xe4hre sind heute geschlossen.").language == "de"


@pytest.mark.parametrize("body", [b"", b"\n \n", b"%PDF-1.4 stream", b"GIF89a<p>x", b"\0\1\2"])
def test_what_is_no_text_says_nothing(body: bytes) -> None:
    assert body_content(body) == Content()


def test_a_preformatted_text_keeps_its_lines() -> None:
    code = "def ferry():\n    return 1\n\n\ndef quay():\n    return 2"
    page = content(PAGE.replace("</article>", f"<pre>{code}</pre></article>"))
    assert "def ferry():\n    return 1\n\ndef quay():\n    return 2" in page.text


def test_a_refrain_stays() -> None:
    verses = (
        *PARAGRAPHS[:2],
        "Oh, the tern comes back in spring",
        *PARAGRAPHS[2:],
        "Oh, the tern comes back in spring",
    )
    song = "".join(f"<p>{verse}</p>" for verse in verses)
    assert (
        content(f"{HEAD}<body>{NAV}<article><h1>The common tern</h1>{song}</article>{FOOTER}").text.count(
            "Oh"
        )
        == 2
    )


def test_paragraphs_that_breaks_part_are_read() -> None:
    body = f"{HEAD}<body>{NAV}<h1>The common tern</h1>{'<br><br>'.join(PARAGRAPHS * 2)}{FOOTER}"
    assert all(content(body).text.count(paragraph) == 2 for paragraph in PARAGRAPHS)
