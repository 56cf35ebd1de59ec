"""Decodes the content codings of HTTP: gzip, deflate, br and zstd, also in combination."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable

import brotli

if sys.version_info >= (3, 14):
    from compression import zstd as zstd
else:
    from backports import zstd as zstd  # for the frames of WARC files, too

_GZIP = b"\x1f\x8b"

# Maximum of codings of one body; curl has the same maximum (MAX_ENCODE_STACK). Each may take as much time and
# memory as the limit allows.
MOST_CODINGS = 5

# Bytes of a member passed to a decoder first, and the maximum at a time: a decoder copies unused bytes, and a
# body may have a member in every 20 bytes.
FIRST, WINDOW = 1 << 9, 1 << 16


class CodingError(ValueError):
    """Bytes cannot be decoded by their coding; the message is the reason."""


class Oversized(CodingError):
    """Bytes decode to more than the limit."""


def decode(data: bytes, codings: list[str], limit: int) -> bytes:
    """Decode content codings, the last one first.

    Takes the codings in the order of the Content-Encoding header. Raises CodingError if a coding is unknown,
    the codings are more than :data:`MOST_CODINGS`, or the bytes are broken or end early; Oversized if they
    decode to more than ``limit`` bytes.

    >>> decode(zlib.compress(zlib.compress(b"text")), ["deflate", "Deflate"], limit=100)
    b'text'
    """
    if len(codings) > MOST_CODINGS:
        raise CodingError(f"{len(codings)} content codings on one body")
    for coding in reversed(codings):
        decoder = _DECODERS.get(coding.lower())
        if decoder is None:
            raise CodingError(f"unknown content coding {coding!r}")
        data = decoder(data, limit) if data else data
    return data


def parted(header: str) -> tuple[list[str], list[str]]:
    """Split the codings of a Content-Encoding header into those that stay and those that can be decoded.

    >>> parted("utf-8, GZIP"), parted("")
    ((['utf-8'], ['gzip']), ([], []))
    """
    left, known = [name.strip() for name in header.lower().split(",")] if header else [], list[str]()
    while left and left[-1] in KNOWN:
        known.insert(0, left.pop())
    return left, known


def _identity(data: bytes, _limit: int) -> bytes:
    return data


def _gzip(data: bytes, limit: int) -> bytes:
    pieces: list[bytes] = []
    at, left = 0, limit
    # Bytes after the last member are ignored, as in browsers.
    while data.startswith(_GZIP, at) or not pieces:
        piece, at = _inflate(data, at, left, 31, "gzip")
        pieces.append(piece)
        left -= len(piece)
    if data[at:] == _GZIP[:1]:  # the first byte of one more member
        raise CodingError("gzip body ends early")
    return b"".join(pieces)


def _deflate(data: bytes, limit: int) -> bytes:
    """Decode deflate with its zlib wrapper, or without it, as some servers send it."""
    zlib_wrapped = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0
    return _inflate(data, 0, limit, 15 if zlib_wrapped else -15, "deflate")[0]


def _inflate(data: bytes, at: int, limit: int, wbits: int, name: str) -> tuple[bytes, int]:
    """Inflate the member at a position; return its data, and the position after it."""
    decoder, pieces, size, step = zlib.decompressobj(wbits), [], 0, FIRST
    while at < len(data) and not decoder.eof and size <= limit:
        given, step = data[at : at + step], min(2 * step, WINDOW)
        try:
            pieces.append(decoder.decompress(given, limit + 1 - size))
        except zlib.error as error:
            raise CodingError(f"{name} body is damaged ({error})") from error
        size += len(pieces[-1])
        at += len(given) - len(decoder.unused_data)
    _check(size, limit, decoder.eof, name)
    return b"".join(pieces), at


def _zstd(data: bytes, limit: int) -> bytes:
    pieces: list[bytes] = []
    at, left = 0, limit
    while at < len(data):
        decoder, step = zstd.ZstdDecompressor(), FIRST
        while at < len(data) and not decoder.eof and left >= 0:
            given, step = data[at : at + step], min(2 * step, WINDOW)
            try:
                pieces.append(decoder.decompress(given, left + 1))
            except zstd.ZstdError as error:
                raise CodingError(f"zstd body is damaged ({error})") from error
            left -= len(pieces[-1])
            at += len(given) - len(decoder.unused_data)
        _check(limit - left, limit, decoder.eof, "zstd")
    return b"".join(pieces)


def _brotli(data: bytes, limit: int) -> bytes:
    decoder, pieces, size = brotli.Decompressor(), [], 0
    try:
        while (piece := decoder.process(data, output_buffer_limit=1 << 20)) and size <= limit:
            pieces.append(piece)
            size, data = size + len(piece), b""
    except brotli.error as error:
        raise CodingError(f"br body is damaged ({error})") from error
    _check(size, limit, decoder.is_finished(), "br")
    return b"".join(pieces)


def _check(size: int, limit: int, finished: bool, name: str) -> None:
    if size > limit:
        raise Oversized(f"{name} body decodes to more than the limit")
    if not finished:
        raise CodingError(f"{name} body ends early")


_DECODERS: dict[str, Callable[[bytes, int], bytes]] = {
    "": _identity,
    "identity": _identity,
    "none": _identity,
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}

KNOWN = frozenset(_DECODERS)
