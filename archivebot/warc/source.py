"""A WARC or ARC file as one stream of decoded bytes that finds the starts of records."""

from __future__ import annotations

import re
from collections.abc import Iterator

from archivebot.warc.damage import Report
from archivebot.warc.frames import (
    CHUNK,
    FrameError,
    RawFile,
    begins_record,
    decoded,
    find_frame,
    is_compressed,
)
from archivebot.warc.lines import HEAD_END, LINE, OPENING, begins, next_opening, opens

# Maximum bytes of the head of a record.
HEAD = 1 << 20

# The search for the next frame starts at least this far before the end of damage, because the decoder may
# have taken the start of that frame for the rest of the damaged one: it reads hundreds of random bytes.
LOOK_BACK = 1 << 10

_BLANK = re.compile(rb"[\0\r\n]*")  # zeros are what a file system leaves after a crash
_BORDER = re.compile(rb"[\r\n]{0,%d}" % LINE)
_LONGEST_HEAD_END = 4


class Source:
    """The decoded bytes of a file, read forward from record to record.

    Frames are joined seamlessly, so a record may span several frames; but if a new frame begins with a
    record, the previous record has ended. Damage between and in frames is passed to ``report``, and reading
    continues at the next frame that begins with a record. Each byte is decoded and searched a few times at
    most, whatever the file.
    """

    def __init__(self, raw: RawFile, report: Report) -> None:
        self._raw = raw
        self._report = report
        self._buffer = bytearray()
        self._at = 0
        self._start = 0  # offset of the first byte of the buffer
        self._next = 0  # offset after the bytes decoded so far
        self._dropped = 0  # bytes that were in the buffer before its first one
        self._record = -1  # the position of the record found last, counted as _dropped
        self._headless = 0  # no head of a record ends before, counted as _dropped
        self._decoded_to = 0  # the largest offset decoded so far
        self._seam = (-1, False)  # the end of a frame, and whether the next one continues its record
        self._pieces: Iterator[bytes] = iter(())
        self._compressed = False  # whether the frame is
        self.found = False  # whether anything began like a record
        self.frame = 0
        self.flaws: dict[int, str] = {}

    @property
    def offset(self) -> int:
        """The position of the next byte, counted as in Damage."""
        return self._start + self._at

    @property
    def is_alone(self) -> bool:
        """Whether what is next begins a compressed frame, or is not compressed at all."""
        return not self._compressed or self.offset == self.frame

    def next_record(self) -> bool:
        """Go to the next record and return whether there is one."""
        while self._skip_blank():
            if self._at_record():
                self.found = True
                return True
            self._report(self.offset, "bytes that belong to no record")
            self.resync()
        return False

    def resync(self) -> None:
        """Drop bytes up to the next record, or to the end of what can be read without a gap."""
        while not self._at_record():
            while (found := next_opening(self._buffer, self._at)) is None:
                self._at = max(self._at, len(self._buffer) - OPENING - 1)
                if not self._more():
                    self._at = len(self._buffer)
                    return
            self._at = found

    def begins_with(self, prefix: bytes) -> bool:
        """Return whether the bytes at a record's beginning are these."""
        return self._buffer.startswith(prefix, self._at)

    def line(self) -> bytes:
        """Take the bytes up to and including the next line end, or all before a gap."""
        end = self._buffer.find(b"\n", self._at)
        return self.take((end + 1 if end >= 0 else len(self._buffer)) - self._at)

    def head(self) -> bytes:
        """Take the bytes up to and including the first empty line, or one line if none is near."""
        while True:
            since = max(self._at, self._headless - self._dropped)
            if found := HEAD_END.search(self._buffer, since):
                return self.take(found.end() - self._at)
            end = max(self._at, len(self._buffer) - _LONGEST_HEAD_END + 1)
            self._headless = max(self._headless, self._dropped + end)
            if len(self._buffer) - self._at >= HEAD or not self._more():
                return self.line()

    def fill(self, size: int) -> int:
        """Decode the next ``size`` bytes; return the number before a gap or another record's frame."""
        while len(self._buffer) - self._at < size and self._more():
            pass
        return min(size, len(self._buffer) - self._at)

    def take(self, size: int) -> bytes:
        """Take ``size`` decoded bytes."""
        with memoryview(self._buffer) as buffer:
            data = bytes(buffer[self._at : self._at + size])
        self._at += len(data)
        return data

    def skip(self, size: int) -> bytes:
        """Leave out ``size`` decoded bytes; return none of them."""
        self._at += size
        return b""

    def inner_record(self, size: int) -> int | None:
        """Return the number of the next ``size`` bytes before another record, None if none begins."""
        end = self._at + size
        found: int | None = self._at
        while found is not None and not (found < end and begins(self._buffer, found)):
            found = next_opening(self._buffer, found, end)
        return None if found is None else found - self._at

    def ends_at(self, size: int) -> bool:
        """Return whether a record, or the end of the frame or file, follows the next ``size`` bytes."""
        while len(self._buffer) - self._at < size + LINE and self._decode():
            pass
        border = _BORDER.match(self._buffer, self._at + size)
        after = border.end() if border else self._at + size
        return after == len(self._buffer) or begins(self._buffer, after)

    def at_empty_line(self) -> bool:
        """Return whether an empty line, and then the end or a record, comes next."""
        return self.fill(1) == 1 and self._buffer[self._at] in b"\r\n" and self.ends_at(0)

    def _at_record(self) -> bool:
        """Return whether a record begins here; if so, its first line is in the buffer."""
        if self._record == self._dropped + self._at:
            return True
        while len(self._buffer) - self._at < OPENING and self._more():
            pass
        if not opens(self._buffer, self._at):
            return False
        while self._buffer.find(b"\n", self._at, self._at + LINE) < 0:
            if len(self._buffer) - self._at >= LINE or not self._more():
                break
        if not begins(self._buffer, self._at):
            return False
        self._record = self._dropped + self._at
        return True

    def _skip_blank(self) -> bool:
        """Go to the next byte that is neither zero nor a line end, in any frame; False if there is none."""
        while True:
            blank = _BLANK.match(self._buffer, self._at)
            self._at = blank.end() if blank else self._at
            if self._at < len(self._buffer):
                return True
            if not self._decode() and not self._enter_next():
                return False

    def _more(self) -> bool:
        """Add decoded bytes to the buffer, also from the next frame if it continues the same record."""
        while not self._decode():
            if not self._goes_on():
                return False
            self._enter(self._next)
        return True

    def _goes_on(self) -> bool:
        """Return whether the next frame continues the record of this one."""
        if self._seam[0] != self._next:
            compressed = is_compressed(self._raw, self._next)
            self._seam = self._next, compressed and not begins_record(self._raw, self._next)
        return self._seam[1]

    def _decode(self) -> bool:
        """Add decoded bytes of this frame to the buffer; False at the end of the frame."""
        piece = next(self._pieces, b"")
        if self._at >= CHUNK:
            self._drop()
        self._buffer += piece
        return bool(piece)

    def _drop(self) -> None:
        """Drop the taken bytes from the buffer."""
        del self._buffer[: self._at]
        self._start += self._at
        self._dropped += self._at
        self._at = 0

    def _enter_next(self) -> bool:
        """Go to the next frame with an empty buffer; False at the end of the file."""
        offset = self._skip_padding(self._next)
        if offset == self._raw.size and not self.found and not self._compressed:
            offset = find_frame(self._raw, 0)  # the beginning of a compressed file is lost
        if not self._is_frame(offset):
            self._report(offset, "bytes that belong to no record")
            offset = find_frame(self._raw, offset)
        self._next = offset
        if offset < self._raw.size:
            self._enter(offset)
        return offset < self._raw.size

    def _is_frame(self, offset: int) -> bool:
        """Return whether reading may continue here: at the start or end of the file, or at a frame."""
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
        self._drop()
        self._start = offset - len(self._buffer)
        self._compressed = is_compressed(self._raw, offset)
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
            self._next = find_frame(self._raw, self._resumed(offset, error.until))
        self._decoded_to = max(self._decoded_to, self._next)

    def _resumed(self, offset: int, damage: int) -> int:
        """Return the start of the search for the next frame after damage in the frame at an offset.

        At most as many bytes are decoded a second time as were decoded the first time.
        """
        new = max(damage - max(offset, self._decoded_to), 0)
        self._decoded_to = max(self._decoded_to, damage)
        return max(offset + 1, damage - new - LOOK_BACK)
