"""The records of a WARC file for one capture."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from hashlib import sha256
from http.client import responses
from uuid import UUID, uuid5

from archivebot.metadata import Metadata
from archivebot.models import Capture, Outcome
from archivebot.warc.masking import masked
from archivebot.warc.own import TERMS

# The version of the record format, and where it is described.
VERSION = "1.1"
CONFORMS = f"http://iipc.github.io/warc-specifications/specifications/warc-format/warc-{VERSION}/"

HTTP_RESPONSE, HTTP_REQUEST = "application/http; msgtype=response", "application/http; msgtype=request"
FIELDS = "application/warc-fields"

_PROFILE = f"http://netpreserve.org/warc/{VERSION}/revisit/"
IDENTICAL, NOT_MODIFIED = _PROFILE + "identical-payload-digest", _PROFILE + "server-not-modified"

# The namespace of record ids: a capture has the same id in every export.
_NAMES = UUID("5c2b1c0e-6f0a-5d6d-9a51-0f6f8f3d1a77")

# The records that hold an answer, and the status of one that came without HTTP.
ANSWERS = frozenset(("response", "resource"))
OK = 200

# The digest of an answer without a body.
EMPTY = f"sha256:{sha256(b'').hexdigest()}"

# Outcomes whose body is not complete.
SHORT = frozenset((Outcome.INCOMPLETE, Outcome.TOO_LARGE))

# Outcomes of an answer whose body the archive does not hold; without it, it would be an empty page.
_WITHOUT_BODY = frozenset((Outcome.UNRESOLVED, Outcome.EXCLUDED))

# The end of a head; a second \r comes from a conversion of line ends.
_ENDED = re.compile(rb"\n\r{0,2}\n\Z")

Fields = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record to be written: its type, its named fields, and its block in pieces."""

    kind: str
    fields: Fields
    block: tuple[bytes, ...] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Original:
    """A response that was written, as a revisit refers to it."""

    url: str
    when: datetime
    record: str


def has_answer(capture: Capture) -> bool:
    """Return whether the archive holds the answer of a capture, if one came: it may be pruned or excluded."""
    return not capture.pruned and capture.outcome not in _WITHOUT_BODY


def record_id(kind: str, capture: Capture) -> str:
    """Return the id of a record of a capture, which is the same in every export."""
    name = f"{kind} {capture.url} {capture.captured_at.isoformat()} {capture.outcome} {capture.digest}"
    return f"<urn:uuid:{uuid5(_NAMES, name)}>"


def warc_date(when: datetime) -> str:
    """Return a time as WARC-Date.

    >>> warc_date(datetime(2026, 1, 2, 3, 4, 5, 60_000, UTC)), warc_date(datetime(2026, 1, 2, tzinfo=UTC))
    ('2026-01-02T03:04:05.060Z', '2026-01-02T00:00:00Z')
    """
    precision = "milliseconds" if when.microsecond else "seconds"
    return when.astimezone(UTC).replace(tzinfo=None).isoformat(timespec=precision) + "Z"


def warcinfo(when: datetime, file: str, texts: Iterable[tuple[str, str]]) -> NewRecord:
    """Return the first record of a file."""
    block = "".join(f"{name}: {value}\r\n" for name, value in texts).encode()
    identity = f"<urn:uuid:{uuid5(_NAMES, f'{file} {when.isoformat()}')}>"
    fields = (
        ("WARC-Record-ID", identity),
        ("WARC-Date", warc_date(when)),
        ("WARC-Filename", file),
        ("Content-Type", FIELDS),
    )
    return NewRecord("warcinfo", fields, (block,))


def response(capture: Capture, body: bytes) -> NewRecord:
    """Return a capture with its body as a response record, or again as a resource record if it was one.

    A body without a head stands alone.
    """
    is_resource, truncated = was_resource(capture), capture.wire.truncated if capture.wire else ""
    lines = b"" if is_resource else head(capture)
    if capture.outcome in SHORT:
        truncated = truncated or "unspecified"
    more = (("WARC-Truncated", truncated),) if truncated else ()
    if is_resource:
        types = [value for _, value in capture.headers]
        fields = _fields("response", capture, *_payload(capture), *more, types=types)
        return NewRecord("resource", fields, (body,))
    known = _payload(capture if body else None) if lines or not body else ()  # else there is no payload
    return NewRecord("response", _fields("response", capture, *known, *more), (lines, body))


def was_resource(capture: Capture) -> bool:
    """Return whether a capture came from a record without HTTP: all that it has of a head is its type."""
    wire = capture.wire
    bare = wire is not None and not (wire.received or wire.protocols or wire.decoded)
    return bare and capture.status == OK and all(name == "Content-Type" for name, _ in capture.headers)


def revisit(capture: Capture, original: Original, profile: str) -> NewRecord:
    """Return a capture as a revisit record of a response that was written before."""
    refers = (
        ("WARC-Profile", profile),
        ("WARC-Refers-To", original.record),
        ("WARC-Refers-To-Target-URI", original.url),
        ("WARC-Refers-To-Date", warc_date(original.when)),
        ("WARC-Truncated", "length"),
    )
    return NewRecord("revisit", _fields("revisit", capture, *_payload(capture), *refers), (head(capture),))


