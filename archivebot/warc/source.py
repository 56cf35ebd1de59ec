"""A WARC or ARC file as one stream of decoded bytes that knows where records begin."""

from __future__ import annotations

import re
from collections.abc import Iterator

from archivebot.warc.damage import Report
from archivebot.warc.frames import (
    LINE,
    RECORD,
    FrameError,
    RawFile,
    begins_record,
    decoded,
    find_frame,
    is_compressed,
)

# No head of a record is longer.
HEAD = 1 << 20

_NEXT = re.compile(rb"\n(?=" + RECORD.pattern + rb")", re.VERBOSE)
_BLANK = re.compile(rb"[\r\n]*")
_NEWLINE = re.compile(rb"\n")


class Source:
    """The decoded bytes of a file, read forward from record to record.

    Frames follow each other without a seam, so a record may span several; but where a new frame
    begins with a record, the one before has ended. Damage between and in frames goes to ``report``,
    and reading goes on at the next frame that begins with a record.
    """

    def __init__(self, raw: RawFile, report: Report) -> None:
        self._raw = raw
        self._report = report
        self._buffer = b""
        self._at = 0
        self._start = 0  # offset of the first byte of the buffer
        self._next = 0  # offset behind what was decoded so far
        self._pieces: Iterator[bytes] = iter(())
        self._plain = False
        self.found = False  # whether anything began like a record
        self.frame = 0
        self.flaws: dict[int, str] = {}

    @property
    def offset(self) -> int:
        """The place of the next byte, counted as in Damage."""
        return self._start + self._at

    @property
    def left(self) -> int | None:
        """How many bytes are left at most, or None where compression hides it."""
        return self._raw.size - self.offset if self._plain else None

    def next_record(self) -> bool:
        """Go to the next record and say whether there is one."""
        while self._skip_blank():
            if self._at_record():
                self.found = True
                return True
            self._report(self.offset, "bytes that belong to no record")
            self.resync()
        return False

    def resync(self) -> None:
        """Drop bytes up to the next record, or to the end of what can be read without a gap."""
        if self._at_record():
            return
        while (found := _NEXT.search(self._buffer, self._at)) is None:
            self._at = max(self._at, len(self._buffer) - LINE)
            if not self._more():
                self._at = len(self._buffer)
                return
        self._at = found.end()

    def begins_with(self, prefix: bytes) -> bool:
        """Say whether the bytes at a record's beginning are these."""
        return self._buffer.startswith(prefix, self._at)

    def until(self, end: re.Pattern[bytes]) -> bytes:
        """Take the bytes up to and with a match, or one line where none is near."""
        found = end.search(self._buffer, self._at)
        while found is None and len(self._buffer) - self._at < HEAD and self._more():
            found = end.search(self._buffer, self._at)
        found = found or _NEWLINE.search(self._buffer, self._at)
        return self._take((found.end() if found else len(self._buffer)) - self._at)

    def read(self, size: int) -> bytes:
        """Take ``size`` bytes, fewer where a gap, another record's frame or the end comes before."""
        pieces = [self._take(size)]
        missing = size - len(pieces[0])
        while missing and self._more():
            pieces.append(self._take(missing))
            missing -= len(pieces[-1])
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def unread(self, data: bytes) -> None:
        """Put back bytes that were read last."""
        self._start = self.offset - len(data)
        self._buffer = data + self._buffer[self._at :]
        self._at = 0

    def at_border(self) -> bool:
        """Say whether a record, the end of the frame or the end of the file comes next."""
        while len(self._buffer) - self._at < LINE and self._decode():
            pass
        after = self._after_blank()
        return after == len(self._buffer) or RECORD.match(self._buffer, after) is not None

    def _at_record(self) -> bool:
        while not RECORD.match(self._buffer, self._at):
            if len(self._buffer) - self._at >= LINE or not self._more():
                return False
        return True

    def _after_blank(self) -> int:
        blank = _BLANK.match(self._buffer, self._at)
        return blank.end() if blank else self._at

    def _skip_blank(self) -> bool:
        """Go to the next byte that is no line end, in whatever frame; False at the end of the file."""
        while True:
            self._at = self._after_blank()
            if self._at < len(self._buffer):
                return True
            if not self._decode() and not self._enter_next():
                return False

    def _take(self, size: int) -> bytes:
        data = self._buffer[self._at : self._at + size]
        self._at += len(data)
        return data

    def _more(self) -> bool:
        """Add decoded bytes to the buffer, from the next frame too if that goes on with the same record."""
        while not self._decode():
            if not is_compressed(self._raw, self._next) or begins_record(self._raw, self._next):
                return False
            self._enter(self._next)
        return True

    def _decode(self) -> bool:
        """Add decoded bytes of this frame to the buffer; False at the end of the frame."""
        piece = next(self._pieces, b"")
        self._start += self._at
        self._buffer = self._buffer[self._at :] + piece
        self._at = 0
        return bool(piece)

    def _enter_next(self) -> bool:
        """Go to the next frame with an empty buffer; False at the end of the file."""
        offset = self._skip_padding(self._next)
        if not self._is_frame(offset):
            self._report(offset, "bytes that belong to no record")
            offset = find_frame(self._raw, offset)
        self._next = offset
        if offset < self._raw.size:
            self._enter(offset)
        return offset < self._raw.size

    def _is_frame(self, offset: int) -> bool:
        """Say whether reading may go on here: at the start or end of the file, or at a frame."""
        inside = 0 < offset < self._raw.size
        return not inside or is_compressed(self._raw, offset) or begins_record(self._raw, offset)

    def _skip_padding(self, offset: int) -> int:
        """Skip zeros and line ends between compressed frames, as tape and block writers leave them."""
        while data := self._raw.read(offset, LINE):
            rest = data.lstrip(b"\0\r\n")
            offset += len(data) - len(rest)
            if rest:
                break
        return offset

    def _enter(self, offset: int) -> None:
        self._buffer = self._buffer[self._at :]
        self._at = 0
        self._start = offset - len(self._buffer)
        self._plain = not is_compressed(self._raw, offset)
        self._pieces = self._frame(offset)
        self.frame = offset

    def _frame(self, offset: int) -> Iterator[bytes]:
        try:
            for piece, after in decoded(self._raw, offset):
                self._next = after
                if piece:
                    yield piece
        except FrameError as error:
            self.flaws[offset] = str(error)
            self._report(offset, str(error))
            self._next = find_frame(self._raw, offset + 1)
