"""Sizes and numbers of things in readable units, and sizes and times as users write them."""

from __future__ import annotations

import re

from archivebot.exceptions import UsageError

# The largest number that a file of SQLite keeps; nothing that is counted reaches it.
LARGEST = (1 << 63) - 1

_SIZE = re.compile(r"(\d{1,15}) ?([kMGT]?)B?", re.IGNORECASE)
_BYTES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_TIME = re.compile(r"(\d+) ?([smhd]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
_CENTURY = 36_500 * 86_400


def size(count: int) -> str:
    """Return a number of bytes in readable units.

    >>> size(0), size(999), size(1500), size(2_340_000)
    ('0 B', '999 B', '1.5 kB', '2.3 MB')
    """
    power = min((len(str(count)) - 1) // 3, 4)
    return f"{count / 1000**power:.1f} {'kMGT'[power - 1]}B" if power else f"{count} B"


def read_count(text: str) -> int | None:
    """Return a whole number from 0 on, at most ``LARGEST``; None for other texts.

    int() would refuse a number of more than 4300 digits with an error of its own.

    >>> read_count("007"), read_count("9" * 5000) == LARGEST, read_count("-1"), read_count("1.5")
    (7, True, None, None)
    """
    if not text.isdecimal():
        return None
    digits = text.lstrip("0")
    return min(int(digits or 0), LARGEST) if len(digits) < 20 else LARGEST


def read_size(name: str, value: str) -> int:
    """Return the bytes of ``500MB``, ``2 GB`` or ``1000``; raises UsageError for other texts and for 0.

    1 MB is 1000 kB, as in all output of archivebot.

    >>> read_size("size", "500MB"), read_size("size", "2 g")
    (500000000, 2000000000)
    """
    found = _SIZE.fullmatch(value)
    if not found or not int(found[1]):
        raise UsageError(f"{name} is {value!r}: give a size, for example 500MB")
    return int(found[1]) * _BYTES[found[2].lower()]


def read_seconds(name: str, value: str) -> int:
    """Return the seconds of ``90``, ``30m``, ``2h`` or ``1d``; raises UsageError for other texts and for 0.

    A time of more than a century is a century: the calendar and the timers of a system end, too.

    >>> read_seconds("time", "90"), read_seconds("time", "2h")
    (90, 7200)
    """
    found = _TIME.fullmatch(value)
    if not found or not (count := read_count(found[1])):
        raise UsageError(f"{name} is {value!r}: give seconds, or for example 30m or 2h")
    return min(count * _SECONDS[found[2]], _CENTURY)


def amount(count: int, noun: str, plural: str = "") -> str:
    """Return a number of things, with their noun in the singular or the plural.

    >>> amount(0, "page"), amount(1, "page"), amount(300, "page")
    ('0 pages', '1 page', '300 pages')
    >>> amount(2, "query", "queries")
    '2 queries'
    """
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"
