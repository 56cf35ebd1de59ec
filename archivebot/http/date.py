"""Dates in the headers of HTTP."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def read_date(text: str) -> datetime | None:
    """Return a date of HTTP; None if it is none, for example the ``0`` that stands for the past.

    >>> read_date("Sat, 02 Jan 2010 03:04:05 GMT")
    datetime.datetime(2010, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc)
    >>> read_date("yesterday"), read_date("")
    (None, None)
    """
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, TypeError, OverflowError):  # a year or a zone beyond what a date can be
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
