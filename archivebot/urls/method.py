"""The key of an answer to a request other than a plain GET: its URL with method and body in the query.

It follows the guideline https://iipc.github.io/warc-specifications/guidelines/cdx-non-get-requests/ and
agrees with pywb and cdxj-indexer, with two exceptions: a body whose fields take more than ``LONGEST``
characters is named by its digest rather than cut, and AMF is not parsed.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from hashlib import sha256
from typing import Any
from urllib.parse import quote, urlencode

# Methods whose answer is the page itself.
PLAIN = frozenset(("", "GET", "HEAD"))

# Maximum characters of the query for a body; cdxj-indexer cuts a longer one.
LONGEST = 4096

_METHOD = "__wb_method="

_FORM, _JSON, _TEXT = "application/x-www-form-urlencoded", "application/json", "text/plain"


def with_method(url: str, method: str, content_type: str = "", body: bytes = b"") -> str:
    """Return the URL under which the answer to a request is stored.

    >>> with_method("http://a.example/", "GET")
    'http://a.example/'
    >>> with_method("http://a.example/?q=1", "POST", "application/x-www-form-urlencoded", b"a=b+c")
    'http://a.example/?q=1&__wb_method=POST&a=b+c'
    >>> with_method("http://a.example/", "PUT", "application/json", b'{"a": {"b": 1}, "c": ["x", "y"]}')
    'http://a.example/?__wb_method=PUT&b=1&c=x&c.2_=y'
    >>> with_method("http://a.example/", "POST", "image/png", b"\\x89PNG")
    'http://a.example/?__wb_method=POST&__wb_post_data=iVBORw%3D%3D'
    """
    method = method.upper()
    if method in PLAIN and not body:
        return url
    url = url.partition("#")[0]
    query = "&".join(filter(None, (f"{_METHOD}{quote(method or 'GET')}", _fields(content_type, body))))
    return f"{url}{'&' if '?' in url else '?'}{query}"


def has_method(url: str) -> bool:
    """Return whether a URL is that of the answer to a request other than a plain GET.

    >>> has_method("http://a.example/?q=1&__wb_method=POST&a=b+c"), has_method("http://a.example/?q=1")
    (True, False)
    """
    return _METHOD in url


def _fields(content_type: str, body: bytes) -> str:
    """Return a body as fields of a query."""
    kind = content_type.partition(";")[0].strip().lower()
    query = _form(kind, content_type, body) if body else ""
    if query is None:
        query = urlencode({"__wb_post_data": base64.b64encode(body)})
    if len(query) > LONGEST:
        return f"__wb_post_data=sha256:{sha256(body).hexdigest()}"
    return query


def _form(kind: str, content_type: str, body: bytes) -> str | None:
    """Return the fields of a body of a known kind, or None."""
    try:
        if kind == _FORM:
            return quote(body.decode(), safe="%&=+;/:?@!$'()*,")
        if kind.startswith("multipart/"):
            return _multipart(content_type, body)
        return _json(body) if kind in (_JSON, _TEXT) else None
    except (ValueError, RecursionError):
        return None


def _multipart(content_type: str, body: bytes) -> str | None:
    head = f"Content-Type: {content_type}\r\n\r\n".encode("latin-1", "replace")
    parts = message_from_bytes(head + body).get_payload()
    if not isinstance(parts, list):
        return None
    pairs = [(_name(part), part.get_payload(decode=True)) for part in parts if isinstance(part, Message)]
    return urlencode([(name, data) for name, data in pairs if isinstance(data, bytes)])


def _name(part: Message) -> str:
    name = part.get_param("name", "", "content-disposition")
    return name if isinstance(name, str) else ""


def _json(body: bytes) -> str:
    """Return the innermost names and values of a JSON document, or of one on each line, as a query."""
    try:
        documents = [json.loads(body)]
    except json.JSONDecodeError:
        documents = [json.loads(line) for line in body.splitlines() if line.strip()]
    data: dict[str, str] = {}
    count: dict[str, int] = {}
    for name, value in (pair for document in documents for pair in _leaves(document, "")):
        count[name] = count.get(name, 0) + 1
        data[name if count[name] == 1 else f"{name}.{count[name]}_"] = value
    return urlencode(data)


def _leaves(value: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _leaves(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _leaves(inner, name)
    elif name:
        yield name, str(value)
