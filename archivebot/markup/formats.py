"""The media kinds of bodies, and the formats with known first bytes."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from enum import StrEnum

# Bytes at the start of a body that decide its format (MIME Sniffing, section 5.2).
HEAD = 1445


class MediaKind(StrEnum):
    """The media kind of a body, which decides how it is read."""

    PAGE = "page"  # HTML: links, forms, main text, blocks
    XML = "xml"  # feeds, sitemaps and the like: blocks
    TEXT = "text"  # a text for readers
    DATA = "data"  # a text for programs, or a text with the header of another type
    DOCUMENT = "document"
    IMAGE = "image"
    SOUND = "sound"
    VIDEO = "video"
    ARCHIVE = "archive"
    FONT = "font"
    BINARY = "binary"  # anything else without text


@dataclass(frozen=True, slots=True)
class Format:
    """A format: its MIME type, its media kind, and its name in words."""

    type: str
    kind: MediaKind
    name: str


_ODF, _OOXML = "application/vnd.oasis.opendocument.", "application/vnd.openxmlformats-officedocument."
_ODF_START = rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis\.opendocument\."

# MIME type, name, and a pattern without groups that the first bytes match: those of MIME Sniffing, sections
# 6 and 7.1, and of the documents of the formats. The first that matches decides.
_BINARY = {
    MediaKind.DOCUMENT: [
        ("application/pdf", "a PDF document", rb"\s*%PDF-"),
        ("application/postscript", "a PostScript document", rb"%!PS-Adobe-"),
        ("application/rtf", "an RTF document", rb"\{\\rtf"),
        ("application/epub+zip", "an EPUB book", rb"PK\x03\x04.{26}mimetypeapplication/epub\+zip"),
        ("application/x-ole-storage", "an old office document", rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        (f"{_ODF}text", "an OpenDocument text", _ODF_START + rb"text"),
        (f"{_ODF}spreadsheet", "an OpenDocument spreadsheet", _ODF_START + rb"spreadsheet"),
        (f"{_ODF}presentation", "an OpenDocument presentation", _ODF_START + rb"presentation"),
    ],
    MediaKind.IMAGE: [
        ("image/gif", "a GIF picture", rb"GIF8"),
        ("image/png", "a PNG picture", rb"\x89PNG"),
        ("image/jpeg", "a JPEG picture", rb"\xff\xd8\xff"),
        ("image/webp", "a WebP picture", rb"RIFF.{4}WEBP"),
        ("image/bmp", "a BMP picture", rb"BM.{4}\x00{4}"),
        ("image/tiff", "a TIFF picture", rb"II\*\x00|MM\x00\*"),
        ("image/x-icon", "an icon", rb"\x00\x00[\x01\x02]\x00"),
        ("image/avif", "an AVIF picture", rb".{4}ftypavi[fs]"),
        ("image/heic", "a HEIC picture", rb".{4}ftyp(?:hei[cx]|mif1|msf1)"),
    ],
    MediaKind.SOUND: [
        ("audio/wave", "WAVE sound", rb"RIFF.{4}WAVE"),
        ("audio/mpeg", "MP3 sound", rb"ID3"),
        ("audio/flac", "FLAC sound", rb"fLaC"),
        ("audio/midi", "MIDI music", rb"MThd\x00\x00\x00\x06"),
        ("audio/aiff", "AIFF sound", rb"FORM.{4}AIFF"),
        ("audio/basic", "AU sound", rb"\.snd\x00"),
        ("audio/mp4", "MP4 sound", rb".{4}ftypM4A"),
    ],
    MediaKind.VIDEO: [
        ("video/avi", "an AVI video", rb"RIFF.{4}AVI "),
        ("video/mp4", "an MP4 video", rb".{4}ftyp"),
        ("video/webm", "a Matroska or WebM video", rb"\x1a\x45\xdf\xa3"),
        ("video/x-flv", "a Flash video", rb"FLV\x01"),
        ("application/ogg", "Ogg sound or video", rb"OggS"),
        ("application/x-riff", "RIFF sound, video or picture", rb"RIFF"),
    ],
    MediaKind.ARCHIVE: [
        ("application/zip", "a ZIP archive", rb"PK\x03\x04"),
        ("application/gzip", "gzip data", rb"\x1f\x8b"),
        ("application/zstd", "zstd data", rb"\x28\xb5\x2f\xfd"),
        ("application/x-bzip2", "bzip2 data", rb"BZh[1-9]1AY&SY"),
        ("application/x-xz", "xz data", rb"\xfd7zXZ\x00"),
        ("application/x-rar-compressed", "a RAR archive", rb"Rar!\x1a\x07"),
        ("application/x-7z-compressed", "a 7z archive", rb"7z\xbc\xaf\x27\x1c"),
        ("application/x-tar", "a TAR archive", rb".{257}ustar"),
    ],
    MediaKind.FONT: [("font/ttf", "a font", rb"wOF[F2]|OTTO\x00|ttcf\x00|\x00\x01\x00\x00\x00")],
    MediaKind.BINARY: [
        ("application/wasm", "WebAssembly", rb"\x00asm"),
        ("application/x-shockwave-flash", "a Flash program", rb"[CFZ]WS[\x01-\x3f]"),
        ("application/vnd.sqlite3", "an SQLite database", rb"SQLite format 3\x00"),
    ],
}
_ROWS = [(Format(type_, kind, name), start) for kind, rows in _BINARY.items() for type_, name, start in rows]
_STARTS = re.compile(b"|".join(b"(%b)" % start for _, start in _ROWS), re.DOTALL)

# The formats of Office Open XML, each a ZIP archive, by the file that each of them holds.
_OFFICE = {
    b"word/document.xml": Format(f"{_OOXML}wordprocessingml.document", MediaKind.DOCUMENT, "a Word document"),
    b"xl/workbook.xml": Format(f"{_OOXML}spreadsheetml.sheet", MediaKind.DOCUMENT, "an Excel workbook"),
    b"ppt/presentation.xml": Format(
        f"{_OOXML}presentationml.presentation", MediaKind.DOCUMENT, "a PowerPoint presentation"
    ),
}

# The end of a ZIP archive: the size and the place of the list of its files (APPNOTE, section 4.3.16), and the
# maximum of bytes from there to the end of the archive.
_ZIP_END = struct.Struct("<4s8xLL2x")
_MOST_ZIP_END = _ZIP_END.size + 0xFFFF

# The MIME types of the documents whose text can be read.
READABLE = frozenset(
    {
        *("application/pdf", "application/rtf"),
        *(f"{_ODF}{each}" for each in ("text", "spreadsheet", "presentation")),
        *(each.type for each in _OFFICE.values()),
    }
)

# The formats of XML by their root elements.
ROOTS = {
    "rss": Format("application/rss+xml", MediaKind.XML, "an RSS feed"),
    "rdf:rdf": Format("application/rdf+xml", MediaKind.XML, "an RDF document or RSS feed"),
    "feed": Format("application/atom+xml", MediaKind.XML, "an Atom feed"),
    "opml": Format("text/x-opml", MediaKind.XML, "an OPML list of feeds"),
    "urlset": Format("application/xml", MediaKind.XML, "a sitemap"),
    "sitemapindex": Format("application/xml", MediaKind.XML, "a list of sitemaps"),
    "svg": Format("image/svg+xml", MediaKind.IMAGE, "an SVG picture"),
}


def format_of(body: bytes) -> Format | None:
    """Return the format without markup of a body, by its first bytes; None if it is another one.

    A ZIP archive may be an office document, which its list of files shows.

    >>> format_of(b"RIFF\\x24\\0\\0\\0WEBPVP8 ").name, format_of(b"<p>")
    ('a WebP picture', None)
    """
    found = _STARTS.match(body, 0, HEAD)
    if not (found and found.lastindex):
        return None
    known = _ROWS[found.lastindex - 1][0]
    return (_office_format(body) or known) if known.type == "application/zip" else known


def _office_format(body: bytes) -> Format | None:
    end = body.rfind(b"PK\5\6", -_MOST_ZIP_END)
    if end < 0 or len(body) < end + _ZIP_END.size:
        return None
    _, size, start = _ZIP_END.unpack_from(body, end)
    files = body[start : start + size]
    return next((found for name, found in _OFFICE.items() if name in files), None)


def kind_of(type_: str) -> MediaKind:
    """Return the kind of a format without text by its MIME type alone.

    >>> kind_of("image/x-pcx"), kind_of("application/pdf"), kind_of("x/y")
    (<MediaKind.IMAGE: 'image'>, <MediaKind.DOCUMENT: 'document'>, <MediaKind.BINARY: 'binary'>)
    """
    top = {
        "image": MediaKind.IMAGE,
        "audio": MediaKind.SOUND,
        "video": MediaKind.VIDEO,
        "font": MediaKind.FONT,
    }
    known = {each.type: each.kind for each in (*(row for row, _ in _ROWS), *_OFFICE.values())}
    return known.get(type_) or top.get(type_.partition("/")[0], MediaKind.BINARY)
