"""The names of the requests further on in a file, found without decoding more than the heads of records."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from archivebot.warc.frames import CHUNK, FRAMES, LONGEST_MAGIC, RawFile, record_head
from archivebot.warc.lines import HEAD_END
from archivebot.warc.records import RecordError, warc_fields

# Bytes of the head of a request: its URI takes most of them.
_HEAD = 1 << 16

_TYPE = re.compile(rb"\nWARC-Type\s{0,20}:\s{0,20}request", re.IGNORECASE)

# The beginning of a plain record; what follows other characters of a line is a part of a value. An expression
# that begins with these characters takes many times as long.
_BEGINNING = re.compile(rb"WARC/(?<![\x20-\x7e]WARC/)\d\.\d")
_NAMES = ("warc-record-id", "warc-concurrent-to")


def request_names(raw: RawFile, offset: int) -> set[str]:
    """Return the ids of all requests from an offset on, and the ids that these name.

    A compressed request is found if its frame begins with it, a plain one anywhere. A few more names may be
    found: those of requests inside other records.
    """
    found: set[str] = set()
    for head in _heads(raw, offset):
        try:
            fields = warc_fields(head)
        except RecordError:
            continue
        if fields["warc-type"].lower() == "request":
            found.update(*(fields[name].split() for name in _NAMES if name in fields))
    return found


def _heads(raw: RawFile, offset: int) -> Iterator[bytes]:
    """Yield what may be the heads of requests."""
    overlap = max(LONGEST_MAGIC, _HEAD)
    while data := raw.read(offset, CHUNK + overlap):
        end = len(data) - overlap if len(data) == CHUNK + overlap else len(data)  # the rest is read again
        for magic in FRAMES:
            for frame in magic.finditer(data):
                if frame.start() < end:
                    head = record_head(raw, offset + frame.start(), _HEAD)
                    if _TYPE.search(head):
                        yield _without_block(head)
        yield from _plain_heads(data, end)
        offset += end


def _plain_heads(data: bytes, end: int) -> Iterator[bytes]:
    """Yield what may be the heads of plain requests that begin before an end.

    A head ends before the next one begins, so that no byte is looked at twice.
    """
    begins = [found.start() for found in _BEGINNING.finditer(data)]
    for at, after in pairwise((*begins, len(data))):
        if at < end:
            head = _without_block(data[at : min(after, at + _HEAD)])
            if _TYPE.search(head):
                yield head


def _without_block(head: bytes) -> bytes:
    end = HEAD_END.search(head)
    return head[: end.end()] if end else head
