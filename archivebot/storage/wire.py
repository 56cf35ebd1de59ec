"""Compresses the exchanges of captures: most of an exchange repeats earlier exchanges of the host."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from archivebot.exceptions import CorruptObject
from archivebot.storage.times import milliseconds, moment
from archivebot.wire import Wire

# Number of a host's references to which an exchange is compared, the latest ones: pages, pictures, redirects
# and 304 have different headers.
CANDIDATES = 4

# An exchange becomes a reference itself if, with a reference, it takes more than this share of its size
# alone.
UNLIKE = 0.5

# The usual id of a record, which is stored as 16 bytes.
_UUID = re.compile("<urn:uuid:([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})>")

# Maximum bytes of a decoded reference. The heads of an answer have up to 256 kB, and some escapes.
_LONGEST = 8 << 20


def reference_of(wire: Wire) -> bytes:
    """Return an exchange as a reference for others of its host: its texts, compressed with zlib."""
    return zlib.compress(_texts(wire), 9)


def packed(wire: Wire, url: str, when: datetime, reference: bytes | None) -> bytes:
    """Pack the exchange of a capture of a URL at a time, compressed against a reference.

    Four numbers come first, each with 7 bits in a byte, the low bits first, the top bit set if more bytes
    follow: the milliseconds from start to capture, to the first byte and to the end, and the length of the
    body. Each number is plus 1; 0 means unknown. The texts follow as JSON, as raw deflate whose dictionary is
    the reference and the URL. If the id of the record is a UUID, its 16 bytes come last: as text they took
    half of the exchange of an ingested page.

    >>> when = datetime.fromisoformat("2026-11-20T12:00:00Z")
    >>> wire = Wire(b"HTTP/1.1 200 OK\\r\\n\\r\\n", ended=130, length=0)
    >>> packed(wire, "http://a.example/", when, reference_of(wire))[:5].hex(" ")
    '00 00 83 01 01'
    >>> known = Wire(b"HTTP/1.1 200 OK", record="<urn:uuid:0ab44aa3-8893-4045-9e27-9bf0441b02fd>")
    >>> data = packed(known, "http://a.example/", when, None)
    >>> data[-16:].hex(), unpacked(data, "http://a.example/", when, None) == known
    ('0ab44aa3889340459e279bf0441b02fd', True)
    """
    lag = None if wire.started is None else max(0, milliseconds(when) - milliseconds(wire.started))
    numbers = b"".join(map(_number, (lag, wire.first_byte, wire.ended, wire.length)))
    identity = _UUID.fullmatch(wire.record)
    last = bytes.fromhex(identity[1].replace("-", "")) if identity else b""
    coder = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zdict=_dictionary(reference, url))
    return numbers + coder.compress(_texts(wire)) + coder.flush() + last


def unpacked(data: bytes, url: str, when: datetime, reference: bytes | None) -> Wire:
    """Read the exchange of a capture; raises CorruptObject for other bytes.

    >>> when = datetime.fromisoformat("2026-11-20T12:00:00Z")
    >>> wire = Wire(b"HTTP/1.1 200 OK\\r\\nX: \\xe9\\r\\n\\r\\n", left_out=("Cookie",), port=80, started=when)
    >>> unpacked(packed(wire, "http://a.example/", when, None), "http://a.example/", when, None) == wire
    True
    """
    try:
        numbers, at = [], 0
        for _ in range(4):
            number, at = _read(data, at)
            numbers.append(number)
        coder = zlib.decompressobj(-15, zdict=_dictionary(reference, url))
        texts = json.loads(coder.decompress(data[at:], _LONGEST))
        lag, first_byte, ended, length = numbers
        return Wire(
            received=texts["received"].encode("latin-1"),
            request=texts["request"].encode("latin-1"),
            left_out=tuple(texts["left_out"]),
            ip=texts["ip"],
            port=texts["port"],
            protocols=tuple(texts["protocols"]),
            started=None if lag is None else moment(milliseconds(when) - lag),
            first_byte=first_byte,
            ended=ended,
            length=length,
            decoded=texts["decoded"],
            trailers=texts["trailers"].encode("latin-1"),
            truncated=texts["truncated"],
            record=f"<urn:uuid:{UUID(bytes=coder.unused_data)}>" if coder.unused_data else texts["record"],
        )
    except (zlib.error, ValueError, LookupError, TypeError, AttributeError) as error:
        raise CorruptObject(f"the facts of the wire cannot be read ({error})") from error


def nearest(
    wire: Wire, url: str, when: datetime, references: Iterable[tuple[int | str, bytes]]
) -> tuple[int | str | None, bytes]:
    """Return the reference with which an exchange takes the fewest bytes, and these bytes.

    Returns None and no bytes if it resembles none of them; it should become a reference then.
    """
    tried = [(packed(wire, url, when, data), name) for name, data in references]
    best, name = min(tried, key=lambda pair: len(pair[0]), default=(b"", None))
    if name is None or len(best) > UNLIKE * len(packed(wire, url, when, None)):
        return None, b""
    return name, best


def _texts(wire: Wire) -> bytes:
    texts = {
        "ip": wire.ip,
        "port": wire.port,
        "protocols": wire.protocols,
        "decoded": wire.decoded,
        "left_out": wire.left_out,
        "request": wire.request.decode("latin-1"),
        "received": wire.received.decode("latin-1"),
        "trailers": wire.trailers.decode("latin-1"),
        "truncated": wire.truncated,
        "record": "" if _UUID.fullmatch(wire.record) else wire.record,
    }
    return json.dumps(texts, ensure_ascii=False, separators=(",", ":")).encode()


@lru_cache(maxsize=64)
def _inflated(reference: bytes) -> bytes:
    return zlib.decompressobj().decompress(reference, _LONGEST)


def _dictionary(reference: bytes | None, url: str) -> bytes:
    """Return the dictionary for the compressor; the end, which is nearest, matters most."""
    return (_inflated(reference) if reference else b"") + url.encode("utf-8", "replace")


def _number(value: int | None) -> bytes:
    rest = 0 if value is None else max(0, value) + 1
    return bytes(_septets(rest))


def _septets(rest: int) -> Iterator[int]:
    while rest > 127:
        yield rest & 127 | 128
        rest >>= 7
    yield rest


def _read(data: bytes, at: int) -> tuple[int | None, int]:
    """Read a number at a position; return it, and the position after it."""
    value = shift = 0
    while data[at] > 127:
        value |= (data[at] & 127) << shift
        shift, at = shift + 7, at + 1
    value |= data[at] << shift
    return (value - 1 if value else None), at + 1
