"""The exchanges of captures in the SQLite archive, and the references to compress them."""

from __future__ import annotations

import sqlite3

from archivebot.models import Capture
from archivebot.storage.sqlite.sums import insert
from archivebot.storage.wire import CANDIDATES, nearest, packed, reference_of

_REFERENCES = "SELECT id, data FROM reference WHERE host = ? ORDER BY id DESC LIMIT ?"


def put_wire(database: sqlite3.Connection, capture: Capture) -> tuple[int | None, bytes | None]:
    """Return the reference and the packed exchange of a capture, in the current transaction.

    An exchange that resembles no other exchange of its host becomes a reference.
    """
    wire = capture.wire
    if wire is None:
        return None, None
    host = capture.urlkey.partition(")")[0]
    known = database.execute(_REFERENCES, (host, CANDIDATES)).fetchall()
    name, data = nearest(wire, capture.url, capture.captured_at, known)
    if name is None:
        reference = reference_of(wire)
        name = database.execute(insert("reference"), (host, reference)).lastrowid or 0
        data = packed(wire, capture.url, capture.captured_at, reference)
    return int(name), data
