"""Which answers of a file are to requests that are no plain GET, read before its pages are."""

from __future__ import annotations

import re
from contextlib import suppress

from archivebot.urls.method import PLAIN, with_method
from archivebot.warc.frames import RawFile
from archivebot.warc.payload import HEADERS_END, PayloadError, unchunk
from archivebot.warc.records import Record, read_records
from archivebot.warc.source import Source

_REQUEST_LINE = re.compile(rb"([A-Za-z]{1,20})[ \t]")
_CHUNKED = re.compile(rb"\ntransfer-encoding:[ \t]*chunked", re.IGNORECASE)
_CONTENT_TYPE = re.compile(rb"\ncontent-type:[ \t]*([^\r\n]*)", re.IGNORECASE)

CONCURRENT = "warc-concurrent-to"
ANSWERS = frozenset(("response", "revisit", "resource"))


class Requests:
    """The URLs of the answers to requests with another method than GET and HEAD, or with a body.

    A request belongs to the answer that one of the two names by WARC-Concurrent-To; without that, to
    the one directly before or behind it in the file if that has the same URI and date. Only requests
    that are no plain GET are kept in memory.
    """

    def __init__(self, raw: RawFile, limit: int) -> None:
        self._of_answer: dict[str, str] = {}  # by the id of the answer
        self._of_request: dict[str, str] = {}  # by the id of the request
        self._at: dict[int, str] = {}  # by the offset of the answer
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

    def url(self, answer: Record, uri: str) -> str:
        """Return the URL under which an answer is kept, that of its page for a plain GET."""
        if not (self._of_answer or self._of_request or self._at):
            return uri
        found = self._of_answer.get(answer.fields.get("warc-record-id", "")) or self._at.get(answer.offset)
        for request in answer.fields.get(CONCURRENT, "").split():
            found = found or self._of_request.get(request)
        return found or uri

    def _request(self, request: Record, before: Record | None) -> Record | None:
        """Take a request in; return it if its answer may come next."""
        url = _url(request)
        if url:
            self._of_request[request.fields.get("warc-record-id", "")] = url
            self._of_answer.update(dict.fromkeys(request.fields.get(CONCURRENT, "").split(), url))
        if before is not None and before.kind in ANSWERS and _are_neighbours(request, before):
            self._neighbours(request, before)
            return None
        return request

    def _neighbours(self, request: Record, answer: Record) -> None:
        if url := _url(request):
            self._at[answer.offset] = url


def _unheard(_offset: int, _reason: str) -> None:
    """Take a report of damage, which is made again when the pages are read."""


def _are_neighbours(request: Record, answer: Record) -> bool:
    """Return whether two records that stand side by side and name none belong together."""
    same = all(
        request.fields.get(name) == answer.fields.get(name) for name in ("warc-target-uri", "warc-date")
    )
    return same and answer.kind in ANSWERS and CONCURRENT not in request.fields | answer.fields


def _url(request: Record) -> str:
    """Return the URL under which the answer to a request is kept; "" if it is that of its page."""
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
