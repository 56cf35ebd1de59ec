"""The frames of a file (gzip members, Zstandard frames, or the plain rest) and their decoded bytes.

zlib is used directly, because neither warcio nor FastWARC can distinguish a truncated member from a complete
one, and both give up at the first broken member, although later records are still good.
"""

from __future__ import annotations

import io
import os
import re
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

from archivebot.exceptions import WarcError
from archivebot.http.codings import zstd
from archivebot.warc.inputs import Input, Part
from archivebot.warc.lines import HEAD_END, LINE, OPENING, begins, may_begin

# Bytes read first from a frame, as most records are small, and bytes read at a time after that. A decoded
# piece has at most CHUNK bytes, so that a decompression bomb arrives piece by piece.
FIRST = 1 << 14
CHUNK = 1 << 18

# Bytes of the file decoded first to see whether a record begins in a frame. A gzip header
# with a name, and the tables of a dynamic block, take less.
PEEK = 1 << 9

# Most heads of records have fewer bytes.
_MOST_HEADS = 1 << 10

_LINE_END = re.compile(rb"\n")

# If this many bytes of a frame decode to nothing, it holds no record.
LONGEST_HEADER = 1 << 12

_GZIP = b"\x1f\x8b\x08"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_DICTIONARY = b"\x5d\x2a\x4d\x18"

# The possible start of a frame after damage, by the fixed parts of a header: in gzip flags of which the
# upper three are zero, a word of three for the effort and a known system (RFC 1952); in Zstandard a
# descriptor whose reserved bit is zero (RFC 8878). A sequence of magic numbers is not a sequence of frames.
_UNRESERVED = b"".join(re.escape(bytes([byte])) for byte in range(256) if not byte & 8)
_GZIP_FRAME = re.escape(_GZIP) + rb"(?=[\x00-\x1f](?s:.{4})[\x00\x02\x04][\x00-\x0d\xff])"
_ZSTD_FRAME = re.escape(_ZSTD) + b"(?=[" + _UNRESERVED + b"])"
_COMPRESSED = re.compile(_GZIP_FRAME + b"|" + _ZSTD_FRAME)
LONGEST_MAGIC = 10

# The same one by one: a search that begins with fixed bytes takes a thirtieth of the time.
FRAMES = (re.compile(_GZIP_FRAME), re.compile(_ZSTD_FRAME))


class FrameError(Exception):
    """A frame cannot be decoded to its end; ``until`` is the offset in the file of the damage."""

    def __init__(self, message: str, until: int) -> None:
        super().__init__(message)
        self.until = until


class RawFile:
    """The bytes of a file by offset; errors of the system are raised as WarcError.

    ``on_read`` is called before bytes are read, and may raise an error that ends the reading.
    """

    def __init__(self, path: Input, on_read: Callable[[], None] | None = None) -> None:
        self._path, self._on_read = path, on_read
        self._start = path.start if isinstance(path, Part) else 0
        self._kept, self._kept_at = b"", 0  # the bytes read last, as small frames follow each other
        try:
            self._file = io.FileIO(path.path if isinstance(path, Part) else path)
            size = os.fstat(self._file.fileno()).st_size
            self.size = path.size if isinstance(path, Part) else size
        except (OSError, ValueError) as error:
            raise self._refused(error) from error

    def read(self, offset: int, size: int) -> bytes:
        """Return up to ``size`` bytes from ``offset``, none after the end."""
        if size >= CHUNK:
            return self._read(offset, size)
        start, ends = offset - self._kept_at, self._kept_at + len(self._kept)
        if start < 0 or (offset + size > ends and (ends < self.size or offset > ends)):
            self._kept, self._kept_at, start = self._read(offset, CHUNK), offset, 0
        return self._kept[start : start + size]

    def _read(self, offset: int, size: int) -> bytes:
        if self._on_read is not None:
            self._on_read()
        try:
            self._file.seek(self._start + offset)
            return self._file.read(max(0, min(size, self.size - offset))) or b""
        except OSError as error:
            raise self._refused(error) from error

    def _refused(self, error: Exception) -> WarcError:
        return WarcError(f"{self._path} cannot be read: {getattr(error, 'strerror', None) or error}")

    def __enter__(self) -> RawFile:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()


def is_compressed(raw: RawFile, offset: int) -> bool:
    """Return whether a gzip member or a Zstandard frame begins at an offset."""
    return raw.read(offset, 4).startswith((_GZIP, _ZSTD, _ZSTD_DICTIONARY))


@lru_cache(maxsize=8)  # called when a frame is found, and again when it is entered
def begins_record(raw: RawFile, offset: int) -> bool:
    """Return whether the decoded frame at an offset begins like a record."""
    return begins(_first_line(raw, offset))


def head_of(raw: RawFile, offset: int) -> bytes:
    """Return the first decoded bytes of the frame at an offset, as many as can be decoded."""
    head = b""
    try:
        for piece, _ in decoded(raw, offset):
            head += piece
            if len(head) >= LINE:
                break
    except FrameError:
        pass  # the caller meets the same damage when it reads the frame
    return head[:LINE]


def record_head(raw: RawFile, offset: int, most: int) -> bytes:
    """Return the head of the record that begins with the frame at an offset; b"" if none does."""
    head = _glimpse(raw, offset, _MOST_HEADS)
    if not head.startswith(b"WARC/") or not HEAD_END.search(head):
        head = _opening(raw, offset, HEAD_END, most)
    return head if begins(head) else b""


