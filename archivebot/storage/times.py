"""Times as stored in the archive: milliseconds since 1970-01-01 UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST = datetime.min.replace(tzinfo=UTC)
FOR_EVER = 1 << 62  # milliseconds: later than every time
_TICK = timedelta(milliseconds=1)  # the difference between two times that are stored


def milliseconds(when: datetime) -> int:
    """Return a time as milliseconds since 1970.

    >>> milliseconds(datetime(1970, 1, 1, 0, 0, 1, 500_999, tzinfo=UTC))
    1500
    """
    return (when - EPOCH) // _TICK


def just_before(when: datetime | None) -> datetime | None:
    """Return the last time before another, None if there is none or the other is None.

    >>> just_before(moment(1500)) == moment(1499), just_before(datetime.min.replace(tzinfo=UTC))
    (True, None)
    """
    return when - _TICK if when and when - _FIRST >= _TICK else None


def moment(count: int) -> datetime:
    """Return the time ``count`` milliseconds after 1970.

    >>> moment(1500).isoformat()
    '1970-01-01T00:00:01.500000+00:00'
    """
    return EPOCH + timedelta(milliseconds=count)
