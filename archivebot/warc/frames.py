"""The frames of a file (gzip members, Zstandard frames, or the plain rest) and their decoded bytes.

zlib is used directly, because neither warcio nor FastWARC can tell a member that ends early from a
whole one, and both give up at the first broken member, where the records behind it are still good.
"""

from __future__ import annotations

import io
import os
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

from archivebot.codings import zstd
from archivebot.exceptions import WarcError

# Read first of a frame, as most records are small, and at a time after that. A decoded piece has at
# most CHUNK bytes, so that a decompression bomb is met piece by piece.
FIRST = 1 << 14
CHUNK = 1 << 18

# No first line of a record is longer: an ARC line holds a URL.
LINE = 1 << 13

RECORD = re.compile(
    rb"""
    WARC/\d\.\d+ [ \t]* \r{0,2}\n                                 # WARC: the version
    | [a-z][a-z0-9+.-]{1,20}:[^\r\n]{0,6000}?                     # ARC: URL
      \ [^\ \r\n]{1,100} \ \d{8,20} \ (?:[^\r\n]{0,1000}\ )?      #   address, date, type and more
      -?\w{1,20} \r?\n                                            #   length
    """,
    re.VERBOSE,
)

_GZIP = b"\x1f\x8b\x08"
_ZSTD = b"\x28\xb5\x2f\xfd"
_ZSTD_DICTIONARY = b"\x5d\x2a\x4d\x18"
_COMPRESSED = re.compile(b"|".join(map(re.escape, (_GZIP, _ZSTD))))


class FrameError(Exception):
    """A frame cannot be decoded to its end."""


class RawFile:
    """The bytes of a file by offset; what the system refuses is a WarcError."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self._file = io.FileIO(path)
            self.size = os.fstat(self._file.fileno()).st_size
        except (OSError, ValueError) as error:
            raise self._refused(error) from error

    def read(self, offset: int, size: int) -> bytes:
        """Give up to ``size`` bytes from ``offset``, none behind the end."""
        try:
            self._file.seek(offset)
            return self._file.read(size) or b""
        except OSError as error:
            raise self._refused(error) from error

    def _refused(self, error: Exception) -> WarcError:
        return WarcError(f"{self._path} cannot be read: {getattr(error, 'strerror', None) or error}")

    def __enter__(self) -> RawFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def is_compressed(raw: RawFile, offset: int) -> bool:
    """Say whether a gzip member or a Zstandard frame begins at an offset."""
    return raw.read(offset, 4).startswith((_GZIP, _ZSTD, _ZSTD_DICTIONARY))


def begins_record(raw: RawFile, offset: int) -> bool:
    """Say whether the frame at an offset decodes to something that begins like a record."""
    return RECORD.match(head_of(raw, offset)) is not None


def head_of(raw: RawFile, offset: int) -> bytes:
    """Give the first decoded bytes of the frame at an offset, as many as can be decoded."""
    head = b""
    try:
        for piece, _ in decoded(raw, offset):
            head += piece
            if len(head) >= LINE:
                break
    except FrameError:
        pass  # the caller meets the same damage when it reads the frame
    return head[:LINE]


def find_frame(raw: RawFile, offset: int) -> int:
    """Give the first offset at or behind ``offset`` of a frame that begins with a record, else the size."""
    while data := raw.read(offset, CHUNK):
        for match in _COMPRESSED.finditer(data):
            if begins_record(raw, offset + match.start()):
                return offset + match.start()
        # The last bytes are read again: a magic number may lie across the border.
        offset += max(len(data) - len(_ZSTD) + 1, 1)
    return raw.size


def decoded(raw: RawFile, offset: int) -> Iterator[tuple[bytes, int]]:
    """Decode the frame at an offset.

    Gives pieces, each with the offset in the file behind what was used for it. A plain frame goes
    to the end of the file. Raises FrameError after the last byte that can be decoded.
    """
    magic = raw.read(offset, 4)
    if magic.startswith(_GZIP):
        return _gzip(raw, offset)
    if magic in (_ZSTD, _ZSTD_DICTIONARY):
        return _zstd(raw, offset)
    return _plain(raw, offset)


def _plain(raw: RawFile, offset: int) -> Iterator[tuple[bytes, int]]:
    while data := raw.read(offset, CHUNK):
        offset += len(data)
        yield data, offset


def _gzip(raw: RawFile, offset: int) -> Iterator[tuple[bytes, int]]:
    decoder = zlib.decompressobj(wbits=31)
    size = FIRST
    while not decoder.eof:
        data = raw.read(offset, size)
        if not data:
            raise FrameError("gzip member ends early")
        before = decoder.copy()
        try:
            piece = decoder.decompress(data, CHUNK)
        except zlib.error as error:
            yield _salvage(before, data), offset
            raise FrameError(f"gzip member is damaged ({error})") from error
        # At the end of a member unconsumed_tail may repeat what unused_data holds.
        offset += len(data) - len(decoder.unused_data if decoder.eof else decoder.unconsumed_tail)
        size = CHUNK
        yield piece, offset


def _salvage(decoder: Any, data: bytes) -> bytes:
    """Decode byte by byte up to the damage: zlib drops the output of the call that meets it."""
    salvaged = bytearray()
    try:
        for start in range(len(data)):
            salvaged += decoder.decompress(data[start : start + 1])
    except zlib.error:
        pass
    return bytes(salvaged)


def _zstd(raw: RawFile, offset: int) -> Iterator[tuple[bytes, int]]:
    library = zstd()
    if library is None:
        raise WarcError("reading .zst needs Python 3.14 or the package backports.zstd")
    try:
        decoder = library.ZstdDecompressor(zstd_dict=_dictionary(raw, library))
        while not decoder.eof:
            data = raw.read(offset, CHUNK) if decoder.needs_input else b""
            if decoder.needs_input and not data:
                raise FrameError("Zstandard frame ends early")
            piece = decoder.decompress(data, CHUNK)
            offset += len(data) - len(decoder.unused_data)
            yield piece, offset
    except (library.ZstdError, ValueError) as error:
        raise FrameError(f"Zstandard frame is damaged ({error})") from error


def _dictionary(raw: RawFile, library: Any) -> Any:
    """Give the dictionary in the first frame, https://iipc.github.io/warc-specifications/specifications/warc-zstd/."""
    head = raw.read(0, 8)
    if not head.startswith(_ZSTD_DICTIONARY):
        return None
    content = raw.read(8, int.from_bytes(head[4:], "little"))
    return library.ZstdDict(library.decompress(content) if content.startswith(_ZSTD) else content)
