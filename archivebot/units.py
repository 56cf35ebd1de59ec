"""Sizes and numbers of things in readable units, and times as users write them."""

from __future__ import annotations

import re

from archivebot.exceptions import UsageError

_TIME = re.compile(r"(\d+) ?([smhd]?)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


def size(count: int) -> str:
    """Return a number of bytes in readable units.

    >>> size(0), size(999), size(1500), size(2_340_000)
    ('0 B', '999 B', '1.5 kB', '2.3 MB')
    """
    power = min((len(str(count)) - 1) // 3, 4)
    return f"{count / 1000**power:.1f} {'kMGT'[power - 1]}B" if power else f"{count} B"


def read_seconds(name: str, value: str) -> int:
    """Return the seconds of ``90``, ``30m``, ``2h`` or ``1d``; raises UsageError for other texts and for 0.

    >>> read_seconds("time", "90"), read_seconds("time", "2h")
    (90, 7200)
    """
    found = _TIME.fullmatch(value)
    if not found or not int(found[1]):
        raise UsageError(f"{name} is {value!r}: give seconds, or for example 30m or 2h")
    return int(found[1]) * _SECONDS[found[2]]


def amount(count: int, noun: str, plural: str = "") -> str:
    """Return a number of things, with their noun in the singular or the plural.

    >>> amount(0, "page"), amount(1, "page"), amount(300, "page")
    ('0 pages', '1 page', '300 pages')
    >>> amount(2, "query", "queries")
    '2 queries'
    """
    return f"{count} {noun if count == 1 else plural or f'{noun}s'}"
