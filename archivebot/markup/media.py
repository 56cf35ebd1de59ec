"""The media kind of a body (a page, another XML document, a text, no text) and its charset.

Crawls, ingests, segmentation, topics, forms and commands all use this module.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from dataclasses import dataclass, replace

from archivebot.markup.charset import WESTERN, Declaration, charset_of, meta, wide_charset, xml_declaration
from archivebot.markup.contenttype import parse
from archivebot.markup.formats import HEAD, READABLE, ROOTS, Format, MediaKind, format_of, kind_of

HTML = Format("text/html", MediaKind.PAGE, "an HTML page")
XHTML = Format("application/xhtml+xml", MediaKind.PAGE, "an XHTML page")
XML = Format("application/xml", MediaKind.XML, "an XML document")
TEXT = Format("text/plain", MediaKind.TEXT, "a text")

# Types without information: no header, and the types that servers send for files of unknown type.
_NOTHING = ("", "application/octet-stream", "binary/octet-stream")
_HTML_TYPES = ("text/html", XHTML.type, "application/vnd.wap.xhtml+xml")
_XML_TYPE = re.compile(r"(?:text|application)/xml|.*\+xml")
_PROGRAM_TYPE = re.compile(r"text/css|(?:text|application)/(?:(?:x-)?(?:java|ecma)script|(?:.*\+|x-)?json)")

# The first element or document type, after white space, comments and processing instructions.
_FIRST = re.compile(
    rb"(?>\s|<\?.*?\?>|<!--.*?-->)*+<(?:!doctype\s+)?([a-z][\w:.-]*)", re.IGNORECASE | re.DOTALL
)
_PAGE_ROOTS = ("html", "head", "body")
# Markup that occurs in no other text, for a text that does not begin with a tag.
_INSIDE = re.compile(
    rb"<(?:!--|(?:!doctype|html|head|title|body|h[1-6]|p|div|a|b|i|br|table|ul|ol|li)[\s>])", re.IGNORECASE
)
# MIME Sniffing, section 3, "binary data byte"
_BINARY = re.compile(rb"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f]")


@dataclass(frozen=True, slots=True)
class Media:
    """The media of a body: MIME type, media kind, name in words, and the Python codec of its text.

    The codec of a body without text decodes any bytes, but the result is not a text.
    """

    type: str
    kind: MediaKind
    name: str
    charset: str = WESTERN

    @property
    def is_page(self) -> bool:
        """Whether the body is a page, with links, forms and main text."""
        return self.kind is MediaKind.PAGE

    @property
    def is_markup(self) -> bool:
        """Whether the body consists of elements, so that it is cut into blocks."""
        return self.kind in (MediaKind.PAGE, MediaKind.XML)

    @property
    def is_prose(self) -> bool:
        """Whether the body is for people, so that a topic judges it."""
        return self.kind in (MediaKind.PAGE, MediaKind.TEXT) or self.is_document

    @property
    def is_text(self) -> bool:
        """Whether the body has a text of any kind."""
        return self.is_markup or self.kind in (MediaKind.TEXT, MediaKind.DATA)

    @property
    def is_document(self) -> bool:
        """Whether the body is a document whose text can be read, such as a PDF."""
        return self.type in READABLE

    @property
    def header(self) -> str:
        """The Content-Type header for the body."""
        return f"{self.type}; charset={self.charset}"

    @property
    def without_text(self) -> str | None:
        """The name of a body without text, else None."""
        return None if self.is_text else self.name


def media_of(body: bytes, content_type: str = "", *, saved: bool = False) -> Media:
    """Return the media of a body, by its first bytes and the values of its Content-Type headers.

    Source: MIME Sniffing, section 7. An archive runs no script of a page, so it trusts the bytes more often
    than a browser does. Known formats without text override the header. A body that begins with a tag is
    markup unless the header names a text. ``application/octet-stream`` counts as no header. XML with the root
    ``html`` is a page. ``nosniff`` is ignored. For a file that was ``saved`` see
    :func:`~archivebot.markup.charset.charset_of`.

    >>> media_of(b"<p>x").kind.value, media_of(b"<p>x", "text/plain").kind.value
    ('page', 'text')
    >>> media_of(b"\\x89PNG\\r\\n", "text/html").name, media_of(b"\\1\\2", "x/y; z").name
    ('a PNG picture', 'x/y data')
    >>> media_of(b"<?xml version='1.0'?><feed>", "text/xml").type
    'application/atom+xml'
    """
    declared = parse(content_type)
    if known := format_of(body):
        return Media(known.type, known.kind, known.name)
    wide = wide_charset(body, declared.charset)
    # In a wide charset a character takes two or four bytes.
    head = body[: 4 * HEAD].translate(None, b"\0\xfe\xff") if wide else body[:HEAD].removeprefix(BOM_UTF8)
    found = _format(head, declared.type, wide=bool(wide))
    media = Media(found.type, found.kind, found.name)
    if not media.is_text:
        return media
    charset = wide or charset_of(body, declared.charset, _declarations(found), saved=saved)
    return replace(media, charset=charset)


def declared_kind(declared: str) -> MediaKind | None:
    """Return the media kind that a MIME type promises, or None if only the body shows it.

    >>> declared_kind("text/html").value, declared_kind("text/csv").value, declared_kind("image/png").value
    ('page', 'text', 'image')
    >>> [declared_kind(each) for each in ("", "application/octet-stream", "text/xml", "x/y")]
    [None, None, None, None]
    """
    if declared in _HTML_TYPES:
        return MediaKind.PAGE
    if declared in _NOTHING or _XML_TYPE.fullmatch(declared):
        return None
    if _PROGRAM_TYPE.fullmatch(declared):
        return MediaKind.DATA
    kind = MediaKind.TEXT if declared.startswith("text/") else kind_of(declared)
    return None if kind is MediaKind.BINARY else kind


def _format(head: bytes, declared: str, *, wide: bool) -> Format:
    """Return the format of a body without known first bytes, by its type and its content."""
    start = head.lstrip()
    if declared in _HTML_TYPES:
        return replace(HTML, type=declared)
    if not (wide or start.startswith(b"<")) and _BINARY.search(head):
        type_ = declared or "application/octet-stream"
        return Format(type_, kind_of(declared), f"{declared or 'binary'} data")
    is_xml, is_program = bool(_XML_TYPE.fullmatch(declared)), bool(_PROGRAM_TYPE.fullmatch(declared))
    is_text = declared.startswith("text/") and not (is_xml or is_program)
    if not (is_text or is_program) and (markup := _markup(start, declared if is_xml else "")):
        return markup
    if declared in _NOTHING:
        return HTML if _INSIDE.search(head) else TEXT
    return replace(TEXT, type=declared) if is_text else Format(declared, MediaKind.DATA, f"{declared} data")


def _markup(start: bytes, xml_type: str) -> Format | None:
    """Return the format of a body that begins with a tag or is XML by its type, None for any other."""
    first = _FIRST.match(start)
    root = first[1].decode().lower() if first else ""
    if root in ROOTS:
        return ROOTS[root]
    if xml_type or start.startswith(b"<?xml"):
        return XHTML if root in _PAGE_ROOTS else replace(XML, type=xml_type or XML.type)
    return HTML if root or start.startswith(b"<!--") else None


def _declarations(found: Format) -> tuple[Declaration, ...]:
    """Return the declarations of a charset to try, in order: a page in XML is XML first."""
    if found.kind is MediaKind.PAGE:
        return (xml_declaration, meta) if _XML_TYPE.fullmatch(found.type) else (meta, xml_declaration)
    return (xml_declaration,) if found.kind is MediaKind.XML else ()
