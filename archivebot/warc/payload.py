"""The HTTP response inside a record: status, headers, body with its codings undone, digest."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass, field

from archivebot.codings import CodingError, decode
from archivebot.models import Headers

# The reason phrase may be missing, and with it the space before it; a second \r at a line end comes
# from a conversion of line ends.
_STATUS_LINE = re.compile(rb"HTTP/\d(?:\.\d)?[ \t]+(\d{3})(?:[ \t][^\r\n]*)?(?=\r{0,2}\n|\Z)")
_HEADERS_END = re.compile(rb"\r{0,2}\n\r{0,2}\n")
_CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")
_LINE_END = re.compile(rb"\r?\n")
_ALGORITHMS = ("md5", "sha1", "sha256", "sha384", "sha512")


class PayloadError(ValueError):
    """A block is no HTTP response, or its chunks are broken; the message says why."""


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response as it is stored."""

    status: int
    headers: Headers
    payload: bytes = field(repr=False)

    def values(self, name: str) -> list[str]:
        """Give the comma-separated values of all headers of a name in order."""
        found = (value for key, value in self.headers if key.lower() == name)
        return [part.strip() for value in found for part in value.split(",")]


def parse_response(block: bytes) -> Response:
    """Split a block into status, headers and payload; raises PayloadError without a status line.

    >>> parse_response(b"HTTP/1.1 404\\r\\nA: b\\r\\n\\r\\ntext").headers
    (('A', 'b'),)
    """
    line = _STATUS_LINE.match(block)
    if line is None:
        raise PayloadError(f"malformed HTTP status line {block[:40].splitlines()[:1]}")
    end = _HEADERS_END.search(block, line.end())
    head = block[line.end() : end.start() if end else len(block)]
    return Response(int(line[1]), _headers(head), block[end.end() :] if end else b"")


def _headers(head: bytes) -> Headers:
    """Read header lines as UTF-8, or as Latin-1 where they are not that; folded lines become one."""
    try:
        text = head.decode("utf-8")
    except UnicodeDecodeError:
        text = head.decode("latin-1")
    lines = re.sub(r"\r?\n[ \t]+", " ", text).split("\n")
    pairs = (line.partition(":") for line in lines)
    return tuple((name.strip(), value.strip()) for name, colon, value in pairs if colon)


@dataclass(frozen=True, slots=True)
class Body:
    """A payload as stored, without chunks, and without content codings; ``wrong`` says what failed."""

    stored: bytes = field(repr=False)
    entity: bytes = field(repr=False)
    content: bytes = field(repr=False)
    wrong: str = ""


def read_body(response: Response, limit: int) -> Body:
    """Undo the transfer coding, then the content codings, of a payload.

    Where a coding fails or gives more than ``limit`` bytes, the bytes before it are the content.
    """
    stored = entity = response.payload
    try:
        if _is_chunked(response):
            entity = unchunk(stored)
        return Body(stored, entity, decode(entity, response.values("content-encoding"), limit))
    except (PayloadError, CodingError) as error:
        return Body(stored, entity, entity, str(error))


def _is_chunked(response: Response) -> bool:
    """Say whether the payload is chunked: writers keep the header without chunks, or the other way."""
    first = _CHUNK_LINE.match(response.payload)
    if first is None:
        return False
    if "chunked" in map(str.lower, response.values("transfer-encoding")):
        return True
    bare = not response.values("content-length") and int(first[1], 16) > 0
    return bare and response.payload.endswith((b"\n0\r\n\r\n", b"\n0\n\n")) and _unchunks(response.payload)


def _unchunks(data: bytes) -> bool:
    try:
        return bool(unchunk(data))
    except PayloadError:
        return False


def unchunk(data: bytes) -> bytes:
    """Join the chunks of a chunked payload; raises PayloadError where they are broken.

    >>> unchunk(b"3\\r\\nabc\\r\\n2;x=y\\r\\nde\\r\\n0\\r\\n\\r\\n")
    b'abcde'
    """
    chunks: list[bytes] = []
    at = 0
    while line := _CHUNK_LINE.match(data, at):
        size = int(line[1], 16)
        if not size:
            return b"".join(chunks)
        at = line.end() + size
        end = _LINE_END.match(data, at)
        if end is None:
            raise PayloadError(f"chunk of {size} bytes does not end where it should")
        chunks.append(data[line.end() : at])
        at = end.end()
    raise PayloadError("chunks end early" if at >= len(data) else "malformed chunk size")


def digest_of(payload: bytes) -> str:
    """Give the classic digest of a payload.

    >>> digest_of(b"")
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return "sha1:" + base64.b32encode(hashlib.sha1(payload).digest()).decode()


def is_digest_of(digest: str, body: Body) -> bool:
    """Say whether a recorded digest fits one of the forms of a payload.

    Tools disagree on whether chunks and content codings are undone before (warcio issue 74), and
    write hexadecimal or base32. A digest of an unknown algorithm fits anything.
    """
    name, _, value = digest.partition(":")
    algorithm = name.strip().lower().replace("-", "")
    if algorithm not in _ALGORITHMS:
        return True
    wanted = value.strip().upper().rstrip("=")
    forms = (body.stored, body.entity, body.content)
    return any(wanted in _spellings(hashlib.new(algorithm, form).digest()) for form in forms)


def _spellings(digest: bytes) -> tuple[str, str]:
    return digest.hex().upper(), base64.b32encode(digest).decode().rstrip("=")
