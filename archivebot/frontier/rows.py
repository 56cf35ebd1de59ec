"""The SELECT statements for the rows of a frontier file, and their conversion."""

from __future__ import annotations

from typing import Any

from archivebot.frontier.base import COUNTS, Entry, Record, State

# The numbers of the states in the file.
STATES = tuple(State)
QUEUED, LEASED, DONE, FAILED, REJECTED = range(len(STATES))

SUMS = ", ".join(COUNTS)
OURS = "crawl = (SELECT id FROM crawl WHERE name = ?)"
RECORD = (
    "SELECT url, name, score, request, source, distance, parts, reason, state, number, relevance,"
    " relevant, note"
)
FROM = "FROM entry JOIN host ON host.id = entry.host"


def record_of(row: Any) -> Record:
    """Return the record of a row that RECORD selected.

    >>> record_of(("http://example.com/", "example.com", 1.0, "", "", 0, "", "", 2, 7, 0.5, 1, "")).state
    <State.DONE: 'done'>
    """
    *entry, state, number, relevance, relevant, note = row
    return Record(
        Entry(*entry),
        STATES[state],
        number,
        relevance,
        None if relevant is None else bool(relevant),
        note,
    )
