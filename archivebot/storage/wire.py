"""Compresses the exchanges of captures: most of an exchange repeats earlier exchanges of the host."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import NamedTuple
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

# Compressed exchanges that are remembered: the reference is chosen by the size with each of them, and what
# was compressed with the chosen one is stored.
REMEMBERED = 2 * CANDIDATES

# The usual id of a record, which is stored as 16 bytes.
_UUID = re.compile("<urn:uuid:([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})>")

# Maximum bytes of a decoded reference. The heads of an answer have up to 256 kB, and some escapes.
_LONGEST = 8 << 20


class Exchange(NamedTuple):
    """An exchange in the parts that are stored.

    ``numbers`` are the milliseconds from start to capture, to the first byte and to the end, and the length
    of the body; each is plus 1, and 0 means unknown. ``texts`` is the rest as JSON, ``record`` the 16 bytes
    of the record's UUID, None if the id of the record is not a UUID.
    """

    numbers: tuple[int, int, int, int]
    texts: bytes
    record: bytes | None


def exchange_of(wire: Wire, when: datetime) -> Exchange:
    """Return the parts of the exchange of a capture, which is dated at a time."""
    lag = None if wire.started is None else max(0, milliseconds(when) - milliseconds(wire.started))
    numbers = (lag, wire.first_byte, wire.ended, wire.length)
    lag, first_byte, ended, length = (0 if number is None else max(0, number) + 1 for number in numbers)
    identity = _UUID.fullmatch(wire.record)
    record = bytes.fromhex(identity[1].replace("-", "")) if identity else None
    return Exchange((lag, first_byte, ended, length), _texts(wire), record)


def wire_of(exchange: Exchange, when: datetime) -> Wire:
    """Read the parts of an exchange; raises CorruptObject if they cannot be read."""
    lag, first_byte, ended, length = (number - 1 if number else None for number in exchange.numbers)
    try:
        texts = json.loads(exchange.texts)
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
            record=f"<urn:uuid:{UUID(bytes=exchange.record)}>" if exchange.record else texts["record"],
        )
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise _unreadable(error) from error


def reference_of(exchange: Exchange) -> bytes:
    """Return an exchange as a reference for others of its host: its texts, compressed with zlib."""
    return zlib.compress(exchange.texts, 9)


def dictionary_of(reference: bytes | None, url: str) -> bytes:
    """Return the dictionary for the exchanges of a URL; texts near its end compress best."""
    return (_inflated(reference) if reference else b"") + url.encode("utf-8", "replace")


@lru_cache(maxsize=REMEMBERED)
def deflated(texts: bytes, dictionary: bytes) -> bytes:
    """Compress the texts of an exchange as raw deflate with a preset dictionary."""
    coder = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zdict=dictionary)
    return coder.compress(texts) + coder.flush()


def inflated(data: bytes, dictionary: bytes) -> tuple[bytes, bytes]:
    """Return texts, and the bytes after them; raises CorruptObject for other bytes."""
    coder = zlib.decompressobj(-15, zdict=dictionary)
    try:
        return coder.decompress(data, _LONGEST), coder.unused_data
    except zlib.error as error:
        raise _unreadable(error) from error


def packed(exchange: Exchange, url: str, reference: bytes | None) -> bytes:
    """Pack the exchange of a capture of a URL, compressed against a reference.

    Its four numbers come first, each with 7 bits in a byte, the low bits first, the top bit set if more
    bytes follow. The texts follow as JSON, as raw deflate whose dictionary is the reference and the URL. If
    the id of the record is a UUID, its 16 bytes come last: as text they took half of the exchange of an
    ingested page.

    >>> when = datetime.fromisoformat("2026-11-20T12:00:00Z")
    >>> exchange = exchange_of(Wire(b"HTTP/1.1 200 OK\\r\\n\\r\\n", ended=130, length=0), when)
    >>> packed(exchange, "http://a.example/", reference_of(exchange))[:5].hex(" ")
    '00 00 83 01 01'
    >>> known = Wire(b"HTTP/1.1 200 OK", record="<urn:uuid:0ab44aa3-8893-4045-9e27-9bf0441b02fd>")
    >>> data = packed(exchange_of(known, when), "http://a.example/", None)
    >>> data[-16:].hex(), unpacked(data, "http://a.example/", when, None) == known
    ('0ab44aa3889340459e279bf0441b02fd', True)
    """
    data = deflated(exchange.texts, dictionary_of(reference, url))
    return b"".join(map(septets, exchange.numbers)) + data + (exchange.record or b"")


def parts_of(data: bytes, url: str, reference: bytes | None) -> Exchange:
    """Return the parts of a packed exchange; raises CorruptObject for other bytes."""
    numbers, at = [], 0
    try:
        for _ in range(4):
            number, at = number_at(data, at)
            numbers.append(number)
    except LookupError as error:
        raise _unreadable(error) from error
    texts, record = inflated(data[at:], dictionary_of(reference, url))
    lag, first_byte, ended, length = numbers
    return Exchange((lag, first_byte, ended, length), texts, record or None)


def unpacked(data: bytes, url: str, when: datetime, reference: bytes | None) -> Wire:
    """Read the exchange of a capture; raises CorruptObject for other bytes.

    >>> when = datetime.fromisoformat("2026-11-20T12:00:00Z")
    >>> wire = Wire(b"HTTP/1.1 200 OK\\r\\nX: \\xe9\\r\\n\\r\\n", left_out=("Cookie",), port=80, started=when)
    >>> data = packed(exchange_of(wire, when), "http://a.example/", None)
    >>> unpacked(data, "http://a.example/", when, None) == wire
    True
    """
    return wire_of(parts_of(data, url, reference), when)


def nearest(
    exchange: Exchange, url: str, references: Iterable[tuple[int | str, bytes]]
) -> tuple[int | str | None, bytes]:
    """Return the reference with which an exchange takes the fewest bytes, and these bytes.

    Returns None and no bytes if it resembles none of them; it should become a reference then.
    """
    tried = [(packed(exchange, url, data), name) for name, data in references]
    best, name = min(tried, key=lambda pair: len(pair[0]), default=(b"", None))
    if name is None or len(best) > UNLIKE * len(packed(exchange, url, None)):
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


def _unreadable(error: Exception) -> CorruptObject:
    return CorruptObject(f"the facts of the wire cannot be read ({error})")


def septets(number: int) -> bytes:
    """Return a number with 7 bits in a byte, the low bits first; the top bit is set if more bytes follow.

    >>> septets(0).hex(), septets(300).hex()
    ('00', 'ac02')
    """
    data = bytearray()
    while number > 127:
        data.append(number & 127 | 128)
        number >>= 7
    data.append(number)
    return bytes(data)


def number_at(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at a position, written by :func:`septets`, and the position after it.

    >>> number_at(septets(300), 0)
    (300, 2)
    """
    value = data[at]
    if value < 128:
        return value, at + 1
    value, shift = value & 127, 7
    while (byte := data[at + 1]) > 127:
        value |= (byte & 127) << shift
        shift, at = shift + 7, at + 1
    return value | byte << shift, at + 2
