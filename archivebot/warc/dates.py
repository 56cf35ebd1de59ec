"""The dates of records, in all formats that writers use."""

from __future__ import annotations

import re
from datetime import UTC, datetime

# 14 digits by the format; some writers add milliseconds or leave out the seconds.
_ARC = re.compile(r"\d{8}|\d{10}|\d{12}|\d{14}|\d{17}", re.ASCII)

# A year, or a year and a month: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#warc-date-mandatory
_COARSE = re.compile(r"\d{4}(?:-\d\d)?", re.ASCII)


# The day of the year in place of the day of the month, as the writer of ClueWeb09 had it.
_DAY_OF_YEAR = re.compile(r"(\d{4})-\d\d-(\d{3})(?=T)", re.ASCII)


def repair(text: str) -> str:
    """Return how a wrong WARC-Date was read, "" for a right one.

    >>> repair("2008-10-294T05:21:46-0700"), repair("2008-10-20T05:21:46Z")
    ('WARC-Date 2008-10-294T05:21:46-0700 was read as 2008-10-20T12:21:46Z', '')
    """
    when = record_date(text) if _DAY_OF_YEAR.match(text) else None
    return f"WARC-Date {text} was read as {when:%Y-%m-%dT%H:%M:%SZ}" if when else ""


def record_date(text: str) -> datetime | None:
    """Read a WARC-Date, of any precision, or an ARC date as an aware UTC time; None if it is neither.

    A date that has the day of the year in place of the day of the month is read by that day.

    >>> record_date("2016-11"), record_date("20140216050221") == record_date("2014-02-16T05:02:21Z")
    (datetime.datetime(2016, 11, 1, 0, 0, tzinfo=datetime.timezone.utc), True)
    """
    if _ARC.fullmatch(text):
        text = f"{text[:8]}T{text[8:14]:0<6}"
    elif _COARSE.fullmatch(text):
        text += "-01-01"[len(text) - 4 :]
    try:
        if found := _DAY_OF_YEAR.match(text):
            day = datetime.strptime(f"{found[1]} {found[2]}", "%Y %j")
            text = f"{day:%Y-%m-%d}{text[found.end() :]}"
        when = datetime.fromisoformat(text)
        return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
