"""The requests of a file, read before its pages, and the answer of each request."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass

from archivebot.urls.method import PLAIN, with_method
from archivebot.warc.frames import RawFile
from archivebot.warc.payload import HEADERS_END, PayloadError, unchunk
from archivebot.warc.records import Record, read_records
from archivebot.warc.source import HEAD, Source

_REQUEST_LINE = re.compile(rb"([A-Za-z]{1,20})[ \t]")
_CHUNKED = re.compile(rb"\ntransfer-encoding:[ \t]*chunked", re.IGNORECASE)
_CONTENT_TYPE = re.compile(rb"\ncontent-type:[ \t]*([^\r\n]*)", re.IGNORECASE)

CONCURRENT = "warc-concurrent-to"
ANSWERS = frozenset(("response", "revisit", "resource"))


@dataclass(frozen=True, slots=True)
class Asked:
    """A request: the URL under which its answer is stored ("" for the URL of the page), and its head.

    ``line`` is the first line of the head, ``lines`` are the others, which most requests share.
    """

    url: str
    line: bytes
    lines: bytes

    @property
    def head(self) -> bytes:
        return self.line + self.lines


class Requests:
    """The requests of a file by their answers.

    A request belongs to an answer if one of the two names the other by WARC-Concurrent-To. Otherwise it
    belongs to the answer directly before or after it in the file if URI and date are the same. Their heads
    are kept in memory, with shared lines stored once: some 400 bytes for each.
    """

    def __init__(self, raw: RawFile, limit: int) -> None:
        self._of_answer: dict[str, Asked] = {}  # by the id of the answer
        self._of_request: dict[str, Asked] = {}  # by the id of the request
        self._at: dict[int, Asked] = {}  # by the offset of the answer
        self._lines: dict[bytes, bytes] = {}
        before: Record | None = None
        source = Source(raw, _unheard)
        for record in read_records(source, _unheard, limit):
            if record.fields.get("warc-target-uri", "").startswith("filedesc:"):  # ARC files have no requests
                break
            if record.kind == "request":
                before = self._request(record, before)
            elif before is not None and before.kind == "request" and _are_neighbours(before, record):
                self._neighbours(before, record)
                before = None
            else:
                before = record if record.kind in ANSWERS else None

    def of(self, answer: Record) -> Asked | None:
        """Return the request of an answer, None if the file has none."""
        found = self._of_answer.get(answer.fields.get("warc-record-id", "")) or self._at.get(answer.offset)
        for request in answer.fields.get(CONCURRENT, "").split():
            found = found or self._of_request.get(request)
        return found

    def _request(self, request: Record, before: Record | None) -> Record | None:
        """Add a request; return it if its answer may come next."""
        asked, answers = self._asked(request), request.fields.get(CONCURRENT, "").split()
        if identity := request.fields.get("warc-record-id"):
            self._of_request[identity] = asked
        self._of_answer.update(dict.fromkeys(answers, asked))
        if before is not None and before.kind in ANSWERS and _are_neighbours(request, before):
            self._neighbours(request, before)
            return None
        return request

    def _neighbours(self, request: Record, answer: Record) -> None:
        self._at[answer.offset] = self._asked(request)

    def _asked(self, request: Record) -> Asked:
        end = HEADERS_END.search(request.block)
        head = request.block[: end.end()] if end else request.block[:HEAD]
        line, feed, lines = head.partition(b"\n")
        return Asked(_url(request), line + feed, self._lines.setdefault(lines, lines))


def _unheard(_offset: int, _reason: str) -> None:
    """Ignore a report of damage, which is repeated when the pages are read."""


def _are_neighbours(request: Record, answer: Record) -> bool:
    """Return whether two adjacent records without WARC-Concurrent-To belong together."""
    same = all(
        request.fields.get(name) == answer.fields.get(name) for name in ("warc-target-uri", "warc-date")
    )
    return same and answer.kind in ANSWERS and CONCURRENT not in request.fields | answer.fields


def _url(request: Record) -> str:
    """Return the URL under which the answer to a request is stored; "" for the URL of the page."""
    line = _REQUEST_LINE.match(request.block)
    if line is None:
        return ""
    end = HEADERS_END.search(request.block)
    head = request.block[: end.start()] if end else request.block
    body = request.block[end.end() :] if end else b""
    method = line[1].decode()
    if method.upper() in PLAIN and not body.strip():
        return ""
    if _CHUNKED.search(head):
        with suppress(PayloadError):
            body, _ = unchunk(body)
    kind = _CONTENT_TYPE.search(head)
    uri = request.fields.get("warc-target-uri", "").strip("<> ")
    return with_method(uri, method, kind[1].decode("latin-1") if kind else "", body)
