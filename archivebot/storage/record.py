"""The canonical record of a capture, whose digest is the entry of the capture in the log of the archive."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Any

from archivebot.models import Capture
from archivebot.storage.times import milliseconds

# The first byte of the entry of a removal; the digest of the removed capture follows.
REMOVAL = b"-"

_DIGEST_BYTES = 32


def canonical_record(capture: Capture) -> dict[str, Any]:
    """Return what was seen in a visit, and how it was judged; no fact of the store itself.

    Times are milliseconds since 1970, bytes are written as Latin-1. ``headers`` is empty if they are in the
    exchange. An exchange has its times as they are stored: negative ones are 0.
    """
    wire, when = capture.wire, milliseconds(capture.captured_at)
    return {
        "url": capture.url,
        "time": when,
        "outcome": capture.outcome.value,
        "kind": capture.kind.value,
        "status": capture.status,
        "version": capture.number,
        "digest": capture.sha256 or None,
        "size": capture.size,
        "links": capture.links,
        "reason": capture.reason,
        "location": capture.location,
        "origin": capture.origin,
        "quality": capture.quality.kind.value if capture.quality else None,
        "headers": () if wire and wire.headers == capture.headers else capture.headers,
        "exchange": wire
        and {
            "started": None if wire.started is None else min(when, milliseconds(wire.started)),
            "first_byte": _positive(wire.first_byte),
            "ended": _positive(wire.ended),
            "length": _positive(wire.length),
            "ip": wire.ip,
            "port": wire.port,
            "protocols": wire.protocols,
            "decoded": wire.decoded,
            "left_out": wire.left_out,
            "request": wire.request.decode("latin-1"),
            "received": wire.received.decode("latin-1"),
            "trailers": wire.trailers.decode("latin-1"),
            "truncated": wire.truncated,
            "record": wire.record,
        },
    }


def digest_of(capture: Capture) -> bytes:
    """Return the digest of the record of a capture: of its JSON in ASCII with sorted keys and no blanks."""
    record = canonical_record(capture)
    return sha256(json.dumps(record, sort_keys=True, separators=(",", ":")).encode()).digest()


def removal_of(digest: bytes) -> bytes:
    """Return the entry that removes a capture: it was replaced, because more was known of it later."""
    return REMOVAL + digest


def removed_by(entry: bytes) -> bytes | None:
    """Return the digest of the capture that an entry removes, None for the entry of a capture.

    >>> removed_by(removal_of(bytes(32))) == bytes(32), removed_by(bytes(32))
    (True, None)
    """
    return entry[1:] if len(entry) > _DIGEST_BYTES else None


def _positive(number: int | None) -> int | None:
    return None if number is None else max(0, number)
