"""Bodies of every kind, with their headers and what they are: one line for each rule and each trap."""

from __future__ import annotations

import codecs
import gzip
import io
import zipfile
from dataclasses import dataclass

DE, RU, JA, ZH = "Grüße aus Österreich", "Поиск в библиотеке", "図書館の検索", "图书馆搜索"

_PAGE = """{head}<title>{word}</title><div><h1>{word}</h1><p>{word} {word}</p></div>
<div><form action=/find>Search: <input name=q><button>Search</button></form></div>
<p><a href="/next">{word}</a></p>"""
_XML = """<{root}><channel><title>{word}</title><item><description>{word}</description></item>
<description>{word}</description><item><description>{word}</description></item></channel></{root}>"""


@dataclass(frozen=True)
class Case:
    """A body with its Content-Type headers, and what it is; ``word`` stands in what has a text."""

    name: str
    body: bytes
    headers: tuple[str, ...]
    kind: str
    charset: str = "cp1252"
    type: str = ""
    word: str = DE

    @property
    def header(self) -> str:
        return ", ".join(self.headers)


def page(word: str = DE, head: str = "<!doctype html>", charset: str = "utf-8") -> bytes:
    return _PAGE.format(head=head, word=word).encode(charset)


def xml(root: str, head: str = "<?xml version='1.0'?>", charset: str = "utf-8") -> bytes:
    return (head + _XML.format(root=root, word=DE)).encode(charset)


def html(name: str, body: bytes, header: str = "text/html", charset: str = "utf-8", word: str = DE) -> Case:
    return Case(name, body, (header,) if header else (), "page", charset, word=word)


def meta(
    name: str, head: str, written: str = "koi8-r", charset: str = "koi8-r", header: str = "text/html"
) -> Case:
    return html(f"charset: {name}", page(RU, head, written), header, charset, RU)


def _zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("page.html", page())
    return file.getvalue()


_UTF8, _UTF16 = "utf-8", "utf-16-le"
_NOTES = f"{DE}. Sie fahren das ganze Jahr: 3 < 4.\n"
_RUSSIAN = f"{RU}: {RU}.\n"
_PNG, _PDF = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", b"%PDF-1.4\n1 0 obj <</Title (A)>> <p>\n\x80\x81\0\1"
_CSV, _JSON = f'town,"{DE}"\r\n'.encode(), f'{{"town": "{DE}"}}'.encode()
_RANDOM = b"\1\2\3 <p>a</p> \0\xff\x10"

