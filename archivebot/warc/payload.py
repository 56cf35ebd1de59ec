"""The HTTP response inside a record: status, headers, decoded body, digest."""

from __future__ import annotations

import base64
import codecs
import hashlib
import re
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from archivebot.http.codings import KNOWN, CodingError, Oversized, decode
from archivebot.models import Headers
from archivebot.warc.lines import HEAD_END
from archivebot.wire import header_fields

# The version may be missing ("HTTP 200"), and so may be the reason phrase, with it the space before it;
# Browsertrix writes a 0 for some answers without a body; a second \r at a line end comes from a conversion of
# line ends.
_STATUS_LINE = re.compile(rb"HTTP(?:/\d(?:\.\d)?)?[ \t]+(\d{1,3})(?:[ \t][^\r\n]*)?(?=\r{0,2}\n|\Z)")
_CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,15})[ \t]*(?:;[^\r\n]*)?\r?\n")
_LINE_END = re.compile(rb"\r?\n")
_CHUNK_LINE_CUT = re.compile(rb"[0-9A-Fa-f]{0,15}[ \t]*(?:;[^\r\n]*)?\r?")

# If this many first bytes of a body are not text, it is still coded; fewer bytes may look like text by
# chance.
_NO_TEXT = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
_BEGINNING, _FEW = 1024, 16
_MAGIC = {"gzip": b"\x1f\x8b", "x-gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}
_ALGORITHMS = ("md5", "sha1", "sha256", "sha384", "sha512")


# Their names, in the order of the fields of Framing.
_FRAMING = ("content-length", "transfer-encoding", "content-encoding")


class PayloadError(ValueError):
    """A block is not an HTTP response, or not chunked; the message is the reason."""


@dataclass(frozen=True, slots=True)
class Response:
    """An HTTP response as stored."""

    status: int
    headers: Headers
    payload: bytes = field(repr=False)
    head: bytes = field(default=b"", repr=False)

    def framing(self) -> Framing:
        """Return the headers that describe the payload."""
        found: dict[str, list[str]] = {}
        for name, value in self.headers:
            if (known := name.lower()) in _FRAMING:
                found.setdefault(known, []).extend(part.strip() for part in value.split(","))
        return Framing(*(found.get(name, []) for name in _FRAMING))


class Framing(NamedTuple):
    """The comma-separated values of the headers that describe a payload, in order."""

    lengths: list[str]
    transfer: list[str]
    codings: list[str]


def parse_response(block: bytes) -> Response:
    """Split a block into status, headers, payload and head; raises PayloadError without a status line.

    >>> parse_response(b"HTTP/1.1 404\\r\\nA: b\\r\\n\\r\\ntext").headers
    (('A', 'b'),)
    """
    line = _STATUS_LINE.match(block)
    if line is None:
        raise PayloadError(f"malformed HTTP status line {block[:40].splitlines()[:1]}")
    end = HEAD_END.search(block, line.end())
    head = block[line.end() : end.start() if end else len(block)]
    at = end.end() if end else len(block)
    return Response(int(line[1]), header_fields(head), block[at:], block[:at])


class State(Enum):
    """Whether a body is complete."""

    WHOLE = "whole"
    CUT = "cut"  # it ended early, or is damaged
    TOO_LONG = "too long"


@dataclass(frozen=True, slots=True)
class Body:
    """A payload as stored, without chunks, and without content codings; ``wrong`` is what failed."""

    stored: bytes = field(repr=False)
    entity: bytes = field(repr=False)
    content: bytes = field(repr=False)
    wrong: str = ""
    state: State = State.WHOLE


def read_body(response: Response, limit: int) -> Body:
    """Decode the transfer coding, then the content codings, of a payload.

    A body that is cut, or decodes to more than ``limit`` bytes, keeps its content codings, and its chunks if
    they cannot be separated. A body that never had the coding of its header (writers decode a body and keep
    the header) is complete.
    """
    stored = entity = response.payload
    wrong = ""
    framing = response.framing()
    if _is_chunked(stored, framing):
        try:
            entity, wrong = unchunk(stored)
        except PayloadError as error:
            return Body(stored, stored, stored, str(error))  # text that begins like a chunk
    wrong = wrong or _missing(stored, framing)
    if wrong:
        return Body(stored, entity, entity, wrong, State.CUT)
    codings = [coding.lower() for coding in framing.codings]
    try:
        return Body(stored, entity, decode(entity, codings, limit))
    except CodingError as error:
        return Body(stored, entity, entity, str(error), _state(error, entity, codings[-1]))


def _state(error: CodingError, entity: bytes, coding: str) -> State:
    """Return the state of a body that cannot be decoded; a body that was never coded is complete."""
    if isinstance(error, Oversized):
        return State.TOO_LONG
    return State.WHOLE if coding not in KNOWN or _is_plain(entity, coding) else State.CUT


def _is_plain(entity: bytes, coding: str) -> bool:
    """Return whether a body that cannot be decoded was never coded."""
    magic = _MAGIC.get(coding)
    if magic is not None:
        return not entity.startswith(magic)
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(entity[:_BEGINNING])
    except UnicodeDecodeError:
        return False
    return len(text) >= _FEW and _NO_TEXT.search(text) is None


def _missing(payload: bytes, framing: Framing) -> str:
    """Return the missing part of a body by its Content-Length, which counts the stored bytes."""
    lengths = framing.lengths
    if not payload or framing.transfer or framing.codings:
        return ""
    length = lengths[0] if len(set(lengths)) == 1 else ""
    if not (length.isascii() and length.isdecimal() and len(length) <= 18):
        return ""
    there = len(payload)
    return f"the body ended after {there} of {length} bytes" if there < int(length) else ""


def _is_chunked(payload: bytes, framing: Framing) -> bool:
    """Return whether the payload is chunked: writers may keep the header without chunks, or vice versa."""
    first = _CHUNK_LINE.match(payload)
    if first is None:
        return False
    if "chunked" in map(str.lower, framing.transfer):
        return True
    bare = not framing.lengths and int(first[1], 16) > 0
    return bare and payload.endswith((b"\n0\r\n\r\n", b"\n0\n\n")) and _unchunks(payload)


def _unchunks(data: bytes) -> bool:
    try:
        return not unchunk(data)[1]
    except PayloadError:
        return False


def unchunk(data: bytes) -> tuple[bytes, str]:
    """Join the chunks of a chunked payload; return the data and the fault ("" for none).

    If the chunks end early, all existing bytes are joined; broken data after a complete chunk stays
    unchanged. Raises PayloadError if not even the first chunk ends where it should.

    >>> unchunk(b"3\\r\\nabc\\r\\n2;x=y\\r\\nde\\r\\n0\\r\\n\\r\\n")
    (b'abcde', '')
    >>> unchunk(b"3\\r\\nabc\\r\\n2\\r\\nd")
    (b'abcd', 'chunks end early')
    """
    chunks: list[bytes] = []
    at = 0
    while line := _CHUNK_LINE.match(data, at):
        size = int(line[1], 16)
        if not size:
            return b"".join(chunks), ""
        at = line.end() + size
        chunks.append(data[line.end() : at])
        end = _LINE_END.match(data, at)
        if end is None:
            if len(data) <= at + 1:
                return b"".join(chunks), "chunks end early"
            wrong = f"chunk of {size} bytes does not end where it should"
            if not chunks[1:]:
                raise PayloadError(wrong)
            return data, wrong
        at = end.end()
    if _CHUNK_LINE_CUT.fullmatch(data, at):
        return b"".join(chunks), "chunks end early"
    return data, "malformed chunk size"


def digest_of(payload: bytes) -> str:
    """Return the usual digest of a payload: SHA-1 in base32.

    >>> digest_of(b"")
    'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ'
    """
    return "sha1:" + base64.b32encode(hashlib.sha1(payload).digest()).decode()


def is_digest_of(digest: str, body: Body) -> bool:
    """Return whether a recorded digest matches one of the forms of a payload.

    Tools disagree on whether chunks and content codings are decoded first (warcio issue 74), and write
    hexadecimal or base32. A digest of an unknown algorithm matches anything.
    """
    name, _, value = digest.partition(":")
    algorithm = name.strip().lower().replace("-", "")
    if algorithm not in _ALGORITHMS:
        return True
    wanted = value.strip().upper().rstrip("=")
    forms = {id(form): form for form in (body.stored, body.entity, body.content)}
    return any(_is_spelled(wanted, hashlib.new(algorithm, form).digest()) for form in forms.values())


def _is_spelled(wanted: str, digest: bytes) -> bool:
    """Return whether a text is the digest in hexadecimal, or in base32 without padding."""
    if len(wanted) == 2 * len(digest):
        return wanted == digest.hex().upper()
    return wanted == base64.b32encode(digest).decode().rstrip("=")
