"""How long an answer may be used without asking its server again (RFC 9111, section 4.2)."""

from __future__ import annotations

from datetime import datetime, timedelta

from archivebot.http.date import read_date
from archivebot.wire import Headers, first_header

# Seconds that "now" and Expires may lie in the future: ten years, as nothing on the web stays longer.
LONGEST = 10 * 366 * 24 * 3600


def is_fresh(headers: Headers, received: datetime, now: datetime) -> bool:
    """Return whether an answer that was received at a time is still fresh, by its own statement.

    ``max-age`` decides, else Expires; nothing is guessed from Last-Modified.

    >>> from datetime import UTC
    >>> day = datetime(2024, 5, 1, tzinfo=UTC)
    >>> hour = (("Cache-Control", "public, max-age=3600"), ("Age", "600"))
    >>> is_fresh(hour, day, day + timedelta(minutes=49)), is_fresh(hour, day, day + timedelta(minutes=51))
    (True, False)
    >>> is_fresh((("Cache-Control", "no-cache, max-age=3600"),), day, day)
    False
    >>> is_fresh((("Expires", "Thu, 02 May 2024 00:00:00 GMT"),), day, day + timedelta(hours=23))
    True
    """
    return now - received < timedelta(seconds=_lifetime(headers, received))


def _lifetime(headers: Headers, received: datetime) -> float:
    """Return the seconds from its receipt for which an answer is fresh."""
    values = [value for name, value in headers if name.lower() == "cache-control"]
    stated = dict(_directive(part) for part in ",".join(values).lower().split(","))
    if not {"no-cache", "no-store"}.isdisjoint(stated):
        return 0.0
    if "max-age" in stated:
        age = _seconds(first_header(headers, "age") or "")
        return _seconds(stated["max-age"]) - age
    expires, date = (read_date(first_header(headers, name) or "") for name in ("expires", "date"))
    return min(LONGEST, (expires - (date or received)).total_seconds()) if expires else 0.0


def _directive(part: str) -> tuple[str, str]:
    name, _, value = part.partition("=")
    return name.strip(), value.strip().strip('"')


def _seconds(text: str) -> float:
    return float(min(LONGEST, int(text))) if text.isdecimal() and len(text) < 20 else 0.0
