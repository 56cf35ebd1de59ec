"""The page in a record, before its request is known."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime

from archivebot.http.status import outcome_of
from archivebot.metadata import NONE, Metadata
from archivebot.models import Headers, Outcome, Page
from archivebot.urls import target
from archivebot.warc.damage import Report
from archivebot.warc.dates import record_date, repair
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
from archivebot.warc.records import Record
from archivebot.warc.requests import Asked, Place
from archivebot.warc.wire import wire_of
from archivebot.wire import Wire, bare_uri, first_header, header_fields, without_secrets

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
class Draft:
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
    metadata: Metadata = NONE

    @property
    def identity(self) -> str:
        """The id of its record; "" for none."""
        return self.record.fields.get("warc-record-id", "")

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
            metadata=self.metadata,
        )
        return WarcPage(page, self.digest, self.refers_to_uri, self.refers_to_date)


class PageError(ValueError):
    """A record lacks data that a page needs; the message says what is missing."""


def draft_of(record: Record, file: str, max_body: int, report: Report) -> Draft | None:
    """Return the page of a record, still without its request; None if the record holds no page."""
    build = BUILDERS.get(record.kind)
    if build is None:
        return None
    uri = bare_uri(record.fields.get("warc-target-uri", ""))
    if not uri and record.kind == "metadata":
        return None
    if not uri:
        raise PageError("record has no WARC-Target-URI")
    if not _WEB.match(uri):
        return None
    date = record.fields.get("warc-date", "")
    when = record_date(date)
    if when is None:
        raise PageError(f"WARC-Date {date!r} is missing or no date")
    draft = build(record, uri, when, max_body)
    if draft is None:
        return None
    for reason in draft.wrong:
        report(record.offset, reason)
    draft.reasons = (record.flaw, *draft.reasons, repair(date), *draft.wrong)
    draft.origin = f"{file}:{record.offset}"
    return draft


def _response(record: Record, uri: str, when: datetime, max_body: int) -> Draft:
    try:
        response = parse_response(record.block)
    except PayloadError as error:
        return _no_response(record, uri, when, str(error))
    body = read_body(response, max_body)
    outcome = outcome_of(response.status, body.content)
    wire = wire_of(record, when, response, body)
    headers = _headers(response, wire)
    draft = Draft(
        _place(record),
        uri,
        when,
        _shortened(record, body) or outcome,
        wire,
        response.status,
        headers,
        body.content,
        _truncation(record),
        _location(outcome, headers, uri),
    )
    return _checked(record, body, draft)


def _place(record: Record) -> Place:
    return Place(record.kind, record.fields, record.offset)


def _headers(response: Response | None, wire: Wire) -> Headers:
    """Return the headers of a response as they were received."""
    if response is None:
        return ()
    return response.headers if wire.received == response.head else wire.headers


def _location(outcome: Outcome, headers: Headers, uri: str) -> str | None:
    """Return the target of a redirect; None for another outcome."""
    location = first_header(headers, "location") if outcome is Outcome.REDIRECT else None
    return target(location, uri) if location else None


def _no_response(record: Record, uri: str, when: datetime, wrong: str) -> Draft:
    """Keep a block that is not a response unchanged, if the rest of its record is valid."""
    if not record.framed:
        raise PageError(wrong)
    outcome = Outcome.INCOMPLETE if record.cut else Outcome.PROTOCOL_ERROR
    body = record.block if record.block.strip() else b""
    faults = () if record.cut else (wrong,)  # what was cut was reported already
    digest = digest_of(record.block)
    wire = wire_of(record, when)
    return Draft(_place(record), uri, when, outcome, wire, body=body, digest=digest, wrong=faults)


def _resource(record: Record, uri: str, when: datetime, _max_body: int) -> Draft:
    body = Body(record.block, record.block, record.block)
    kind = record.fields.get("content-type")
    headers: Headers = (("Content-Type", kind),) if kind else ()
    outcome = _shortened(record, body) or outcome_of(200, record.block)
    wire, why = wire_of(record, when, None, body), _truncation(record)
    draft = Draft(_place(record), uri, when, outcome, wire, 200, headers, record.block, why)
    return _checked(record, body, draft)


def _shortened(record: Record, body: Body) -> Outcome | None:
    """Return the outcome of an incomplete page; None if it is complete."""
    if body.state is State.TOO_LONG:
        return Outcome.TOO_LARGE
    cut = record.cut or record.fields.get("warc-truncated") or body.state is State.CUT
    return Outcome.INCOMPLETE if cut else None


def _revisit(record: Record, uri: str, when: datetime, _max_body: int) -> Draft:
    try:
        response = parse_response(record.block)
    except PayloadError:
        response = None  # a revisit may leave the HTTP headers out
    fields = record.fields
    profile = fields.get("warc-profile", "").rpartition("/")[2]
    unchanged = profile == "server-not-modified" or (response is not None and response.status == 304)
    wire = wire_of(record, when, response)
    headers = _headers(response, wire)
    return Draft(
        _place(record),
        uri,
        when,
        Outcome.NOT_MODIFIED if unchanged else Outcome.UNRESOLVED,
        wire,
        response.status if response else None,
        headers,
        location=_location(outcome_of(response.status, b""), headers, uri) if response else None,
        reasons=("revisit: " + (profile or "unknown profile"),),
        digest=fields.get("warc-payload-digest"),
        refers_to_uri=bare_uri(fields.get("warc-refers-to-target-uri", "")) or None,
        refers_to_date=record_date(fields.get("warc-refers-to-date", "")),
    )


def _visit(record: Record, uri: str, when: datetime, _max_body: int) -> Draft | None:
    """Return a visit without an answer, as an export writes it; None for other metadata."""
    if record.fields.get("content-type") != _FIELDS:
        return None
    fields = dict(header_fields(record.block))
    try:
        outcome = Outcome(fields.get("outcome", ""))
    except ValueError:
        return None
    wire = wire_of(record, when)
    return Draft(_place(record), uri, when, outcome, wire, reasons=(fields.get("reason", ""),))


BUILDERS: dict[str, Callable[[Record, str, datetime, int], Draft | None]] = {
    "response": _response,
    "resource": _resource,
    "revisit": _revisit,
    "metadata": _visit,
}


def _checked(record: Record, body: Body, draft: Draft) -> Draft:
    """Add the digest and the fault to a page; the digest of a truncated record does not count."""
    digest = record.fields.get("warc-payload-digest")
    if record.cut:
        draft.digest = digest_of(body.entity)
        return draft
    fits = digest is not None and is_digest_of(digest, body)
    unfit = digest and not fits
    wrong = (body.wrong, f"bytes do not fit the payload digest {digest}" if unfit else "")
    draft.wrong = tuple(filter(None, wrong))
    if draft.outcome is Outcome.NOT_MODIFIED and not body.entity:
        return draft  # the payload is that of the visit before, which the record does not name
    draft.digest = digest if fits else digest_of(body.entity)
    return draft


def _truncation(record: Record) -> tuple[str, ...]:
    why = record.fields.get("warc-truncated")
    return (f"truncated by the crawler: {why}",) if why else ()
