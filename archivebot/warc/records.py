"""The records of a WARC or ARC file, each with its named fields and its block."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from archivebot.warc.damage import Report
from archivebot.warc.frames import RECORD
from archivebot.warc.source import Source

_BLANK_LINE = re.compile(rb"\n\r{0,2}\n")  # a second \r comes from a conversion of line ends
_NEWLINE = re.compile(rb"\n")
_INNER_RECORD = re.compile(rb"(?:\A|\n)(?:" + RECORD.pattern + rb")", re.VERBOSE)
_ARC_LINE = re.compile(r"(?P<url>\S.*?) \S+ (?P<date>\d{8,20}) (?:(?P<type>\S+).* )?(?P<length>\S+)\s*")


@dataclass(frozen=True, slots=True)
class Record:
    """One record as it is stored; names of fields are lower case, ``flaw`` says what its frame lacks."""

    offset: int
    kind: str
    fields: dict[str, str]
    block: bytes = field(repr=False)
    flaw: str = ""


class _RecordError(ValueError):
    """A record cannot be read; the message says why."""


def read_records(source: Source, report: Report, limit: int) -> Iterator[Record]:
    """Cut a source into records.

    Gives every whole record in order; an ARC record is given as a ``response`` with the fields that
    a WARC would have. What is broken, or has more than ``limit`` bytes, is reported and left out.
    """
    while source.next_record():
        offset = source.offset
        try:
            fields = _head(source)
            block = _block(source, _length(fields, limit))
        except _RecordError as error:
            # One damage, one report: a broken frame has told already why the record is short.
            if source.frame not in source.flaws:
                report(offset, str(error))
            source.resync()
            continue
        yield Record(offset, fields["warc-type"].lower(), fields, block, source.flaws.get(offset, ""))


def _head(source: Source) -> dict[str, str]:
    if source.begins_with(b"WARC/"):
        return _warc_fields(source.until(_BLANK_LINE).decode("utf-8", "replace"))
    return _arc_fields(source.until(_NEWLINE).decode("utf-8", "replace"))


def _warc_fields(head: str) -> dict[str, str]:
    """Read named fields; a line that begins with white space continues the one before.

    >>> _warc_fields("WARC/1.1\\r\\nWARC-Type: re\\r\\n source\\r\\nX: a:b\\r\\n\\r\\n")
    {'warc-type': 're source', 'x': 'a:b'}
    """
    fields: dict[str, str] = {}
    unfolded = re.sub(r"\r?\n[ \t]+", " ", head)
    for line in unfolded.split("\n")[1:]:
        name, colon, value = line.partition(":")
        if colon:
            fields.setdefault(name.strip().lower(), value.strip())
    if not fields.get("warc-type"):
        raise _RecordError("record has no WARC-Type")
    return fields


def _arc_fields(line: str) -> dict[str, str]:
    """Read the first line of an ARC record, version 1 or 2, as the fields of a WARC record.

    >>> _arc_fields("http://a/b c 1.2.3.4 20140216050221 text/html 1591\\n")["warc-target-uri"]
    'http://a/b c'
    """
    match = _ARC_LINE.fullmatch(line)
    if match is None:
        raise _RecordError("malformed ARC record line")
    return {
        "warc-type": "response",
        "warc-target-uri": match["url"],
        "warc-date": match["date"],
        "content-type": match["type"] or "",
        "content-length": match["length"],
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


def _block(source: Source, length: int) -> bytes:
    """Read a block; where its length is wrong, put it back, for a record may begin inside."""
    left = source.left
    if left is not None and length > left:
        raise _RecordError(f"record ends after {left} of {length} bytes")
    block = source.read(length)
    if len(block) < length:
        source.unread(block)
        raise _RecordError(f"record ends after {len(block)} of {length} bytes")
    if not source.at_border() and _INNER_RECORD.search(block):
        source.unread(block)
        raise _RecordError(f"Content-Length {length} is wrong: another record begins before its end")
    return block
