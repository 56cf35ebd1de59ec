"""Rewriting: a table of what becomes of each address and each script, and the bodies that are no HTML."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from turbohtml import parse

from archivebot.markup.media import media_of
from archivebot.replay.css import rewrite_css
from archivebot.replay.requisites import body_requisites, page_requisites
from archivebot.replay.rewrite import DEEPEST, Rewriter

TABLES = Path(__file__).with_name("replay")
URL = "http://a.example/d/p"
DIGITS = "2024"


def cases(part: str) -> list[tuple[str, str]]:
    """Return the pairs of a table: markup, and the markup that is replayed."""
    _, *pairs = (TABLES / f"{part}.txt").read_text("utf-8").split("\n\n")
    return [(plain(before), plain(meant(before, after))) for before, after in map(str.splitlines, pairs)]


def plain(text: str) -> str:
    return text.replace("⏎", "\n").replace("§", f"/web/{DIGITS}")


def meant(before: str, after: str) -> str:
    return {"=": before, "-": ""}.get(after, after)


def replayed(text: str, modifier: str = "") -> str:
    return Rewriter(URL, DIGITS, modifier).page(text)


@pytest.mark.parametrize(("markup", "expected"), cases("body"))
def test_markup_of_a_body_leads_into_the_archive_and_runs_nothing(markup: str, expected: str) -> None:
    found = replayed(f"<!doctype html><title></title><body>{markup}")
    assert found.partition("<body>")[2].removesuffix("</body></html>") == expected


@pytest.mark.parametrize(("markup", "expected"), cases("head"))
def test_markup_of_a_head_leads_into_the_archive_and_runs_nothing(markup: str, expected: str) -> None:
    found = replayed(f"<!doctype html>{markup}")
    assert found.partition("<head>")[2].partition("</head>")[0] == expected


def test_the_tables_have_at_least_eighty_cases() -> None:
    assert len(cases("body")) + len(cases("head")) >= 80


def test_links_of_a_page_in_a_frame_stay_in_the_frame() -> None:
    assert '"/web/2024if_/http://a.example/d/b"' in replayed("<a href=b>x</a>", "if_")
    assert '"/web/2024im_/http://a.example/d/i"' in replayed("<img src=i>", "if_")


@pytest.mark.parametrize("markup", ["<a {} href=b>x</a>", "<area {} href=b>", "<form {} action=b></form>"])
def test_a_link_to_another_window_leads_to_a_page_with_a_banner(markup: str) -> None:
    for target in ("_top", "_BLANK", "menu"):
        assert '"/web/2024/http://a.example/d/b"' in replayed(markup.format(f"target={target}"), "if_")
        assert '"/web/2024/http://a.example/d/b"' in replayed(
            f"<base target={target}>{markup.format('')}", "if_"
        )
    for target in ("_self", "_parent", "''"):
        assert '"/web/2024if_/http://a.example/d/b"' in replayed(markup.format(f"target={target}"), "if_")


def test_a_link_to_a_frame_of_its_page_leads_to_a_page_without_a_banner() -> None:
    link = "<a target=view href=b>x</a>"
    assert '"/web/2024if_/http://a.example/d/b"' in replayed(f"{link}<iframe name=view></iframe>")
    assert '"/web/2024/http://a.example/d/b"' in replayed(f"{link}<iframe name=other></iframe>")


def test_documents_inside_documents_end_somewhere() -> None:
    text = "<script>f()</script>bottom"
    for _ in range(DEEPEST + 1):
        text = '<iframe srcdoc="' + text.replace("&", "&amp;").replace('"', "&quot;") + '"></iframe>'
    assert "script" not in replayed(text)
    assert "bottom" not in replayed(text)
    assert "bottom" in replayed("<iframe srcdoc='bottom'></iframe>")


def test_documents_inside_documents_have_the_base_of_the_page() -> None:
    page = replayed("<base href=/base/><iframe srcdoc='&lt;img src=i&gt;'></iframe>")
    assert "&quot;/web/2024im_/http://a.example/base/i&quot;" in page


def test_the_banner_opens_the_body_and_a_frameset_has_none() -> None:
    banner = "<b-anner><template>x</template></b-anner>"
    page = Rewriter(URL, DIGITS).page("<title>t</title><p>x", banner)
    assert page == f"<html><head><title>t</title></head><body>{banner}<p>x</p></body></html>"
    assert banner not in Rewriter(URL, DIGITS).page("<frameset><frame src=a></frameset>", banner)


def test_without_links_only_scripts_go() -> None:
    page = Rewriter(URL, DIGITS, "bn_", links=False).page(
        '<a href="b" onclick="f()">x</a><script>f()</script>'
    )
    assert page.partition("<body>")[2] == '<a href="b">x</a></body></html>'


SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 1 1"'
    ' onload="f()"><linearGradient id="a"/><image xlink:href="i.png"/><script>f()</script></svg>'
)


def test_a_picture_in_xml_stays_xml() -> None:
    body, type_ = Rewriter(URL, DIGITS).body(SVG.encode(), media_of(SVG.encode(), "image/svg+xml"), "im_")
    assert type_ == "image/svg+xml; charset=utf-8"
    assert body.decode() == (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
        ' viewBox="0 0 1 1"><linearGradient id="a"/><image xlink:href="/web/2024im_/http://a.example/d/i.png"/>'
        "</svg>"
    )


def test_scripts_of_xml_may_have_a_prefix() -> None:
    prefixed = SVG.replace("<script>f()</script>", "<s:script>f()</s:script>")
    assert "f()" not in Rewriter(URL, DIGITS).xml(prefixed.replace("<svg ", f"<svg xmlns:s='{SVG[12:38]}' "))


def test_style_sheets_and_transformations_of_xml_are_not_followed() -> None:
    text = '<?xml-stylesheet type="text/xsl" href="http://b.example/x.xsl"?>' + SVG
    assert "b.example" not in Rewriter(URL, DIGITS).xml(text)
    feed = text.replace(SVG, "<feed><link href='a'/></feed>").encode()
    body, type_ = Rewriter(URL, DIGITS).body(feed, media_of(feed, "text/xml"))
    assert (body, type_) == (b"<feed><link href='a'/></feed>", "application/atom+xml; charset=utf-8")


def test_a_page_in_xml_stays_xml_and_one_that_is_not_well_formed_is_read_as_html() -> None:
    text = '<?xml version="1.0" encoding="iso-8859-1"?><html xmlns="http://www.w3.org/1999/xhtml"><body><br/>'
    good = f"{text}<a href='b'>\xe9</a></body></html>".encode("latin-1")
    body, type_ = Rewriter(URL, DIGITS).body(good, media_of(good, "application/xhtml+xml"))
    assert type_ == "application/xhtml+xml; charset=utf-8"
    assert '<br/><a href="/web/2024/http://a.example/d/b">é</a>' in body.decode()
    bad = f"{text}<a href='b'>x<script>f()</script>".encode()
    body, _ = Rewriter(URL, DIGITS).body(bad, media_of(bad, "application/xhtml+xml"))
    assert 'href="/web/2024/http://a.example/d/b"' in body.decode()
    assert "script" not in body.decode()


def test_what_is_no_xml_is_not_sent_as_xml() -> None:
    page = b"<html xmlns='http://www.w3.org/1999/xhtml'><body><p>a&nbsp;b</p></body></html>"
    for text, declared in ((page, "application/xhtml+xml"), (SVG.encode()[:-6], "image/svg+xml")):
        body, type_ = Rewriter(URL, DIGITS).body(text, media_of(text, declared))
        assert type_ == "text/html; charset=utf-8"
        assert body.startswith(b"<html")


def test_text_is_written_as_utf_8_whatever_it_was() -> None:
    page = '<meta charset="koi8-r"><p>поиск'.encode("koi8-r")
    body, type_ = Rewriter(URL, DIGITS).body(page, media_of(page, "text/html; charset=koi8-r"))
    assert type_ == "text/html; charset=utf-8"
    assert "поиск" in body.decode()


def test_a_style_sheet_is_one_by_its_type_or_by_its_use() -> None:
    sheet = b"p { background: url(i.png) }"
    for declared, use in (("text/css", ""), ("text/plain", "cs_"), ("application/x-pointplus", "cs_")):
        body, type_ = Rewriter(URL, DIGITS).body(sheet, media_of(sheet, declared), use)
        assert body == b'p { background: url("/web/2024/http://a.example/d/i.png") }', declared
        assert type_ == "text/css; charset=utf-8"
    assert Rewriter(URL, DIGITS).body(sheet, media_of(sheet, "text/plain"))[0] == sheet


def test_other_bodies_are_replayed_as_they_are() -> None:
    for body, declared in ((b"\x89PNG\r\n\x1a\n", "image/png"), (b'{"a": "b"}', "application/json")):
        assert Rewriter(URL, DIGITS).body(body, media_of(body, declared))[0] == body


@pytest.mark.parametrize(
    "label", ["shift_jis", "euc-jp", "iso-2022-jp", "euc-kr", "big5", "utf-16le", "tis-620"]
)
def test_a_text_is_sent_with_a_label_that_browsers_know(label: str) -> None:
    body = "text".encode("utf-16-le") if label == "utf-16le" else b"text"
    media = media_of(body, f"text/plain; charset={label}")
    sent, type_ = Rewriter(URL, DIGITS).body(body, media)
    assert (sent, type_) == (body, f"text/plain; charset={label.replace('tis-620', 'windows-874')}")


def test_a_long_style_sheet_takes_time_in_proportion_to_its_length() -> None:
    hostile = ("\\" * 50_000, "url(" * 20_000, "(" * 50_000, '"' * 50_001, "/*" * 50_000, "@import " * 10_000)
    for sheet in hostile:
        begin = time.process_time()
        assert rewrite_css(f"url{sheet}", str.upper)
        assert time.process_time() - begin < 2, sheet[:10]


def test_the_query_of_an_address_is_in_the_charset_of_its_page() -> None:
    page = "<a href='/é?q=名'><img src='i?名'><form></form>".encode("gb18030")
    media = media_of(page, "text/html; charset=gbk")
    text, _ = Rewriter(URL, DIGITS).body(page, media)
    assert plain('href="§/http://a.example/%C3%A9?q=%C3%FB"') in text.decode()
    assert plain('src="§im_/http://a.example/d/i?%C3%FB"') in text.decode()
    assert '<form accept-charset="gb18030">' in text.decode()
    document = parse(page.decode("gb18030"))
    assert page_requisites(document, URL, media.charset) == ("http://a.example/d/i?%C3%FB",)


def drawing(body: bytes) -> str:
    text, type_ = Rewriter(URL, DIGITS).body(body, media_of(body, "image/svg+xml"), "im_")
    assert type_ == "image/svg+xml; charset=utf-8"
    return text.decode()


def test_a_drawing_keeps_its_words_in_any_charset() -> None:
    markup = '<svg xmlns="http://www.w3.org/2000/svg"><text>Größe</text></svg>'
    declared = f'<?xml version="1.0" encoding="iso-8859-1"?>{markup}'.encode("latin-1")
    for body in (markup.encode(), declared, markup.encode("utf-16")):
        assert "<text>Größe</text>" in drawing(body)


@pytest.mark.parametrize(("charset", "query"), [("utf-8", "%C3%A9"), ("cp1252", "%E9")])
def test_the_query_of_an_address_is_in_the_charset_of_its_drawing(charset: str, query: str) -> None:
    markup = '<svg xmlns="http://www.w3.org/2000/svg"><feImage href="i?é"/></svg>'
    body = f'<?xml version="1.0" encoding="{charset}"?>{markup}'.encode(charset)
    assert f"/http://a.example/d/i?{query}" in drawing(body)
    assert body_requisites(body, media_of(body, "image/svg+xml"), URL) == (f"http://a.example/d/i?{query}",)


def test_the_style_sheet_of_a_drawing_may_be_a_cdata_section() -> None:
    body = b"<svg><style>a > b {}<![CDATA[ @import 'c.css'; d > e { fill: red } ]]></style></svg>"
    kept = plain('<style>a &gt; b {} @import "§/http://a.example/d/c.css"; d &gt; e { fill: red } </style>')
    assert kept in drawing(body)
    media = media_of(body, "image/svg+xml")
    assert body_requisites(body, media, URL) == ("http://a.example/d/c.css",)


def test_a_drawing_may_declare_its_namespaces_as_entities() -> None:
    names = "<!ENTITY svg \"http://www.w3.org/2000/svg\">\n<!ENTITY xlink 'http://www.w3.org/1999/xlink'>"
    root = '<svg xmlns="&svg;" xmlns:xlink="&xlink;">'
    body = (
        f"<?xml version='1.0'?><!-- x -->\n<!DOCTYPE svg PUBLIC '-//W3C' 'x.dtd' [\n{names}\n]>{root}</svg>"
    )
    assert 'xmlns:xlink="http://www.w3.org/1999/xlink"' in drawing(body.encode())


def test_a_drawing_may_refer_to_its_entities_often() -> None:
    drawn = "<g fill='&c;'/>" * 3000
    body = f'<!DOCTYPE svg [<!ENTITY c "#0a0">]><svg>{drawn}</svg>'
    assert drawing(body.encode()).count("#0a0") == 3000


def test_the_addresses_of_a_drawing_may_have_any_prefix() -> None:
    root = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xl="http://www.w3.org/1999/xlink">'
    body = f'{root}<a xl:href="b"><image xl:href="i.png"/></a></svg>'.encode()
    found = drawing(body)
    assert (
        plain('<a xmlns:xlink="http://www.w3.org/1999/xlink" xlink:href="§/http://a.example/d/b">') in found
    )
    assert plain('xlink:href="§im_/http://a.example/d/i.png"') in found
    assert "xl:href=" not in found.replace("xmlns:xl", "")
    media = media_of(body, "image/svg+xml")
    assert body_requisites(body, media, URL) == ("http://a.example/d/i.png",)
