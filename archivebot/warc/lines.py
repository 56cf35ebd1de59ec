"""The first lines of records, and the search for them among other bytes, in linear time."""

from __future__ import annotations

import re
from typing import NamedTuple

# Maximum length of the first line of a record: an ARC line holds a URL.
LINE = 1 << 13

# The first bytes of a record; no match is longer than OPENING.
_OPENING = re.compile(rb"WARC/\d|[a-z][a-z0-9+.-]{1,20}:")
OPENING = 22
_NEXT = re.compile(rb"\n(?=" + _OPENING.pattern + rb")")

_WARC = re.compile(rb"WARC/\d\.\d+[ \t]*\r{0,2}\n")  # a second \r comes from a conversion of line ends
HEAD_END = re.compile(rb"\n\r{0,2}\n")  # the same
_LENGTH = re.compile(rb"-?\w{1,20}")
_ADDRESS_AND_DATE = re.compile(rb" ([^ ]{1,100}) (\d{8,20}) ")
_LONGEST_REST = 1000


class ArcLine(NamedTuple):
    """The fields of the first line of an ARC record that a page needs."""

    url: bytes
    ip: bytes
    date: bytes
    content_type: bytes
    length: bytes


def arc_line(line: bytes) -> ArcLine | None:
    """Read the first line of an ARC record, version 1 or 2; return None if it is not such a line.

    The URL may contain blanks: it ends two words before the first word that is a date.

    >>> arc_line(b"http://a/b c 1.2.3.4 20140216050221 text/html 1591")[:3]
    (b'http://a/b c', b'1.2.3.4', b'20140216050221')
    """
    found = _ADDRESS_AND_DATE.search(line)
    if not found or not found.start():
        return None
    rest = line[found.end() :]
    content_type, blank, _ = rest.partition(b" ")
    length = rest.rpartition(b" ")[2]
    if not _LENGTH.fullmatch(length) or len(rest) > _LONGEST_REST:
        return None
    return ArcLine(line[: found.start()], found[1], found[2], content_type if blank else b"", length)


def begins(data: bytes | bytearray, at: int = 0) -> bool:
    """Return whether a record begins at a position."""
    if not _OPENING.match(data, at):
        return False
    if _WARC.match(data, at):
        return True
    end = data.find(b"\n", at, at + LINE)
    return end >= 0 and arc_line(bytes(data[at:end]).removesuffix(b"\r")) is not None


def opens(data: bytearray, at: int) -> bool:
    """Return whether the bytes at a position may be the first bytes of a record."""
    return _OPENING.match(data, at) is not None


def may_begin(head: bytes | bytearray) -> bool:
    """Return whether a record may begin with these bytes, which may be incomplete.

    >>> may_begin(b""), may_begin(b"WAR"), may_begin(b"http"), may_begin(b"<html>"), may_begin(b"no: ")
    (True, True, True, False, True)
    """
    head = bytes(head[:OPENING])
    if len(head) == OPENING or b":" in head:
        return _OPENING.match(head) is not None
    return b"WARC/".startswith(head[:5]) or re.fullmatch(rb"[a-z][a-z0-9+.-]*", head) is not None


def next_opening(data: bytearray, at: int, end: int | None = None) -> int | None:
    """Return the next position, after a line end, where a record may begin by its first bytes."""
    found = _NEXT.search(data, at) if end is None else _NEXT.search(data, at, end)
    return found.end() if found else None