PAGES = [
    html("html", page()),
    html("html in capitals", page(), "TEXT/HTML; Charset=UTF-8"),
    html("html without a header", page(), ""),
    html("html of any type", page(), "*/*"),
    html("html of an unknown type", page(), "unknown/unknown"),
    html("html of an application unknown", page(), "application/unknown"),
    html("html of a type that is none", page(), "html"),
    html("html as octet-stream", page(), "application/octet-stream"),
    html("html as binary octet-stream", page(), "binary/octet-stream"),
    html("html as application/xml", page(head="<!doctype html><html>"), "application/xml"),
    html("html as text/xml", page(head="<html>"), "text/xml"),
    html("html for a feed", page(head="<!DOCTYPE HTML PUBLIC ''><html>"), "application/rss+xml"),
    html("html for a picture", page(), "image/png"),
    html("html for a PDF", page(), "application/pdf"),
    html("html for a spreadsheet", page(head="<html>"), "application/vnd.ms-excel"),
    html("xhtml", page(head="<?xml version='1.0'?><html>"), "application/xhtml+xml"),
    html("xhtml without a declaration", page(head="<html>"), "application/xhtml+xml"),
    html("xhtml as xml", page(head="<?xml version='1.0'?><!-- a --><html>"), "application/xml"),
    html("xhtml without a header", page(head="<?xml version='1.0'?>\n<!DOCTYPE html><html>"), ""),
    html("mobile xhtml", page(head="<html>"), "application/vnd.wap.xhtml+xml"),
    html("a comment without a header", page(head="<!-- a -->"), ""),
    html("a list without a header", page(head="\n\t <ul><li>a</ul>"), ""),
    html("words before tags without a header", page(head="Welcome <p>"), ""),
    html("a comment behind words without a header", page(head=f"31e6\r\n<!-- {' ' * 2000} --><html>"), ""),
    html("a mark without a header", codecs.BOM_UTF8 + page(), ""),
    html("words as html", page(head="Welcome"), "text/html"),
    html("controls in html", page(head="\1\2"), "text/html"),
    html("a feed as html", xml("rss").replace(b"</rss>", page()), "text/html"),
    Case("two headers", page(), ("text/plain", "text/html"), "page", _UTF8),
    Case(
        "two headers that agree", page(charset="cp1252"), ("text/html; charset=latin1", "text/html"), "page"
    ),
    Case("a header without a type beside one", page(), ("text/html", "*/*"), "page", _UTF8),
]
CHARSETS = [
    meta("meta", "<meta charset=koi8-r>"),
    meta("meta http-equiv", "<META CONTENT='text/html; CHARSET=koi8-r' HTTP-EQUIV=content-type>"),
    meta("header before meta", "<meta charset=utf-8>", header="text/html; charset=koi8-r"),
    meta("header in quotes", "<p>", header='text/html; a=";charset=big5"; charset="koi8-r"'),
    meta("header of nonsense", "<meta charset=koi8-r>", header="text/html; charset=nonsense"),
    meta("header of base64", "<meta charset=koi8-r>", header="text/html; charset=base64"),
    meta("header of utf-16 for single bytes", "<meta charset=koi8-r>", header="text/html; charset=utf-16"),
    meta("mark before header", "\ufeff", "utf-8", _UTF8, "text/html; charset=koi8-r"),
    meta("meta after a meta in a comment", "<!-- <meta charset=big5> --><meta charset=koi8-r>"),
    meta("meta after one of nonsense", "<meta charset=klingon><meta charset=koi8-r>"),
    meta("the first of two", "<meta charset=koi8-r><meta charset=windows-1251>"),
    meta("meta in an attribute", "<p title='<meta charset=big5>'>", "cp1251", "cp1251"),
    meta("meta without http-equiv", "<meta content='text/html; charset=big5'>", "cp1251", "cp1251"),
    meta("meta in a script", "<script>'<meta charset=koi8-r>'</script>"),
    meta("meta behind a long script", f"<script>{' ' * 2000}</script><meta charset=koi8-r>"),
    meta("meta behind a long style", f"<style>{' ' * 9000}</style><meta charset=koi8-r>"),
    meta("meta in the body", "<body><p>x</p><meta charset=koi8-r>"),
    meta("meta of utf-16", "<meta charset=utf-16>", "utf-8", _UTF8),
    meta("meta of a label of old", "<meta charset=x-cp1251>", "cp1251", "cp1251"),
    meta("meta of Windows for Macs", "<meta charset=x-mac-cyrillic>", "mac-cyrillic", "mac-cyrillic"),
    meta("meta of DOS", "<meta charset=cp866>", "cp866", "cp866"),
    meta("xml declaration", "<?xml version='1.0' encoding='koi8-r'?><html>"),
    meta("meta before xml declaration in html", "<?xml version='1.0' encoding='big5'?><meta charset=koi8-r>"),
    meta(
        "xml declaration before meta in xhtml",
        "<?xml version='1.0' encoding='koi8-r'?><html><meta charset=big5>",
        header="application/xhtml+xml",
    ),
    meta("none, Russian", "<p>", "cp1251", "cp1251"),
    meta("none, Russian in KOI8", "<p>", "koi8-r", "koi8-u"),
    html("charset: none, Western", page(charset="cp1252"), charset="cp1252"),
    html(
        "charset: none, a copyright sign in English",
        page("Ferries © 1996", charset="latin-1"),
        charset="cp1252",
        word="Ferries © 1996",
    ),
    html("charset: none, Chinese", page(ZH, charset="gb18030"), charset="gb18030", word=ZH),
    html("charset: none, Japanese", page(JA, charset="cp932"), charset="cp932", word=JA),
    html("charset: none, Japanese by mail", page(JA, charset="iso2022_jp"), charset="iso2022_jp", word=JA),
    html(
        "charset: latin-1 is windows-1252",
        page("“Fähre”", charset="cp1252"),
        "text/html; charset=iso-8859-1",
        "cp1252",
        "“Fähre”",
    ),
    html(
        "charset: gb2312 is gb18030",
        page("朱镕基", charset="gb18030"),
        "text/html; charset=gb2312",
        "gb18030",
        "朱镕基",
    ),
    html("charset: utf-8 that is cut", page() + "ß".encode()[:1]),
    html("charset: utf-16 with a mark", codecs.BOM_UTF16_LE + page(charset=_UTF16), charset=_UTF16),
    html("charset: utf-16, big end first", codecs.BOM_UTF16_BE + page(charset="utf-16-be"), "", "utf-16-be"),
    html("charset: utf-16 without a mark", page(charset=_UTF16), "", _UTF16),
    html("charset: utf-16 without a mark, big", page(charset="utf-16-be"), charset="utf-16-be"),
    html(
        "charset: utf-16 by the header",
        page(head="Willkommen <p>", charset=_UTF16),
        "text/html; charset=utf-16",
        _UTF16,
    ),
    html("charset: utf-32 with a mark", codecs.BOM_UTF32_LE + page(charset="utf-32-le"), charset="utf-32-le"),
]
OTHERS = [
    Case("rss", xml("rss"), ("application/rss+xml",), "xml", _UTF8, "application/rss+xml"),
    Case("rss as xml", xml("rss"), ("text/xml",), "xml", _UTF8, "application/rss+xml"),
    Case("rss without a header", xml("rss", ""), (), "xml", _UTF8, "application/rss+xml"),
    Case(
        "rss as octet-stream", xml("rss"), ("application/octet-stream",), "xml", _UTF8, "application/rss+xml"
    ),
    Case("rss 1.0", xml("rdf:RDF"), ("application/xml",), "xml", _UTF8, "application/rdf+xml"),
    Case("atom", xml("feed"), ("application/atom+xml",), "xml", _UTF8, "application/atom+xml"),
    Case("atom as xml", xml("feed"), ("application/xml",), "xml", _UTF8, "application/atom+xml"),
    Case("sitemap", xml("urlset"), ("application/xml",), "xml", _UTF8, "application/xml"),
    Case("svg", xml("svg"), ("image/svg+xml",), "image", type="image/svg+xml"),
    Case("svg as xml", xml("svg"), ("text/xml",), "image", type="image/svg+xml"),
    Case("xml of no name", xml("notes"), ("text/xml",), "xml", _UTF8, "text/xml"),
    Case("xml without a header", xml("notes"), (), "xml", _UTF8, "application/xml"),
    Case(
        "xml with a charset of its own",
        xml("rss", "<?xml version='1.0' encoding='latin1'?>", "cp1252"),
        ("text/xml",),
        "xml",
    ),
    Case(
        "xml in utf-16",
        xml("rss", "\ufeff<?xml version='1.0' encoding='utf-16'?>", _UTF16),
        ("text/xml",),
        "xml",
        _UTF16,
    ),
    Case("text", _NOTES.encode(), ("text/plain",), "text", _UTF8, "text/plain"),
    Case("text without a header", _NOTES.encode(), (), "text", _UTF8, "text/plain"),
    Case("text as octet-stream", _NOTES.encode(), ("application/octet-stream",), "text", _UTF8, "text/plain"),
    Case("html as text", page(), ("text/plain",), "text", _UTF8, "text/plain"),
    Case("html as text in latin-1", page(charset="latin-1"), ("text/plain; charset=ISO-8859-1",), "text"),
    Case("a meta in a text", page(head="<meta charset=big5>"), ("text/plain",), "text", _UTF8),
    Case("Russian text", _RUSSIAN.encode("cp1251"), ("text/plain",), "text", "cp1251", word=RU),
    Case("text in utf-16", codecs.BOM_UTF16_LE + _NOTES.encode(_UTF16), ("text/plain",), "text", _UTF16),
    Case(
        "text in utf-16 by the header",
        _NOTES.encode(_UTF16),
        ("text/plain; charset=utf-16le",),
        "text",
        _UTF16,
    ),
    Case("markdown", b"# " + _NOTES.encode(), ("text/markdown",), "text", _UTF8, "text/markdown"),
    Case("csv", _CSV, ("text/csv",), "text", _UTF8, "text/csv"),
    Case("csv as octet-stream", _CSV, ("application/octet-stream",), "text", _UTF8, "text/plain"),
    Case("json", _JSON, ("application/json",), "data", _UTF8, "application/json"),
    Case("linked data", _JSON, ("application/ld+json",), "data", _UTF8, "application/ld+json"),
    Case("html in json", page(), ("application/json",), "data", _UTF8, "application/json"),
    Case("script", f"var a = '<p>{DE}'".encode(), ("text/javascript",), "data", _UTF8, "text/javascript"),
    Case("style", f"a::after {{content: '{DE}'}}".encode(), ("text/css",), "data", _UTF8, "text/css"),
    Case("a text for a picture", _NOTES.encode(), ("image/png",), "data", _UTF8, "image/png"),
    Case("png", _PNG, ("image/png",), "image", type="image/png"),
    Case("png as html", _PNG + b"<p>", ("text/html",), "image", type="image/png"),
    Case("png as text", _PNG, ("text/plain",), "image", type="image/png"),
    Case("png without a header", _PNG, (), "image", type="image/png"),
    Case("gif as xml", b"GIF89a\1\0\1\0", ("application/xml",), "image", type="image/gif"),
    Case(
        "jpeg as octet-stream",
        b"\xff\xd8\xff\xe0\0\x10JFIF",
        ("application/octet-stream",),
        "image",
        type="image/jpeg",
    ),
    Case("webp", b"RIFF\x24\0\0\0WEBPVP8 ", ("image/webp",), "image", type="image/webp"),
    Case("avif", b"\0\0\0\x20ftypavif\0\0\0\0", ("image/png",), "image", type="image/avif"),
    Case("a picture of no known start", b"\x0a\5\1\1\0\0", ("image/x-pcx",), "image", type="image/x-pcx"),
    Case("icon", b"\0\0\1\0\1\0\x10\x10", ("text/plain",), "image", type="image/x-icon"),
    Case("pdf", _PDF, ("application/pdf",), "document", type="application/pdf"),
    Case("pdf as html", _PDF, ("text/html",), "document", type="application/pdf"),
    Case("pdf as text", _PDF, ("text/plain",), "document", type="application/pdf"),
    Case("pdf behind an empty line", b"\r\n" + _PDF, (), "document", type="application/pdf"),
    Case(
        "rtf as text",
        rb"{\rtf1\ansi Gr\'fc\'dfe}",
        ("text/plain",),
        "document",
        type="application/rtf",
        word="Grüße",
    ),
    Case("word", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1\0\0", ("application/msword",), "document"),
    Case("zip", _zipped(), ("application/zip",), "archive", type="application/zip"),
    Case("zip as octet-stream", _zipped(), ("application/octet-stream",), "archive", type="application/zip"),
    Case("gzip", gzip.compress(page()), ("application/x-gzip",), "archive", type="application/gzip"),
    Case("sitemap in gzip", gzip.compress(xml("urlset")), ("text/xml",), "archive", type="application/gzip"),
    Case("mp3", b"ID3\3\0\0\0\0\0\0", ("audio/mpeg",), "sound", type="audio/mpeg"),
    Case("mp4", b"\0\0\0\x18ftypmp42\0\0\0\0", ("video/mp4",), "video", type="video/mp4"),
    Case("font", b"wOF2\0\1\0\0", ("text/html",), "font"),
    Case("random bytes", _RANDOM, (), "binary", type="application/octet-stream"),
    Case("random bytes as text", _RANDOM, ("text/plain",), "binary", type="text/plain"),
    Case("random bytes as xml", _RANDOM, ("application/xml",), "binary", type="application/xml"),
    Case("random bytes of a type of their own", _RANDOM, ("x/y; z",), "binary", type="x/y"),
]
CASES = PAGES + CHARSETS + OTHERS
