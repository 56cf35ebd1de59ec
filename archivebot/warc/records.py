"""The records of a WARC or ARC file, each with its named fields and its block."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from operator import methodcaller

from archivebot.warc.damage import Report
from archivebot.warc.lines import arc_line
from archivebot.warc.source import Source

_FOLD = re.compile(r"\r?\n[ \t]+")
_CONTROL = re.compile(rb"[\x00-\x1f\x7f]")

# The fields that a record may repeat.
_REPEATED = ("warc-concurrent-to", "warc-protocol")


@dataclass(frozen=True, slots=True)
class Record:
    """One record as stored; names of fields are lower case, ``flaw`` is the fault of its frame.

    Repeated fields (WARC-Concurrent-To, WARC-Protocol) are joined with blanks. The block of a record that is
    ``cut`` ended before its Content-Length; ``framed`` is whether it ended at the right position. A record
    that is ``alone`` is not compressed, or begins a compressed frame. ``head`` is its first line and its
    named fields byte for byte; that of an ARC record is empty.
    """

    offset: int
    kind: str
    fields: dict[str, str]
    block: bytes = field(repr=False)
    flaw: str = ""
    cut: bool = False
    framed: bool = True
    alone: bool = True
    head: bytes = field(default=b"", repr=False)


_parted = methodcaller("partition", ":")


@lru_cache(maxsize=256)
def _name(name: str) -> str:
    """Return the name of a field as it is compared; the records of a file have few of them."""
    return name.strip().lower()


class RecordError(ValueError):
    """A record cannot be read; the message is the reason."""


def read_records(
    source: Source, report: Report, limit: int, is_wanted: Callable[[dict[str, str]], bool] = bool
) -> Iterator[Record]:
    """Split a source into records.

    Yields every record in order; an ARC record becomes a ``response`` with the fields of a WARC record. A
    record that ends early has the existing part of its block; a record without a usable length is yielded
    only if its block is empty. A record that is broken or larger than ``limit`` bytes is reported. The
    blocks of records that are not wanted by their fields are left out.
    """
    while source.next_record():
        offset, alone = source.offset, source.is_alone
        try:
            head, fields = read_head(source)
        except RecordError as error:
            _report_damage(source, report, offset, str(error))
            source.resync()
            continue
        cut = ""
        try:
            length = _length(fields, limit)
            there, framed = _there(source, length)
            if there < length:
                cut = f"record ends after {there} of {length} bytes"
        except RecordError as error:
            cut, there, framed = str(error), 0, source.at_empty_line()
        block = source.take(there) if is_wanted(fields) else source.skip(there)
        if cut:
            _report_damage(source, report, offset, cut)
            source.resync()
        if there or framed:
            flaw = source.flaws.get(offset, cut)
            kind = fields["warc-type"].lower()
            yield Record(offset, kind, fields, block, flaw, bool(cut), framed, alone, head)
        del block  # before the next record is read


def read_head(source: Source) -> tuple[bytes, dict[str, str]]:
    """Take the head of a record at its beginning; return it and its named fields. Raises RecordError."""
    head = source.head() if source.begins_with(b"WARC/") else b""
    return head, warc_fields(head) if head else _arc_fields(source.line())


def _report_damage(source: Source, report: Report, offset: int, reason: str) -> None:
    """Report damage once: a broken frame was already reported as the reason of a short record."""
    if source.frame not in source.flaws:
        report(offset, reason)


def _there(source: Source, length: int) -> tuple[int, bool]:
    """Return the number of existing bytes of a block, and whether the record ends after them.

    A block extends to its length, a gap, or another record inside.
    """
    there = source.fill(length)
    if there == length and source.ends_at(length):
        return length, True
    inner = source.inner_record(there)
    return there if inner is None else inner, False


def warc_fields(head: bytes) -> dict[str, str]:
    """Read named fields; a line that begins with white space continues the previous line.

    >>> warc_fields(b"WARC/1.1\\r\\nWARC-Type: re\\r\\n source\\r\\nX: a:b\\r\\n\\r\\n")
    {'warc-type': 're source', 'x': 'a:b'}
    """
    text = head.decode("utf-8", "replace")
    lines = (_FOLD.sub(" ", text) if "\n " in text or "\n\t" in text else text).split("\n")
    pairs = [(_name(name), value.strip()) for name, colon, value in map(_parted, lines[1:]) if colon]
    fields = dict(pairs)
    if len(fields) < len(pairs):
        fields = dict(reversed(pairs))  # the first of repeated ones counts
        for name in _REPEATED:
            if name in fields:
                fields[name] = " ".join(value for each, value in pairs if each == name)
    if not fields.get("warc-type"):
        raise RecordError("record has no WARC-Type")
    return fields


def _arc_fields(line: bytes) -> dict[str, str]:
    """Read the first line of an ARC record, version 1 or 2, as the fields of a WARC record.

    >>> _arc_fields(b"http://a/b c 1.2.3.4 20140216050221 text/html 1591\\n")["warc-target-uri"]
    'http://a/b c'
    """
    line = line.rstrip(b"\r\n")
    found = arc_line(line)
    if found is None or _CONTROL.search(line):
        raise RecordError("malformed ARC record line")
    url, ip, date, content_type, length = (part.decode("utf-8", "replace") for part in found)
    return {
        "warc-type": "response",
        "warc-target-uri": url,
        "warc-date": date,
        "warc-ip-address": ip,
        "content-type": content_type,
        "content-length": length,
    }


def _length(fields: dict[str, str], limit: int) -> int:
    text = fields.get("content-length")
    if text is None:
        raise RecordError("record has no Content-Length")
    if not (text.isascii() and text.isdecimal()):
        raise RecordError(f"Content-Length {text[:40]!r} is not a number")
    if len(text) > 18 or int(text) > limit:
        raise RecordError(f"record of {text[:40]} bytes is larger than the limit of {limit}")
    return int(text)
