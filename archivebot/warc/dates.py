"""The dates of records, in all formats that writers use."""

from __future__ import annotations

import re
from datetime import UTC, datetime

# 14 digits by the format; some writers add milliseconds or leave out the seconds.
_ARC = re.compile(r"\d{8}|\d{10}|\d{12}|\d{14}|\d{17}", re.ASCII)

# A year, or a year and a month: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#warc-date-mandatory
_COARSE = re.compile(r"\d{4}(?:-\d\d)?", re.ASCII)


def record_date(text: str) -> datetime | None:
    """Read a WARC-Date, of any precision, or an ARC date as an aware UTC time; None if it is neither.

    >>> record_date("2016-11"), record_date("20140216050221") == record_date("2014-02-16T05:02:21Z")
    (datetime.datetime(2016, 11, 1, 0, 0, tzinfo=datetime.timezone.utc), True)
    """
    if _ARC.fullmatch(text):
        text = f"{text[:8]}T{text[8:14]:0<6}"
    elif _COARSE.fullmatch(text):
        text += "-01-01"[len(text) - 4 :]
    try:
        when = datetime.fromisoformat(text)
        return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
