"""The references that the exchanges of captures in the SQLite archive are compressed against."""

from __future__ import annotations

import sqlite3

from archivebot.models import Capture
from archivebot.storage.sqlite.sums import insert
from archivebot.storage.wire import CANDIDATES, nearest, reference_of

_REFERENCES = "SELECT id, data FROM reference WHERE host = ? ORDER BY id DESC LIMIT ?"


def reference_for(database: sqlite3.Connection, capture: Capture) -> int | None:
    """Return the reference for the exchange of a capture, None if it has none, in the current transaction.

    An exchange that resembles no other exchange of its host becomes a reference.
    """
    wire = capture.wire
    if wire is None:
        return None
    host = capture.urlkey.partition(")")[0]
    known = database.execute(_REFERENCES, (host, CANDIDATES)).fetchall()
    name, _ = nearest(wire, capture.url, capture.captured_at, known)
    if name is None:
        return database.execute(insert("reference"), (host, reference_of(wire))).lastrowid
    return int(name)
