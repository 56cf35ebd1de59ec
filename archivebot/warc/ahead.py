"""The names of the requests further on in a file, found without decoding more than the heads of records."""

from __future__ import annotations

import re
from collections.abc import Iterator

from archivebot.warc.frames import CHUNK, FRAMES, LONGEST_MAGIC, RawFile, record_head
from archivebot.warc.lines import HEAD_END
from archivebot.warc.records import RecordError, warc_fields

# Bytes of the head of a request: its URI takes most of them.
_HEAD = 1 << 16

_TYPE = re.compile(rb"\nWARC-Type\s{0,20}:\s{0,20}request", re.IGNORECASE)
_LONGEST_TYPE = 60
_BEGINNING = re.compile(rb"WARC/\d\.\d")
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
    overlap = max(LONGEST_MAGIC, _LONGEST_TYPE)
    while data := raw.read(offset, CHUNK):
        end = len(data) - overlap if len(data) == CHUNK else len(data)  # the rest is read again
        for magic in FRAMES:
            for frame in magic.finditer(data):
                if frame.start() < end:
                    head = record_head(raw, offset + frame.start(), _HEAD)
                    if _TYPE.search(head):
                        yield _without_block(head)
        for field in _TYPE.finditer(data):
            if field.start() < end:
                yield _plain_head(raw, offset + field.start())
        offset += end


def _plain_head(raw: RawFile, at: int) -> bytes:
    """Return the head that has a field at an offset."""
    before = raw.read(max(0, at - _HEAD), min(at, _HEAD))
    began = [found.start() for found in _BEGINNING.finditer(before)]
    return _without_block(before[began[-1] :] + raw.read(at, _HEAD)) if began else b""


def _without_block(head: bytes) -> bytes:
    end = HEAD_END.search(head)
    return head[: end.end()] if end else head
