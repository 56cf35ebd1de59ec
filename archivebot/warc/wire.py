"""The facts of the exchange in a record."""

from __future__ import annotations

from datetime import datetime

from archivebot.warc.payload import Body, Response, State
from archivebot.warc.records import Record
from archivebot.wire import Wire, protocol_of


def wire_of(
    record: Record, when: datetime, response: Response | None = None, body: Body | None = None
) -> Wire:
    """Return the facts of the exchange of a record, still without its request."""
    fields, head = record.fields, response.head if response else b""
    cut = record.cut or (body is not None and body.state is State.CUT)
    named = fields.get("warc-protocol", "").lower().split()
    return Wire(
        received=head,
        ip=fields.get("warc-ip-address", ""),
        protocols=tuple(named or filter(None, (protocol_of(head),))),
        started=when,
        length=len(body.entity) if body else None,
        decoded=body is not None and body.content is not body.entity,
        truncated=fields.get("warc-truncated") or ("unspecified" if cut else ""),
        record=fields.get("warc-record-id", ""),
    )
