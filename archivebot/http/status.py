"""The table from HTTP status codes to outcomes."""

from __future__ import annotations

from archivebot.models import Outcome

# Codes whose meaning differs from their class, https://httpwg.org/specs/rfc9110.html#status.codes
_CODES: dict[int, Outcome] = {
    202: Outcome.ACCEPTED,
    204: Outcome.NO_CONTENT,
    205: Outcome.NO_CONTENT,
    304: Outcome.NOT_MODIFIED,
    401: Outcome.DENIED,
    403: Outcome.DENIED,
    404: Outcome.NOT_FOUND,
    407: Outcome.DENIED,
    408: Outcome.THROTTLED,
    410: Outcome.GONE,
    425: Outcome.THROTTLED,
    429: Outcome.THROTTLED,
    451: Outcome.DENIED,
}

_CLASSES: dict[int, Outcome] = {
    2: Outcome.FETCHED,
    3: Outcome.REDIRECT,
    4: Outcome.CLIENT_ERROR,
    5: Outcome.SERVER_ERROR,
}


def outcome_of(status: int, body: bytes) -> Outcome:
    """Return the outcome of an attempt with this status and body.

    Any number is accepted; a number that is not a final HTTP status is a protocol error. A success without a
    body has no content.

    >>> outcome_of(200, b"<p>"), outcome_of(200, b""), outcome_of(451, b"")
    (<Outcome.FETCHED: 'fetched'>, <Outcome.NO_CONTENT: 'no_content'>, <Outcome.DENIED: 'denied'>)
    """
    outcome = _CODES.get(status) or _CLASSES.get(status // 100, Outcome.PROTOCOL_ERROR)
    return Outcome.NO_CONTENT if outcome is Outcome.FETCHED and not body else outcome
