"""The facts of the exchange in a record."""

from __future__ import annotations

from datetime import datetime

from archivebot.warc.masking import coded_length, unmasked, was_decoded
from archivebot.warc.payload import Body, Response, State
from archivebot.warc.records import Record
from archivebot.wire import Wire, protocol_of


def wire_of(
    record: Record, when: datetime, response: Response | None = None, body: Body | None = None
) -> Wire:
    """Return the facts of the exchange of a record, still without its request."""
    fields, stored = record.fields, response.head if response else b""
    head = unmasked(stored)
    decoded = body is not None and body.content is not body.entity
    length = len(body.entity) if body else None
    if head != stored and was_decoded(stored):
        decoded, length = True, coded_length(head)
    cut = record.cut or (body is not None and body.state is State.CUT)
    named = fields.get("warc-protocol", "").lower().split()
    return Wire(
        received=head,
        ip=fields.get("warc-ip-address", ""),
        protocols=tuple(named or filter(None, (protocol_of(head),))),
        started=when,
        length=length,
        decoded=decoded,
        truncated=_truncated(record) or ("unspecified" if cut else ""),
        record=fields.get("warc-record-id", ""),
    )


def _truncated(record: Record) -> str:
    """Return why an answer is incomplete; a revisit record leaves out the body of a complete one."""
    why = record.fields.get("warc-truncated", "")
    return "" if record.kind == "revisit" and why == "length" else why