def request(capture: Capture, answer: str) -> NewRecord | None:
    """Return the request of a capture, None if it is not known.

    Of a request with a body only the head is known; its method and body are part of the URL instead.
    """
    asked = capture.wire.request if capture.wire else b""
    if not asked or "__wb_method=" in capture.url:
        return None
    fields = (
        ("WARC-Record-ID", record_id("request", capture)),
        ("WARC-Date", warc_date(capture.captured_at)),
        ("WARC-Target-URI", capture.url),
        ("WARC-Concurrent-To", answer),
        ("Content-Type", HTTP_REQUEST),
    )
    return NewRecord("request", fields, (_as_http1(asked, last=True),))


def metadata(capture: Capture, answer: str, target: str, kind: str, block: bytes) -> NewRecord:
    """Return further data of a capture as a metadata record of its answer ("" for none)."""
    fields = (
        ("WARC-Record-ID", record_id(f"metadata {target}", capture)),
        ("WARC-Date", warc_date(capture.captured_at)),
        ("WARC-Target-URI", target),
        *((("WARC-Refers-To", answer), ("WARC-Concurrent-To", answer)) if answer else ()),
        ("Content-Type", kind),
    )
    return NewRecord("metadata", fields, (block,))


def terms(capture: Capture, answer: str, known: Metadata) -> NewRecord:
    """Return the metadata of a page as a metadata record of its answer.

    The fields of such a record are terms of Dublin Core (WARC 1.1, 6.6.2).
    """
    lines = "".join(
        f"{name}: {' '.join(value.split())}\r\n" for name, values in known.terms.items() for value in values
    )
    return metadata(capture, answer, TERMS + capture.url, FIELDS, lines.encode("utf-8", "replace"))


def visit(capture: Capture) -> NewRecord:
    """Return a visit without an answer as a metadata record: its outcome and the reason.

    A visit whose answer is not kept is one, too; if it was pruned, with the digest of the bytes.
    """
    reason = " ".join(capture.reason.split())
    pruned = f"pruned: {capture.digest}\r\n" if capture.pruned else ""
    block = f"outcome: {capture.outcome}\r\nreason: {reason}\r\n{pruned}".encode("utf-8", "replace")
    return metadata(capture, "", capture.url, FIELDS, block)


def head(capture: Capture) -> bytes:
    """Return the head of the answer of a capture, as it describes the stored body.

    It is the head as received, or a new one of status and headers if that is not known. A capture that was
    no HTTP answer has none.
    """
    wire = capture.wire
    if wire is not None and wire.head:
        received, decoded = _as_http1(wire.head), wire.decoded
    elif capture.status is None:
        return b""
    else:
        lines = [f"HTTP/1.1 {capture.status} {responses.get(capture.status, '')}".rstrip()]
        lines += [f"{name}: {value}" for name, value in capture.headers]
        received, decoded = ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "replace"), True
    if capture.outcome is Outcome.NOT_MODIFIED:
        return received
    return masked(received, capture.size, decoded=decoded)


def _as_http1(lines: bytes, *, last: bool = False) -> bytes:
    """Return a head with its end, and with a version of HTTP that readers of records know.

    HTTP/2 has no lines; that it was used is the value of WARC-Protocol. The version of a request stands
    ``last`` in its line.

    >>> _as_http1(b"HTTP/2 200\\r\\nA: b\\r\\n"), _as_http1(b"GET / HTTP/2\\r\\n", last=True)
    (b'HTTP/1.1 200\\r\\nA: b\\r\\n\\r\\n', b'GET / HTTP/1.1\\r\\n\\r\\n')
    """
    line, feed, rest = lines.partition(b"\n")
    words = line.split(b" ")
    at = -1 if last else 0
    if words[at].strip().upper() in (b"HTTP/2", b"HTTP/2.0"):
        words[at] = b"HTTP/1.1" + b"\r" * words[at].endswith(b"\r")
    lines = b" ".join(words) + feed + rest
    if _ENDED.search(lines):
        return lines
    return lines + (b"\r\n" if lines.endswith(b"\n") else b"\r\n\r\n")


def _fields(
    kind: str, capture: Capture, *more: tuple[str, str], types: Iterable[str] = (HTTP_RESPONSE,)
) -> Fields:
    """Return the fields that the records of all answers have."""
    wire = capture.wire
    known = (("WARC-IP-Address", wire.ip),) if wire and wire.ip else ()
    protocols = tuple(("WARC-Protocol", name) for name in (wire.protocols if wire else ()))
    return (
        ("WARC-Record-ID", record_id(kind, capture)),
        ("WARC-Date", warc_date(capture.captured_at)),
        ("WARC-Target-URI", capture.url),
        *known,
        *protocols,
        *more,
        *(("Content-Type", each) for each in types),
    )


def _payload(capture: Capture | None) -> Fields:
    """Return the digest of the body that a capture shows, or of an empty one."""
    digest = (capture and capture.digest) or EMPTY
    return (("WARC-Payload-Digest", digest),)
