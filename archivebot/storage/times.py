"""Times as stored in the archive: milliseconds since 1970-01-01 UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def milliseconds(when: datetime) -> int:
    """Return a time as milliseconds since 1970.

    >>> milliseconds(datetime(1970, 1, 1, 0, 0, 1, 500_999, tzinfo=UTC))
    1500
    """
    return (when - EPOCH) // timedelta(milliseconds=1)


def moment(count: int) -> datetime:
    """Return the time ``count`` milliseconds after 1970.

    >>> moment(1500).isoformat()
    '1970-01-01T00:00:01.500000+00:00'
    """
    return EPOCH + timedelta(milliseconds=count)
