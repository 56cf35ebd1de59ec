"""The Content-Type header: the MIME type of a body, and the label of its charset."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

# Types that servers send for bodies of unknown type (MIME Sniffing, section 7).
UNKNOWN = frozenset(("*/*", "unknown/unknown", "application/unknown"))

_VALUE = re.compile(r'(?:[^,"]|"(?:[^"\\]|\\.)*"?)+')
_TOKEN = r"[-!#$%&'*+.^_`|~0-9A-Za-z]+"
_TYPE = re.compile(rf"\s*({_TOKEN}/{_TOKEN})\s*(?:;|$)")
# A quoted value is taken as a whole, so that no parameter is found inside it.
_PARAMETER = re.compile(r'(?:^|;)\s*([^\s;="]+)=(?:"((?:[^"\\]|\\.)*)"?|([^;]*))')


class ContentType(NamedTuple):
    """A MIME type in lower case without its parameters, and the label of the charset; "" if not given."""

    type: str = ""
    charset: str = ""


def content_type(headers: Iterable[tuple[str, str]]) -> str:
    """Return the values of all Content-Type headers, separated by commas.

    >>> content_type([("content-type", "text/plain"), ("X", "y"), ("Content-Type", "text/html")])
    'text/plain, text/html'
    """
    return ", ".join(value for name, value in headers if name.lower() == "content-type")


def parse(values: str) -> ContentType:
    """Return the MIME type that applies among the values of one or several Content-Type headers.

    The last valid value counts. It takes the charset of earlier values if it has the same type and no
    charset. Unlike the standard, a charset counts even if its type is malformed: servers send ``charset=``
    alone. Source: Fetch, "extract a MIME type".

    >>> parse('Text/HTML; a=";charset=big5"; charset="utf-8"')
    ContentType(type='text/html', charset='utf-8')
    >>> parse("text/html; charset=gbk, text/html"), parse("text/html; charset=gbk, text/plain").charset
    (ContentType(type='text/html', charset='gbk'), '')
    >>> parse("text/html, */*").type, parse("html; charset=utf-8"), parse("application/unknown")
    ('text/html', ContentType(type='', charset='utf-8'), ContentType(type='', charset=''))
    """
    found = ContentType()
    for value in _VALUE.findall(values):
        match = _TYPE.match(value)
        kind = match[1].lower() if match else ""
        charset = _charset(value)
        if kind in UNKNOWN or not (kind or charset):
            continue
        kind = kind or found.type
        found = ContentType(kind, charset or (found.charset if kind == found.type else ""))
    return found


def _charset(value: str) -> str:
    labels = (quoted or bare for name, quoted, bare in _PARAMETER.findall(value) if name.lower() == "charset")
    return next(labels, "").strip()
