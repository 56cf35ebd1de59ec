"""The records of a WARC or ARC file, each with its named fields and its block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

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
    ``cut`` ended before its Content-Length; ``framed`` is whether it ended at the right position.
    """

    offset: int
    kind: str
    fields: dict[str, str]
    block: bytes = field(repr=False)
    flaw: str = ""
    cut: bool = False
    framed: bool = True


class _RecordError(ValueError):
    """A record cannot be read; the message is the reason."""


def read_records(source: Source, report: Report, limit: int) -> Iterator[Record]:
    """Split a source into records.

    Yields every record in order; an ARC record becomes a ``response`` with the fields of a WARC record. A
    record that ends early has the existing part of its block; a record without a usable length is yielded
    only if its block is empty. A record that is broken or larger than ``limit`` bytes is reported.
    """
    while source.next_record():
        offset = source.offset
        try:
            fields = _head(source)
        except _RecordError as error:
            _report_damage(source, report, offset, str(error))
            source.resync()
            continue
        cut = ""
        try:
            length = _length(fields, limit)
            there, framed = _there(source, length)
            if there < length:
                cut = f"record ends after {there} of {length} bytes"
        except _RecordError as error:
            cut, there, framed = str(error), 0, source.at_empty_line()
        block = source.take(there)
        if cut:
            _report_damage(source, report, offset, cut)
            source.resync()
        if block or framed:
            flaw = source.flaws.get(offset, cut)
            yield Record(offset, fields["warc-type"].lower(), fields, block, flaw, bool(cut), framed)


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


def _head(source: Source) -> dict[str, str]:
    return _warc_fields(source.head()) if source.begins_with(b"WARC/") else _arc_fields(source.line())


def _warc_fields(head: bytes) -> dict[str, str]:
    """Read named fields; a line that begins with white space continues the previous line.

    >>> _warc_fields(b"WARC/1.1\\r\\nWARC-Type: re\\r\\n source\\r\\nX: a:b\\r\\n\\r\\n")
    {'warc-type': 're source', 'x': 'a:b'}
    """
    fields: dict[str, str] = {}
    text = head.decode("utf-8", "replace")
    for line in (_FOLD.sub(" ", text) if "\n " in text or "\n\t" in text else text).split("\n")[1:]:
        name, colon, value = line.partition(":")
        name = name.strip().lower()
        if colon and name in _REPEATED and name in fields:
            fields[name] += " " + value.strip()
        elif colon:
            fields.setdefault(name, value.strip())
    if not fields.get("warc-type"):
        raise _RecordError("record has no WARC-Type")
    return fields


def _arc_fields(line: bytes) -> dict[str, str]:
    """Read the first line of an ARC record, version 1 or 2, as the fields of a WARC record.

    >>> _arc_fields(b"http://a/b c 1.2.3.4 20140216050221 text/html 1591\\n")["warc-target-uri"]
    'http://a/b c'
    """
    line = line.rstrip(b"\r\n")
    found = arc_line(line)
    if found is None or _CONTROL.search(line):
        raise _RecordError("malformed ARC record line")
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
        raise _RecordError("record has no Content-Length")
    if not (text.isascii() and text.isdecimal()):
        raise _RecordError(f"Content-Length {text[:40]!r} is not a number")
    if len(text) > 18 or int(text) > limit:
        raise _RecordError(f"record of {text[:40]} bytes is larger than the limit of {limit}")
    return int(text)
