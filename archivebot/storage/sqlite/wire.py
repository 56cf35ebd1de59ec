"""The references that the exchanges of captures in the SQLite archive are compressed against."""

from __future__ import annotations

import sqlite3

from archivebot.models import Capture
from archivebot.storage.sqlite.sums import insert
from archivebot.storage.wire import CANDIDATES, Exchange, nearest, reference_of
from archivebot.urls import host_part

_REFERENCES = "SELECT id, data FROM reference WHERE host = ? ORDER BY id DESC LIMIT ?"


def reference_for(database: sqlite3.Connection, capture: Capture, exchange: Exchange) -> int:
    """Return the reference for the exchange of a capture, in the current transaction.

    An exchange that resembles no other exchange of its host becomes a reference.
    """
    host = host_part(capture.urlkey)
    known = database.execute(_REFERENCES, (host, CANDIDATES)).fetchall()
    name, _ = nearest(exchange, capture.url, known)
    if name is None:
        return int(database.execute(insert("reference"), (host, reference_of(exchange))).lastrowid or 0)
    return int(name)
