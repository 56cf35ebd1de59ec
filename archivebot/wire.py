"""The facts of one HTTP exchange: the head of the answer as received, and more."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from operator import methodcaller

Headers = tuple[tuple[str, str], ...]

# Request headers that are not stored, in lower case: a user of the archive could misuse them.
SECRETS = frozenset(("authorization", "cookie", "proxy-authorization"))
_SET = frozenset(("set-cookie", "set-cookie2"))

_SECRET = re.compile(rb"cookie|authorization", re.IGNORECASE)  # in all of SECRETS
_parted = methodcaller("partition", ":")

_LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")
_FOLD = re.compile(rb"\r?\n[ \t]+")
_PROTOCOL = re.compile(rb"HTTP/[0-9]+(?:\.[0-9]+)?")
_END = re.compile(rb"\n\r?\n")


def bare_uri(text: str) -> str:
    """Return the URI in a named field of a WARC record, which early versions of the format put in brackets.

    >>> bare_uri(" <http://a.example/> "), bare_uri("http://a.example/b>"), bare_uri("<http://a.example/")
    ('http://a.example/', 'http://a.example/b>', 'http://a.example/')
    """
    text = text.strip(" ")
    return text[1:].removesuffix(">") if text.startswith("<") else text


@dataclass(frozen=True, slots=True)
class Wire:
    """The facts of one exchange; a field that is empty or None is not known.

    ``received`` holds all heads of the answer byte for byte, interim ones (1xx) first, each with the empty
    line that ends it; ``trailers`` the header lines after the body. ``request`` is the head that was sent,
    without the headers named in ``left_out``. The headers of HTTP/2 are written as lines. ``protocols`` are
    named as in WARC-Protocol. ``first_byte`` and ``ended`` are milliseconds after ``started`` (an aware UTC
    time). ``length`` counts the bytes of the body without its transfer coding, but with its content codings;
    if ``decoded``, the stored body is without them. ``truncated`` is why the answer is incomplete, in the
    words of WARC-Truncated; ``record`` is the id of the WARC record that it was read from.
    """

    received: bytes = field(default=b"", repr=False)
    request: bytes = field(default=b"", repr=False)
    left_out: tuple[str, ...] = ()
    ip: str = ""
    port: int | None = None
    protocols: tuple[str, ...] = ()
    started: datetime | None = None
    first_byte: int | None = None
    ended: int | None = None
    length: int | None = None
    decoded: bool = False
    trailers: bytes = b""
    truncated: str = ""
    record: str = ""

    @property
    def head(self) -> bytes:
        """The head of the final answer: its status line and header lines, with their line ends."""
        ends = [found.end() for found in _END.finditer(self.received)]
        before = [0, *(end for end in ends if end < len(self.received))]
        return self.received[before[-1] :]

    @property
    def status_line(self) -> str:
        """The first line of the answer, without its line break."""
        return next(iter(text_lines(self.head)), "")

    @property
    def headers(self) -> Headers:
        """The headers of the answer, in their original order and case, with repetitions."""
        return header_fields(self.head.partition(b"\n")[2])

    @property
    def address(self) -> str:
        """The address that answered, with the port if that is known.

        >>> Wire(ip="::1", port=80).address, Wire(ip="192.0.2.1").address
        ('[::1]:80', '192.0.2.1')
        """
        if self.port is None:
            return self.ip
        return f"[{self.ip}]:{self.port}" if ":" in self.ip else f"{self.ip}:{self.port}"


@dataclass(frozen=True, slots=True)
class Attachment:
    """A record of a WARC file that is not a capture: it describes one, converts one, or describes the crawl.

    ``url`` and ``when`` (an aware UTC time) are those of the capture to which it belongs; of a record that
    belongs to no page ``url`` is its own URI. ``head`` is its first line and its named fields byte for byte,
    with the empty line, ``block`` its block.
    """

    url: str
    when: datetime
    head: bytes = field(repr=False)
    block: bytes = field(repr=False)

    @property
    def fields(self) -> Headers:
        """The named fields, in their original order and case, with repetitions."""
        return header_fields(self.head.partition(b"\n")[2])

    @property
    def kind(self) -> str:
        """The type of the record, in lower case."""
        return (first_header(self.fields, "WARC-Type") or "").lower()

    @property
    def target(self) -> str:
        """The URI of the record itself; "" for none."""
        return bare_uri(first_header(self.fields, "WARC-Target-URI") or "")

    @property
    def record(self) -> str:
        """The id of the record; "" for none."""
        return first_header(self.fields, "WARC-Record-ID") or ""

    @property
    def content_type(self) -> str:
        """The type of the block; "" if it is not declared."""
        return first_header(self.fields, "Content-Type") or ""


def protocol_of(received: bytes) -> str:
    """Return the protocol that the first line of an answer names, as in WARC-Protocol; "" for none.

    >>> protocol_of(b"HTTP/1.0 200 OK\\r\\n"), protocol_of(b"HTTP/2 200\\r\\n"), protocol_of(b"<html>")
    ('http/1.0', 'h2', '')
    """
    found = _PROTOCOL.match(received)
    name = found[0].decode().lower() if found else ""
    return "h2" if name in ("http/2", "http/2.0") else name


def header_fields(lines: bytes) -> Headers:
    """Return the names and values of header lines; folded lines are joined, lines without colon skipped.

    A line is read as UTF-8, or as Latin-1 if it is not valid UTF-8.

    >>> header_fields(b"A: b\\r\\n c\\r\\nX-Caf\\xe9:\\r\\nno header\\r\\nA : d")
    (('A', 'b c'), ('X-Café', ''), ('A', 'd'))
    """
    if b"\n " in lines or b"\n\t" in lines:
        lines = _FOLD.sub(b" ", lines)
    try:
        texts = lines.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        texts = [_text(line) for line in lines.split(b"\n")]
    parts = map(_parted, texts)
    return tuple([(name.strip(), value.strip()) for name, colon, value in parts if colon])


def text_lines(head: bytes) -> list[str]:
    """Return the lines of a head as text, without their ends.

    >>> text_lines(b"HTTP/1.1 200 OK\\r\\nX: \\xe9\\r\\n\\r\\n")
    ['HTTP/1.1 200 OK', 'X: é', '']
    """
    return [_text(line.rstrip(b"\r\n")) for line in _LINE.findall(head)]


def without_secrets(request: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return the head of a request without its secret headers, and the names of the removed headers.

    >>> without_secrets(b"GET / HTTP/1.1\\r\\nCookie: a=b;\\r\\n c=d\\r\\nHost: a\\r\\n\\r\\n")
    (b'GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n', ('Cookie',))
    """
    if request.isascii() and _SECRET.search(request) is None:
        return request, ()
    return _without(request, SECRETS)


def _without(head: bytes, secret: frozenset[str]) -> tuple[bytes, tuple[str, ...]]:
    kept: list[bytes] = []
    names: list[str] = []
    leave = False
    for line in _LINE.findall(head):
        if line[:1] not in (b" ", b"\t"):
            name = _text(line.partition(b":")[0]).strip()
            leave = bool(kept) and name.lower() in secret
            names += [name] * leave
        if not leave:
            kept.append(line)
    return b"".join(kept), tuple(names)


def without_cookies(received: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return the heads of an answer without the cookies that it sets, and the names of the removed headers.

    >>> without_cookies(b"HTTP/1.1 200 OK\\r\\nset-cookie: a=b\\r\\nETag: x\\r\\n\\r\\n")
    (b'HTTP/1.1 200 OK\\r\\nETag: x\\r\\n\\r\\n', ('set-cookie',))
    """
    return _without(received, _SET)


def first_header(headers: Headers, name: str) -> str | None:
    """Return the first header with a name, ignoring case, or None.

    >>> first_header((("content-type", "text/html"),), "Content-Type")
    'text/html'
    """
    return next((value for key, value in headers if key.lower() == name.lower()), None)


def _text(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")
