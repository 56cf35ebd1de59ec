"""The pages of a WARC or ARC file, in the order of their records."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime

from archivebot.exceptions import WarcError
from archivebot.http.status import outcome_of
from archivebot.models import Headers, Outcome, Page
from archivebot.urls import joined
from archivebot.warc.damage import Damage, Report
from archivebot.warc.dates import record_date, repair
from archivebot.warc.frames import RawFile, head_of, is_compressed
from archivebot.warc.inputs import Input
from archivebot.warc.payload import (
    Body,
    PayloadError,
    Response,
    State,
    digest_of,
    is_digest_of,
    parse_response,
    read_body,
)
from archivebot.warc.records import Record, read_records
from archivebot.warc.requests import Asked, Place, Requests, is_request
from archivebot.warc.source import HEAD, Source
from archivebot.warc.wire import wire_of
from archivebot.wire import Wire, first_header, header_fields, without_secrets

# Larger bodies stay coded, larger records are skipped; 512 MiB is above every page of a crawl with Scrapy's
# largest sensible DOWNLOAD_MAXSIZE, and fits in the memory of a small machine.
MAX_BODY = 512 << 20

_FOREIGN: dict[bytes, str] = {
    b"PK\x03\x04": "a ZIP file without WARC files",
    b"<": "HTML or XML",
    b"{": "JSON",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a PNG image",
    b"SQLite format 3\0": "an SQLite database",
    b"BZh": "bzip2 data",
    b"\xfd7zXZ\0": "xz data",
    b"7z\xbc\xaf": "a 7-Zip file",
    b"\x7fELF": "a program",
}

_FIELDS = "application/warc-fields"
_WEB = re.compile(r"https?://", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class WarcPage:
    """A page from a file, with the data needed to resolve a revisit.

    ``page`` of a revisit has no body, and the outcome UNRESOLVED, or NOT_MODIFIED after a 304; its content is
    in the record with the same ``payload_digest``, or in the record of ``refers_to_uri`` at
    ``refers_to_date``. ``payload_digest`` is the recorded digest if the payload matches it, else computed
    (sha1 of the payload without chunks), and None for a revisit without one.
    """

    page: Page
    payload_digest: str | None
    refers_to_uri: str | None = None
    refers_to_date: datetime | None = None


@dataclass(slots=True)
class _Draft:
    """A page in the making: ``wrong`` are the faults of its bytes, ``record`` is its record."""

    record: Place
    url: str
    when: datetime
    outcome: Outcome
    wire: Wire
    status: int | None = None
    headers: Headers = ()
    body: bytes = field(default=b"", repr=False)
    reasons: tuple[str, ...] = ()
    location: str | None = None
    origin: str = ""
    digest: str | None = None
    refers_to_uri: str | None = None
    refers_to_date: datetime | None = None
    wrong: tuple[str, ...] = ()

    def done(self, asked: Asked | None) -> WarcPage:
        """Return the page with the data of its request: the URL, and the head without secrets."""
        wire = self.wire
        if asked is not None:
            request, left_out = without_secrets(asked.head)
            wire = replace(wire, request=request, left_out=left_out)
        page = Page(
            url=(asked and asked.url) or self.url,
            captured_at=self.when,
            outcome=self.outcome,
            status=self.status,
            headers=self.headers,
            body=self.body,
            location=self.location,
            reason="; ".join(filter(None, self.reasons)),
            origin=self.origin,
            wire=wire,
        )
        return WarcPage(page, self.digest, self.refers_to_uri, self.refers_to_date)


class _PageError(ValueError):
    """A record lacks data that a page needs; the message says what is missing."""


def read_pages(
    path: Input,
    on_damage: Callable[[Damage], None],
    max_body: int = MAX_BODY,
    on_skip: Callable[[str], None] | None = None,
) -> Iterator[WarcPage]:
    """Stream the pages of a WARC (0.18, 1.0, 1.1) or ARC file, plain or compressed.

    Yields one item for each response, revisit and resource record of an http(s) URI and for each such ARC
    record, its body without transfer and content codings. The URL of an answer to another request than a
    plain GET holds the method and the body of the request. One record at a time is in memory. Damage is
    reported to ``on_damage``, and reading continues after it; the reason why a record is no page is reported
    to ``on_skip``. A body that ends early or that its writer
    truncated has the outcome INCOMPLETE, a body that decodes to more than ``max_body`` bytes TOO_LARGE; both
    keep their content codings. A body that does not fit its digest is kept; the page's reason says so. Raises
    WarcError at the first item if the file cannot be read or holds no record at all.
    """

    def report(offset: int, reason: str) -> None:
        on_damage(Damage(path.name, offset, reason))

    with RawFile(path) as raw:
        _refuse_foreign(path, raw)
        requests = Requests(raw, max_body + HEAD)
        source = Source(raw, report)
        draft: _Draft | None = None  # of the record before: its request may come after it
        for record in read_records(source, report, max_body + HEAD, _is_read):
            requests.add(record)
            if draft is not None:
                yield draft.done(requests.of(draft.record))
                draft = None
            try:
                draft = _draft(record, path.name, max_body, report)
                if draft is None and on_skip is not None:
                    on_skip(_why_skipped(record))
            except _PageError as error:
                if not record.cut:  # that was reported already
                    report(record.offset, str(error))
            del record  # before the next one is read
        if draft is not None:
            yield draft.done(requests.of(draft.record))
        if raw.size and not source.found:
            raise _not_a_warc(path, raw)


def first_date(path: Input) -> datetime | None:
    """Return the date of the first dated record of a file; None if there is none."""
    with suppress(WarcError), RawFile(path) as raw:
        source = Source(raw, lambda offset, reason: None)
        for record in read_records(source, lambda offset, reason: None, MAX_BODY):
            if when := record_date(record.fields.get("warc-date", "")):
                return when
    return None


def _refuse_foreign(path: Input, raw: RawFile) -> None:
    """Refuse a file of another known format at once, before a search for records in all of it."""
    if head_of(raw, 0).startswith(tuple(_FOREIGN)):
        raise _not_a_warc(path, raw)


def _not_a_warc(path: Input, raw: RawFile) -> WarcError:
    head = head_of(raw, 0)
    known = (name for magic, name in _FOREIGN.items() if head.startswith(magic))
    looks = next(known, f"unknown data that begin with {head[:16]!r}")
    wrapped = "compressed, and inside it is " if is_compressed(raw, 0) else ""
    return WarcError(
        f"{path} is not a WARC or ARC file: it is {wrapped}{looks}; "
        "expected is a file whose records begin with WARC/1.0, WARC/1.1 or an ARC line"
    )


def _draft(record: Record, file: str, max_body: int, report: Report) -> _Draft | None:
    """Return the page of a record, still without its request; None if the record holds no page."""
    build = _BUILDERS.get(record.kind)
    if build is None:
        return None
    uri = record.fields.get("warc-target-uri", "").strip("<> ")
    if not uri and record.kind == "metadata":
        return None
    if not uri:
        raise _PageError("record has no WARC-Target-URI")
    if not _WEB.match(uri):
        return None
    date = record.fields.get("warc-date", "")
    when = record_date(date)
    if when is None:
        raise _PageError(f"WARC-Date {date!r} is missing or no date")
    draft = build(record, uri, when, max_body)
    if draft is None:
        return None
    for reason in draft.wrong:
        report(record.offset, reason)
    draft.reasons = (record.flaw, *draft.reasons, repair(date), *draft.wrong)
    draft.origin = f"{file}:{record.offset}"
    return draft


def _response(record: Record, uri: str, when: datetime, max_body: int) -> _Draft:
    try:
        response = parse_response(record.block)
    except PayloadError as error:
        return _no_response(record, uri, when, str(error))
    body = read_body(response, max_body)
    outcome = outcome_of(response.status, body.content)
    wire = wire_of(record, when, response, body)
    headers = _headers(response, wire)
    target = first_header(headers, "location") if outcome is Outcome.REDIRECT else None
    draft = _Draft(
        _place(record),
        uri,
        when,
        _shortened(record, body) or outcome,
        wire,
        response.status,
        headers,
        body.content,
        _truncation(record),
        joined(uri, target) if target else None,
    )
    return _checked(record, body, draft)


def _place(record: Record) -> Place:
    return Place(record.kind, record.fields, record.offset)


def _headers(response: Response | None, wire: Wire) -> Headers:
    """Return the headers of a response as they were received."""
    if response is None:
        return ()
    return response.headers if wire.received == response.head else wire.headers


def _no_response(record: Record, uri: str, when: datetime, wrong: str) -> _Draft:
    """Keep a block that is not a response unchanged, if the rest of its record is valid."""
    if not record.framed:
        raise _PageError(wrong)
    outcome = Outcome.INCOMPLETE if record.cut else Outcome.PROTOCOL_ERROR
    body = record.block if record.block.strip() else b""
    faults = () if record.cut else (wrong,)  # what was cut was reported already
    digest = digest_of(record.block)
    wire = wire_of(record, when)
    return _Draft(_place(record), uri, when, outcome, wire, body=body, digest=digest, wrong=faults)


def _resource(record: Record, uri: str, when: datetime, _max_body: int) -> _Draft:
    body = Body(record.block, record.block, record.block)
    kind = record.fields.get("content-type")
    headers: Headers = (("Content-Type", kind),) if kind else ()
    outcome = _shortened(record, body) or outcome_of(200, record.block)
    wire, why = wire_of(record, when, None, body), _truncation(record)
    draft = _Draft(_place(record), uri, when, outcome, wire, 200, headers, record.block, why)
    return _checked(record, body, draft)


def _shortened(record: Record, body: Body) -> Outcome | None:
    """Return the outcome of an incomplete page; None if it is complete."""
    if body.state is State.TOO_LONG:
        return Outcome.TOO_LARGE
    cut = record.cut or record.fields.get("warc-truncated") or body.state is State.CUT
    return Outcome.INCOMPLETE if cut else None


def _revisit(record: Record, uri: str, when: datetime, _max_body: int) -> _Draft:
    try:
        response = parse_response(record.block)
    except PayloadError:
        response = None  # a revisit may leave the HTTP headers out
    fields = record.fields
    profile = fields.get("warc-profile", "").rpartition("/")[2]
    unchanged = profile == "server-not-modified" or (response is not None and response.status == 304)
    wire = wire_of(record, when, response)
    return _Draft(
        _place(record),
        uri,
        when,
        Outcome.NOT_MODIFIED if unchanged else Outcome.UNRESOLVED,
        wire,
        response.status if response else None,
        _headers(response, wire),
        reasons=("revisit: " + (profile or "unknown profile"),),
        digest=fields.get("warc-payload-digest"),
        refers_to_uri=fields.get("warc-refers-to-target-uri", "").strip("<> ") or None,
        refers_to_date=record_date(fields.get("warc-refers-to-date", "")),
    )


def _visit(record: Record, uri: str, when: datetime, _max_body: int) -> _Draft | None:
    """Return a visit without an answer, as an export writes it; None for other metadata."""
    if record.fields.get("content-type") != _FIELDS:
        return None
    fields = dict(header_fields(record.block))
    try:
        outcome = Outcome(fields.get("outcome", ""))
    except ValueError:
        return None
    wire = wire_of(record, when)
    return _Draft(_place(record), uri, when, outcome, wire, reasons=(fields.get("reason", ""),))


_BUILDERS: dict[str, Callable[[Record, str, datetime, int], _Draft | None]] = {
    "response": _response,
    "resource": _resource,
    "revisit": _revisit,
    "metadata": _visit,
}


# Why the records of these types are no pages.
_SKIPPED = {
    "warcinfo": "warcinfo: describes the file",
    "request": "request: its head is kept with its answer, if the file has one",
    "metadata": "metadata: describes other records",
    "conversion": "conversion: another form of a page",
    "continuation": "continuation: the rest of a record in another file",
}


def _why_skipped(record: Record) -> str:
    if record.fields.get("warc-target-uri", "").startswith("filedesc:"):  # the first record of an ARC file
        return _SKIPPED["warcinfo"]
    if record.kind in _BUILDERS and record.kind != "metadata":
        return f"{record.kind}: its URI is not of the web"
    return _SKIPPED.get(record.kind, "of a type that is not known")


def _is_read(fields: dict[str, str]) -> bool:
    """Return whether the block of a record is needed."""
    kind = fields["warc-type"].lower()
    if kind == "metadata":
        return fields.get("content-type") == _FIELDS
    return kind in _BUILDERS or is_request(fields)


def _checked(record: Record, body: Body, draft: _Draft) -> _Draft:
    """Add the digest and the fault to a page; the digest of a truncated record does not count."""
    digest = record.fields.get("warc-payload-digest")
    if record.cut:
        draft.digest = digest_of(body.entity)
        return draft
    fits = digest is not None and is_digest_of(digest, body)
    unfit = digest and not fits
    wrong = (body.wrong, f"bytes do not fit the payload digest {digest}" if unfit else "")
    draft.wrong = tuple(filter(None, wrong))
    draft.digest = digest if fits else digest_of(body.entity)
    return draft


def _truncation(record: Record) -> tuple[str, ...]:
    why = record.fields.get("warc-truncated")
    return (f"truncated by the crawler: {why}",) if why else ()
