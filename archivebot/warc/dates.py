"""The dates of records, in all formats that writers use."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

# 14 digits by the format; some writers add milliseconds or leave out the seconds.
_ARC = re.compile(r"\d{8}|\d{10}|\d{12}|\d{14}|\d{17}", re.ASCII)

# A year, or a year and a month: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/#warc-date-mandatory
_COARSE = re.compile(r"\d{4}(?:-\d\d)?", re.ASCII)


# The day of the year in place of the day of the month, as the writer of ClueWeb09 had it.
_DAY_OF_YEAR = re.compile(r"(\d{4})-\d\d-(\d{3})(?=T)", re.ASCII)

# A leap second, and midnight at the end of a day: what to read, and how much later the time is. RFC 3339 has
# the first, ISO 8601 both; Python reads neither.
_LATE = (
    (re.compile(r"(?<=T\d\d:\d\d:)60|(?<=T\d{4})60", re.ASCII), "59", timedelta(seconds=1)),
    (re.compile(r"(?<=T)24(?=:?00)", re.ASCII), "00", timedelta(days=1)),
)


def repair(text: str) -> str:
    """Return how a wrong WARC-Date was read, "" for a right one.

    >>> repair("2008-10-294T05:21:46-0700"), repair("2008-10-20T05:21:46Z")
    ('WARC-Date 2008-10-294T05:21:46-0700 was read as 2008-10-20T12:21:46Z', '')
    """
    when = record_date(text) if _DAY_OF_YEAR.match(text) else None
    return f"WARC-Date {text} was read as {when:%Y-%m-%dT%H:%M:%SZ}" if when else ""


def record_date(text: str) -> datetime | None:
    """Read a WARC-Date, of any precision, or an ARC date as an aware UTC time; None if it is neither.

    A date that has the day of the year in place of the day of the month is read by that day. A leap second is
    read as the second after it.

    >>> record_date("2016-11"), record_date("20140216050221") == record_date("2014-02-16T05:02:21Z")
    (datetime.datetime(2016, 11, 1, 0, 0, tzinfo=datetime.timezone.utc), True)
    >>> record_date("2016-12-31T23:59:60Z") == record_date("2016-12-31T24:00:00Z") == record_date("2017-01")
    True
    """
    if _ARC.fullmatch(text):
        text = f"{text[:8]}T{text[8:14]:0<6}"
    elif _COARSE.fullmatch(text):
        text += "-01-01"[len(text) - 4 :]
    try:
        if found := _DAY_OF_YEAR.match(text):
            day = datetime.strptime(f"{found[1]} {found[2]}", "%Y %j")
            text = f"{day:%Y-%m-%d}{text[found.end() :]}"
        later = timedelta()
        for written, read, after in _LATE:
            text, count = written.subn(read, text)
            later += count * after
        when = datetime.fromisoformat(text) + later
        return when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
