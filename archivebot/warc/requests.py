"""The requests of a file and their answers, found as the records are read."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from archivebot.urls.method import PLAIN, with_method
from archivebot.warc.ahead import request_names
from archivebot.warc.frames import RawFile
from archivebot.warc.lines import HEAD_END
from archivebot.warc.payload import PayloadError, unchunk
from archivebot.warc.records import Record, read_records
from archivebot.warc.source import HEAD, Source
from archivebot.wire import bare_uri

_REQUEST_LINE = re.compile(rb"([A-Za-z]{1,20})[ \t]")
_CHUNKED = re.compile(rb"\ntransfer-encoding:[ \t]*chunked", re.IGNORECASE)
_CONTENT_TYPE = re.compile(rb"\ncontent-type:[ \t]*([^\r\n]*)", re.IGNORECASE)

IDENTITY, CONCURRENT = "warc-record-id", "warc-concurrent-to"
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


class Place(NamedTuple):
    """A record without its block."""

    kind: str
    fields: dict[str, str]
    offset: int


class Requests:
    """The requests of a file by their answers.

    A request belongs to an answer if one of the two names the other by WARC-Concurrent-To. Otherwise it
    belongs to the answer directly before or after it in the file if URI and date are the same; some writers
    name the first record of the file in WARC-Concurrent-To, which does not count. Their heads
    are kept in memory, with shared lines stored once: some 400 bytes for each.

    All known writers put a request beside its answer. If an answer has no request beside it, the names of all
    requests further on are collected, without decoding more than their heads. Only if the answer is among
    these names, or if frames hold several records, all requests are read ahead.
    """

    def __init__(self, raw: RawFile, limit: int) -> None:
        self._raw, self._limit = raw, limit
        self._of_answer: dict[str, Asked] = {}  # by the id of the answer
        self._of_request: dict[str, Asked] = {}  # by the id of the request
        self._beside: dict[int, Asked] = {}  # by the offset of the answer
        self._lines: dict[bytes, bytes] = {}
        self._infos: set[str] = set()  # the ids of records that describe the file
        self._before: tuple[Place, Asked | None] | None = None  # the record before, unless it has a partner
        self._several = False  # whether a compressed frame held several records
        self._names: set[str] | None = None  # of requests further on, and of their answers
        self._all: Requests | None = None

    def add(self, record: Record) -> None:
        """Take the next record of the file."""
        self._several = self._several or not record.alone
        if record.kind == "warcinfo":
            self._infos.update(record.fields.get(IDENTITY, "").split())
        place = Place(record.kind, record.fields, record.offset)
        before, self._before = self._before, None
        if record.kind == "request":
            asked = self._request(record)
            if before and before[1] is None and self._are_neighbours(place, before[0]):
                self._beside[before[0].offset] = asked
            else:
                self._before = place, asked
        elif before and before[1] and self._are_neighbours(before[0], place):
            self._beside[record.offset] = before[1]
        elif record.kind in ANSWERS:
            self._before = place, None

    def of(self, answer: Place) -> Asked | None:
        """Return the request of an answer, None if the file has none; the record after it was taken, too."""
        beside = self._beside.pop(answer.offset, None)
        return self._named(answer) or beside or self._further_on(answer)

    def _named(self, answer: Place) -> Asked | None:
        """Return the request that names an answer or is named by it, if it was taken."""
        found = self._of_answer.get(answer.fields.get(IDENTITY, ""))
        for request in answer.fields.get(CONCURRENT, "").split():
            found = found or self._of_request.get(request)
        return found

    def _further_on(self, answer: Place) -> Asked | None:
        """Return a request that is neither beside its answer nor before it."""
        names = {*answer.fields.get(IDENTITY, "").split(), *answer.fields.get(CONCURRENT, "").split()}
        if not names:  # as in ARC files, which have no requests
            return None
        if self._all is None:
            if self._names is None and not self._several:
                self._names = request_names(self._raw, answer.offset)
            if not self._several and self._names is not None and self._names.isdisjoint(names):
                return None
            self._all = Requests(self._raw, self._limit)
            source = Source(self._raw, _unheard)
            for record in read_records(source, _unheard, self._limit, is_request):
                self._all.add(record)
        return self._all._named(answer)

    def _request(self, request: Record) -> Asked:
        """Note a request under its id and the ids that it names."""
        end = HEAD_END.search(request.block)
        head = request.block[: end.end()] if end else request.block[:HEAD]
        line, feed, lines = head.partition(b"\n")
        asked = Asked(_url(request, end), line + feed, self._lines.setdefault(lines, lines))
        if identity := request.fields.get(IDENTITY):
            self._of_request[identity] = asked
        if CONCURRENT in request.fields:
            self._of_answer.update(dict.fromkeys(request.fields[CONCURRENT].split(), asked))
        return asked

    def _are_neighbours(self, request: Place, answer: Place) -> bool:
        """Return whether two adjacent records that name no other one belong together."""
        asked, answered = request.fields, answer.fields
        named = {*asked.get(CONCURRENT, "").split(), *answered.get(CONCURRENT, "").split()}
        if answer.kind not in ANSWERS or not named <= self._infos:
            return False
        return all(asked.get(name) == answered.get(name) for name in ("warc-target-uri", "warc-date"))


def is_request(fields: dict[str, str]) -> bool:
    """Return whether the fields of a record are those of a request."""
    return fields["warc-type"].lower() == "request"


def _unheard(_offset: int, _reason: str) -> None:
    """Ignore a report of damage, which is repeated when the pages are read."""


def _url(request: Record, end: re.Match[bytes] | None) -> str:
    """Return the URL under which the answer to a request is stored; "" for the URL of the page.

    ``end`` is the end of the head of the request.
    """
    line = _REQUEST_LINE.match(request.block)
    if line is None:
        return ""
    method = line[1].decode()
    body = request.block[end.end() :] if end else b""
    if method.upper() in PLAIN and not body.strip():
        return ""
    head = request.block[: end.start()] if end else request.block
    if _CHUNKED.search(head):
        with suppress(PayloadError):
            body, _ = unchunk(body)
    kind = _CONTENT_TYPE.search(head)
    uri = bare_uri(request.fields.get("warc-target-uri", ""))
    return with_method(uri, method, kind[1].decode("latin-1") if kind else "", body)
