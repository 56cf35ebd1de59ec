"""The charset of a body, for reading its text, and whether a body is markup at all."""

from __future__ import annotations

from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
)

from archivebot.markup.media import BINARY

MARKUP_TYPES = ("text/html", "application/xhtml+xml", "application/xml", "text/xml", "application/rss+xml")


def charset_of(body: bytes, content_type: str = "") -> str:
    """Name the Python codec that reads a body: byte-order mark, header, META, UTF-8, windows-1252.

    >>> charset_of("é".encode()), charset_of(b"\\xe9"), charset_of(b"", "text/html; charset=gb2312")
    ('utf-8', 'cp1252', 'gb18030')
    >>> charset_of("\\ufeff<p>".encode("utf-16-le"))
    'utf-16-le'
    """
    declared = (
        read_bom(body)[0] or http_content_type_encoding(content_type) or html_body_declared_encoding(body)
    )
    if declared and _known(declared) and (not declared.startswith("utf-16") or _two_bytes(body)):
        return declared
    if _two_bytes(body):
        return "utf-16-be" if body[:1] == b"\0" else "utf-16-le"
    try:
        body.decode("utf-8")
    except UnicodeDecodeError:
        return resolve_encoding("windows-1252") or "cp1252"
    return "utf-8"


# Python also knows codecs that are no charset of a text: base64 and idna raise on some bytes,
# unicode-escape and utf-7 give halves of characters, which cannot be written again.
PROBE = b"+2AA-\\ud800\xff"


def _known(name: str) -> bool:
    try:
        PROBE.decode(name, "replace").encode()
    except (LookupError, UnicodeError):
        return False
    return True


def _two_bytes(body: bytes) -> bool:
    start = body[:2]
    return start in (b"\xff\xfe", b"\xfe\xff", b"<\0", b"\0<")


def is_markup(body: bytes, content_type: str, charset: str) -> bool:
    """Return whether a body is worth reading as HTML: by its type, else by its first bytes.

    >>> is_markup(b"<p>x", "", "utf-8"), is_markup(b"<p>x", "text/plain", "utf-8")
    (True, False)
    >>> is_markup(b"%PDF-1.4 <a>", "", "utf-8"), is_markup(b"GIF89a<p>", "text/html", "utf-8")
    (False, False)
    """
    kind = content_type.partition(";")[0].strip().lower()
    if kind and kind not in MARKUP_TYPES and not kind.endswith("+xml"):
        return False
    start = body[:1024].replace(b"\0", b"") if charset.startswith("utf-16") else body[:1024]
    if start.lstrip(b"\xef\xbb\xbf \t\r\n\0").startswith(b"<"):
        return True
    return not start.startswith(BINARY) and (bool(kind) or (b"<" in start and b"\0" not in start))