def _first_line(raw: RawFile, offset: int) -> bytes:
    """Decode the first line of a frame, or enough of it to show that no record begins with it."""
    return _opening(raw, offset, _LINE_END, LINE)


def _opening(raw: RawFile, offset: int, end: re.Pattern[bytes], most: int) -> bytes:
    """Decode a frame up to the first match of ``end``, or enough of it to show that it has no record."""
    if not may_begin(_glimpse(raw, offset)):
        return b""
    head, limit = b"", offset + LONGEST_HEADER
    try:
        for piece, until in decoded(raw, offset, PEEK):
            head += piece
            if len(head) >= most or end.search(head) or (not head and until > limit):
                break
    except FrameError:
        pass  # the caller meets the same damage when it reads the frame
    return head[:most]


def _glimpse(raw: RawFile, offset: int, size: int = OPENING) -> bytes:
    """Decode the first bytes of a gzip member, which are enough for most members without a record."""
    data = raw.read(offset, 2 * PEEK)
    if not data.startswith(_GZIP):
        return b""
    try:
        return zlib.decompressobj(wbits=31).decompress(data, size)
    except zlib.error:
        return b"\0"


def find_frame(raw: RawFile, offset: int) -> int:
    """Return the first offset from ``offset`` of a frame that begins with a record, else the size."""
    size = PEEK
    while data := raw.read(offset, size):
        size = min(2 * size, CHUNK // 2)
        for match in _COMPRESSED.finditer(data):
            if begins_record(raw, offset + match.start()):
                return offset + match.start()
        # The last bytes are read again: a header may cross the boundary.
        offset += max(len(data) - LONGEST_MAGIC + 1, 1)
    return raw.size


def decoded(raw: RawFile, offset: int, first: int = FIRST) -> Iterator[tuple[bytes, int]]:
    """Decode the frame at an offset; the first read has ``first`` bytes.

    Yields pieces, each with the offset in the file after its bytes. A plain frame extends to the end of the
    file. Raises FrameError after the last byte that can be decoded.
    """
    magic = raw.read(offset, 4)
    if magic.startswith(_GZIP):
        return _gzip(raw, offset, first)
    if magic in (_ZSTD, _ZSTD_DICTIONARY):
        return _zstd(raw, offset, first)
    return _plain(raw, offset, first)


def _plain(raw: RawFile, offset: int, size: int) -> Iterator[tuple[bytes, int]]:
    while data := raw.read(offset, size):
        offset += len(data)
        size = CHUNK
        yield data, offset


def _gzip(raw: RawFile, offset: int, size: int) -> Iterator[tuple[bytes, int]]:
    decoder, before = zlib.decompressobj(wbits=31), zlib.decompressobj(wbits=31)
    while not decoder.eof:
        data = raw.read(offset, size)
        if not data:
            raise FrameError("gzip member ends early", offset)
        try:
            piece = decoder.decompress(data, CHUNK)
        except zlib.error as error:
            piece, used = _salvage(before, data)
            yield piece, offset + used
            raise FrameError(f"gzip member is damaged ({error})", offset + used) from error
        # At the end of a member unconsumed_tail may repeat what unused_data holds.
        offset += len(data) - len(decoder.unused_data if decoder.eof else decoder.unconsumed_tail)
        size = min(2 * size, CHUNK)
        yield piece, offset
        if not decoder.eof:
            before = decoder.copy()


def _salvage(decoder: Any, data: bytes) -> tuple[bytes, int]:
    """Decode up to the damage: zlib drops the output of the call that meets it.

    Returns the output, and the number of bytes decoded. Steps are doubled, and halved after the damage.
    """
    salvaged, used, length, behind = bytearray(), 0, 64, False
    while length:
        attempt = decoder.copy()
        try:
            salvaged += attempt.decompress(data[used : used + length])
            decoder, used = attempt, used + length
        except zlib.error:
            behind = True
        length = length // 2 if behind else 2 * length
    return bytes(salvaged), used


def _zstd(raw: RawFile, offset: int, size: int) -> Iterator[tuple[bytes, int]]:
    try:
        decoder = zstd.ZstdDecompressor(zstd_dict=_dictionary(raw))
        while not decoder.eof:
            data = raw.read(offset, size) if decoder.needs_input else b""
            if decoder.needs_input and not data:
                raise FrameError("Zstandard frame ends early", offset)
            piece = decoder.decompress(data, CHUNK)
            offset += len(data) - len(decoder.unused_data)
            size = min(2 * size, CHUNK)
            yield piece, offset
    except (zstd.ZstdError, ValueError) as error:
        raise FrameError(f"Zstandard frame is damaged ({error})", offset) from error


@lru_cache(maxsize=1)  # each frame of a file needs it
def _dictionary(raw: RawFile) -> zstd.ZstdDict | None:
    """Return the dictionary in the first frame, https://iipc.github.io/warc-specifications/specifications/warc-zstd/."""
    head = raw.read(0, 8)
    if not head.startswith(_ZSTD_DICTIONARY):
        return None
    content = raw.read(8, int.from_bytes(head[4:], "little"))
    return zstd.ZstdDict(zstd.decompress(content) if content.startswith(_ZSTD) else content)
