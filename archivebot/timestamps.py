"""Times of captures, in the formats that people and programs use."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from archivebot.exceptions import UsageError

LATEST = "99991231235959"
FIRST = "00010101000000"
LAST_MICROSECOND = 999_999
DAY = re.compile(r"\d{4}-\d\d(?:-\d\d)?")
DURATION = re.compile(r"(?P<count>\d{1,4})(?P<unit>[mhdw])")
WEEK = re.compile(r"\d{4}-?W", re.ASCII)
UNITS = {"m": timedelta(minutes=1), "h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
TO_THE_MINUTE = re.compile(r"[T ]\d\d(?P<minute>:?\d\d)?(?:Z|[+-]\d\d(?::?\d\d)?)?$")


def timestamp(when: datetime) -> str:
    """Write a time as 14 digits, UTC.

    >>> timestamp(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '20260102030405'
    """
    return when.astimezone(UTC).strftime("%Y%m%d%H%M%S").zfill(14)


def end_of_second(when: datetime) -> datetime:
    """Return the last moment of the second of a time: captures of this second are not later.

    >>> end_of_second(datetime(2026, 1, 2, 3, 4, 5, 250_000, tzinfo=UTC)).isoformat()
    '2026-01-02T03:04:05.999999+00:00'
    """
    return when.replace(microsecond=LAST_MICROSECOND)


def iso_time(when: datetime) -> str:
    """Write a time as ISO 8601 to the second, UTC.

    >>> iso_time(datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC))
    '2026-01-02T03:04:05Z'
    """
    return when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").zfill(20)


def parse_time(text: str) -> datetime:
    """Read 4 to 14 digits, an ISO 8601 or an HTTP date; missing parts take their last value.

    So ``2026`` includes the whole year. Raises UsageError for other texts.

    >>> parse_time("20260102030405").isoformat(), parse_time("202602").isoformat()
    ('2026-01-02T03:04:05.999999+00:00', '2026-02-28T23:59:59.999999+00:00')
    >>> parse_time("2026-01-02T03:04:05+01:00").isoformat()
    '2026-01-02T02:04:05.999999+00:00'
    >>> parse_time("2026-01-02").isoformat()
    '2026-01-02T23:59:59.999999+00:00'
    >>> parse_time("Fri, 02 Jan 2026 03:04:05 GMT").isoformat()
    '2026-01-02T03:04:05.999999+00:00'
    """
    text = text.strip()
    try:
        if text.isdigit():
            return _padded(text)
        if DAY.fullmatch(text):
            return _padded(text.replace("-", ""))
        if WEEK.match(text):  # Python reads a week as its Monday
            raise ValueError(text)
        when = parsedate_to_datetime(text) if "," in text else datetime.fromisoformat(text)
        if short := TO_THE_MINUTE.search(text):
            when = when.replace(minute=when.minute if short["minute"] else 59, second=59)
        when = when.replace(tzinfo=UTC) if when.tzinfo is None else when.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"{text!r} is not a time: write 2026, 2026-01-02, 2026-01-02T03:04:05Z,"
            " 14 digits (20260102030405) or Fri, 02 Jan 2026 03:04:05 GMT"
        ) from error
    return when if when.microsecond else end_of_second(when)


def parse_since(text: str, now: datetime) -> datetime:
    """Read the beginning of a period: a time, or a duration before ``now`` (``90m``, ``12h``, ``7d``).

    Missing parts of a time take their first value, so ``2026`` includes the whole year. Raises UsageError for
    other texts.

    >>> now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    >>> parse_since("7d", now).isoformat(), parse_since("90m", now).isoformat()
    ('2026-02-22T12:00:00+00:00', '2026-03-01T10:30:00+00:00')
    >>> parse_since("2026-02", now).isoformat(), parse_since("20260203", now).isoformat()
    ('2026-02-01T00:00:00+00:00', '2026-02-03T00:00:00+00:00')
    >>> parse_since("2026-02-03T04:05", now).isoformat()
    '2026-02-03T04:05:00+00:00'
    >>> parse_since("soon", now)
    Traceback (most recent call last):
    archivebot.exceptions.UsageError: 'soon' is no time and no duration: write 2026-01-02, 14 digits or 7d
    """
    text = text.strip()
    duration = DURATION.fullmatch(text)
    if duration:
        return now - int(duration["count"]) * UNITS[duration["unit"]]
    try:
        last = parse_time(text)
    except UsageError as error:
        raise UsageError(f"{text!r} is no time and no duration: write 2026-01-02, 14 digits or 7d") from error
    digits = text.replace("-", "")
    if digits.isdigit():
        return datetime.strptime(digits + FIRST[len(digits) :], "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    first = last.replace(microsecond=0) if last.microsecond == LAST_MICROSECOND else last
    short = TO_THE_MINUTE.search(text)
    if short is None:
        return first
    # The minute is not that of the text if its zone is no whole hours from UTC.
    return first - timedelta(minutes=0 if short["minute"] else 59, seconds=59)


def _padded(digits: str) -> datetime:
    if not 4 <= len(digits) <= 14 or len(digits) % 2:
        raise ValueError(digits)
    for day in ("31", "30", "29", "28"):
        padded = digits + (LATEST[:6] + day + LATEST[8:])[len(digits) :]
        try:
            return end_of_second(datetime.strptime(padded, "%Y%m%d%H%M%S").replace(tzinfo=UTC))
        except ValueError:
            if len(digits) > 6:
                raise
    raise ValueError(digits)
