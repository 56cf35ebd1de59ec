"""The charset of a text: by its bytes, its header, its own declaration, or else by detection."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable
from functools import lru_cache

from turbohtml import parse
from turbohtml.detect import detect
from w3lib.encoding import read_bom, resolve_encoding

WESTERN = "cp1252"  # windows-1252, the default of the HTML standard

# Bytes at the start of a body that are examined. This takes 10 ms, in which a crawl stands still.
SEEN = 1 << 20

# Bytes at the start of a page in which the HTML standard looks for a META before it parses, and bytes in
# which a META counts that the parser finds; real pages have styles and scripts before it.
PRESCANNED, DECLARING = 1024, 1 << 16

# A text without a declaration is read in a charset other than windows-1252 only if at least this many bytes,
# and at least one in this many, are not ASCII: a copyright sign alone proves little. In
# benchmarks/charsets.py 6 of the 1,430 Western pages of articles-dev, forms-dev and wcxb-dev are read
# wrongly, and 2 of 134 others; without this condition it is 82 and 2, at one in 1000 it is 13 and 2, at one
# in 250 it is 3 and 9.
LEAST, RARE = 4, 500
SAMPLE = 1 << 16  # bytes of words outside ASCII, from which the charset is detected

Declaration = Callable[[bytes], str]

_NOT_ASCII = bytes(range(0x80, 0x100))
# Bytes that separate words in any charset: none of them is a later byte of a character.
_TO_WORDS = bytes(byte if 0x30 <= byte <= 0x39 or byte >= 0x40 else 0x20 for byte in range(0x100))
_ISO_2022_JP = re.compile(rb"\x1b(?:\$[@B]|\([IJ])")
# The beginning of a tag in two bytes a character, without a byte-order mark.
_LITTLE = re.compile(rb"(?:\s\0)*<\0[!?/a-zA-Z]\0")
_BIG = re.compile(rb"(?:\0\s)*\0<\0[!?/a-zA-Z]")
_XML = re.compile(rb"\s*<\?xml\s[^>]*?\bencoding\s*=\s*[\"']([^\"'>]*)", re.IGNORECASE)
_CHARSET = re.compile(rb"charset", re.IGNORECASE)

# turbohtml does not distinguish declared charsets from guessed ones. After a head in ASCII without a
# declaration the charset can only be ISO-2022-JP; after any other head it does not count.
_PROBE = b"\x1b$B!!\x1b(B"
_UNDECLARED = "ISO-2022-JP"
_TO_ASCII = bytes(range(0x1B)) + b" " + bytes(range(0x1C, 0x80)) + b"?" * 0x80

# The codecs of Python for charsets of the standard for which w3lib has none. A page in x-user-defined is
# read as windows-1252, as the standard does if a META says so.
_CODECS = {"x-mac-cyrillic": "mac-cyrillic", "ISO-8859-8-I": "iso8859-8", "x-user-defined": WESTERN}

# The labels of the standard for codecs whose names are none.
_LABELS = {
    "big5hkscs": "big5",
    "cp874": "windows-874",
    "cp932": "shift_jis",
    "cp949": "euc-kr",
    "euc_jp": "euc-jp",
    "iso2022_jp": "iso-2022-jp",
    "iso8859-16": "iso-8859-16",
    "mac-cyrillic": "x-mac-cyrillic",
    "mac-roman": "macintosh",
    "utf-16-be": "utf-16be",
    "utf-16-le": "utf-16le",
}

# Codecs that look for a mark, or write one, and those that do not.
_UNMARKED = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}

# Python also knows codecs that are no charset of a text: base64 and idna raise on some bytes,
# unicode-escape and utf-7 give halves of characters, which cannot be written again.
_STRANGE = b"+2AA-\\ud800\xff"


def charset_of(
    body: bytes, label: str = "", declarations: Iterable[Declaration] = (), *, saved: bool = False
) -> str:
    """Return the Python codec that reads a text.

    The order is: a byte-order mark, or tags with two bytes per character; the ``label`` of the header; the
    first of ``declarations`` that finds a charset in the text; UTF-8 if the text is valid; detection;
    windows-1252. A ``saved`` file is UTF-8 if it is valid and not ASCII, whatever it declares: tools that
    save pages write UTF-8 and leave the META unchanged. Only the first MiB counts.

    Source: HTML, 13.2.3.2 "Determining the character encoding". Unlike the standard, UTF-32 is read if it has
    a byte-order mark, and a label of UTF-16 is ignored if the text is in single bytes.

    >>> charset_of("é".encode()), charset_of(b"\\xe9"), charset_of(b"", "gb2312")
    ('utf-8', 'cp1252', 'gb18030')
    >>> charset_of("\\ufeff<p>".encode("utf-16-le"), "utf-8"), charset_of(b"<p>", "utf-16")
    ('utf-16-le', 'utf-8')
    >>> page = '<meta charset="windows-1251">поиск'
    >>> charset_of(page.encode(), "", [meta]), charset_of(page.encode(), "", [meta], saved=True)
    ('cp1251', 'utf-8')
    >>> charset_of("Поиск по сайту".encode("koi8-r"))
    'koi8-u'
    """
    seen = body[:SEEN]
    if found := read_bom(seen)[0] or wide_charset(body, label):
        return found
    if (name := codec(label)) and not is_wide(name):
        return name
    utf8 = _is_utf8(seen)
    if saved and utf8 and not seen.isascii():
        return "utf-8"
    for declared in declarations:
        if (name := codec(declared(seen))) and not is_wide(name):
            return name
    if _ISO_2022_JP.search(seen) and seen.isascii():
        return "iso2022_jp"
    return "utf-8" if utf8 else _likely(seen)


def wide_charset(body: bytes, label: str = "") -> str:
    """Return the codec of a text with two or four bytes per character, "" for any other text.

    >>> wide_charset("<p>".encode("utf-16-be")), wide_charset(b"<p>", "utf-16")
    ('utf-16-be', '')
    """
    seen = body[:SEEN]
    if mark := read_bom(seen)[0]:
        return mark if is_wide(mark) else ""
    if _LITTLE.match(seen):
        return "utf-16-le"
    if _BIG.match(seen):
        return "utf-16-be"
    name = codec(label)
    return name if is_wide(name) and b"\0" in seen else ""


def is_wide(charset: str) -> bool:
    """Return whether a charset has two or four bytes per character, so that ASCII is not one byte."""
    return charset.startswith(("utf-16", "utf-32"))


@lru_cache(maxsize=256)
def codec(label: str) -> str:
    """Return the Python codec for a label, "" if there is none that reads and writes any text.

    Labels of the Encoding standard, section 4.2, come first, then labels of Python.

    >>> codec("Latin1"), codec("x-gbk"), codec("cp437"), codec("utf-7"), codec("base64")
    ('cp1252', 'gb18030', 'cp437', '', '')
    """
    label = label.strip()
    if not (label and label.isascii() and label.isprintable()):
        return ""
    try:
        standard = parse(b"", encoding=label).encoding or ""
    except LookupError:
        standard = ""
    name = _CODECS.get(standard) or resolve_encoding(standard) or resolve_encoding(label) or ""
    try:
        _STRANGE.decode(name, "replace").encode()
    except (LookupError, UnicodeError):
        return ""
    return _UNMARKED.get(name, name)


def label_of(charset: str) -> str:
    """Return the label by which browsers know a codec.

    >>> label_of("cp932"), label_of("cp1251")
    ('shift_jis', 'cp1251')
    """
    return _LABELS.get(charset, charset)


def name_of(charset: str) -> str:
    """Return the name of a codec in the Encoding standard, for others the name of the codec.

    >>> name_of("cp932"), name_of("cp1252"), name_of("cp437")
    ('Shift_JIS', 'windows-1252', 'cp437')
    """
    try:
        return parse(b"", encoding=label_of(charset)).encoding or charset
    except LookupError:
        return charset


def meta(body: bytes) -> str:
    """Return the charset that a page declares by META, "" if it does not.

    Source: HTML, "prescan a byte stream to determine its encoding" and "changing the encoding while parsing".

    >>> meta(b"<!-- <meta charset=big5> --><meta charset=gbk>"), meta(b"<p title='<meta charset=gbk>'>")
    ('GBK', '')
    >>> meta(b"<script>" + b" " * 2000 + b"</script><meta charset=utf-16>")
    'UTF-8'
    """
    if not _CHARSET.search(body, 0, DECLARING):
        return ""
    head = body[:DECLARING].translate(_TO_ASCII)
    found = detect(head[:PRESCANNED] + _PROBE).encoding
    cut = max(head.rfind(b"<", 0, PRESCANNED), 0)  # the tag at the end of what is prescanned may go on
    if found == _UNDECLARED and _CHARSET.search(head, cut):
        found = parse(head + _PROBE, detect_encoding=True, positions=False).encoding
    return "" if found is None or found == _UNDECLARED else found


def xml_declaration(body: bytes) -> str:
    """Return the charset that the XML declaration of a body names, "" if there is none.

    >>> xml_declaration(b"<?xml version='1.0' encoding='koi8-r'?>"), xml_declaration(b"<p><?xml encoding='a'")
    ('koi8-r', '')
    """
    found = _XML.match(body, 0, PRESCANNED)
    return found[1].decode("latin-1") if found else ""


def _is_utf8(seen: bytes) -> bool:
    """Return whether a text is UTF-8; the last character may be cut, unless it is the only one."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(seen)
    except UnicodeDecodeError:
        return False
    return seen.isascii() or not text.isascii()


def _likely(seen: bytes) -> str:
    """Return the detected charset of a text, windows-1252 if there is little outside ASCII."""
    count = len(seen) - len(seen.translate(None, _NOT_ASCII))
    if count < LEAST or count * RARE < len(seen):
        return WESTERN
    # A space before the words: no byte-order mark stands at the beginning.
    words = b" " + b" ".join(word for word in seen.translate(_TO_WORDS).split() if not word.isascii())
    sample = words if len(words) <= SAMPLE else words[:SAMPLE].rpartition(b" ")[0] or words
    return codec(detect(sample).encoding or "") or WESTERN
