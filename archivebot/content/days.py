"""Days in the formats of pages: ISO 8601, numbers, and names of months in the page's language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from babel import Locale, UnknownLocaleError

# The first web page is from 1991; an earlier year is an error of the page, as is a day in the future. A page
# may be in a time zone where it is already tomorrow.
EARLIEST = date(1991, 1, 1)
_AHEAD = timedelta(days=1)

_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})(?!\d)")
_YEAR_FIRST = re.compile(
    r"(?<!\d)(\d{4})(?:[-/.]|\s?[年년]\s?)(\d{1,2})(?:[-/.]|\s?[月월]\s?)(\d{1,2})(?!\d)"
)
_YEAR_LAST = re.compile(r"(?<![\d/.-])(\d{1,2})([-/.]\s?)(\d{1,2})\2(\d{4})(?![\d/-])")
_AFFIXES = r"(?:st|nd|rd|th|er|º|ª|\.)?"


def iso(text: str, *, bounded: bool = True) -> date | None:
    """Return the day at the start of a machine-readable text, or None.

    A day that is ``bounded`` is one on which a page may have been published.

    >>> iso("20240229T10:00"), iso("2024-05-06T07:08Z"), iso("2023-02-29"), iso("0001-01-01")
    (datetime.date(2024, 2, 29), datetime.date(2024, 5, 6), None, None)
    """
    found = _COMPACT.match(text) or _YEAR_FIRST.match(text)
    return _day(*map(int, found.groups()), bounded=bounded) if found else None


def days(text: str, language: str = "en", *, bounded: bool = True) -> list[date]:
    """Return the days that a text names, in order.

    If two numbers may both be the month, it is the first in English, else the second. ``bounded`` as in
    :func:`iso`.

    >>> days("March 5, 2021"), days("am 5. März 2021", "de"), days("2021年3月5日")
    ([datetime.date(2021, 3, 5)], [datetime.date(2021, 3, 5)], [datetime.date(2021, 3, 5)])
    >>> days("3/5/2021"), days("3/5/2021", "fr"), days("13/5/2021")
    ([datetime.date(2021, 3, 5)], [datetime.date(2021, 5, 3)], [datetime.date(2021, 5, 13)])
    >>> days("May 2021"), days("yesterday"), days("31.2.2021"), days("1.2.3.2021")
    ([], [], [], [])
    """
    found = [*_numbered(text, language, bounded), *_named(text, language, bounded)]
    return [day for _, day in sorted(found)]


def _numbered(text: str, language: str, bounded: bool) -> Iterator[tuple[int, date]]:
    for match in _YEAR_FIRST.finditer(text):
        if day := _day(*map(int, match.groups()), bounded=bounded):
            yield match.start(), day
    for match in _YEAR_LAST.finditer(text):
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        month_first = language == "en" and match[2].strip() != "."
        number, month = (second, first) if month_first else (first, second)
        if month > 12:
            number, month = month, number
        if day := _day(year, month, number, bounded=bounded):
            yield match.start(), day


def _named(text: str, language: str, bounded: bool) -> Iterator[tuple[int, date]]:
    pattern, months = _months(language)
    for match in pattern.finditer(text.lower()):
        month = months[match["month"]]
        number = int(match["before"] or match["after"])
        if day := _day(int(match["year"]), month, number, bounded=bounded):
            yield match.start(), day


@lru_cache(maxsize=64)
def _months(language: str) -> tuple[re.Pattern[str], dict[str, int]]:
    """Return a pattern of days with the name of the month in a language or in English, and the months."""
    months: dict[str, int] = {}
    for code in ("en", language):
        try:
            forms = Locale.parse(code).months
        except (UnknownLocaleError, ValueError):
            continue
        for form in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, name in forms[form][width].items():
                    months[name.lower().rstrip(".")] = number
    months = {name: number for name, number in months.items() if not name[:1].isdigit()} | {"sept": 9}
    names = "|".join(sorted(map(re.escape, months), key=len, reverse=True))
    month = rf"(?P<month>{names})\b\.?"
    before = rf"(?<!\d)(?P<before>\d{{1,2}}){_AFFIXES},?[\s-]*(?:de\s|of\s)?\s*"
    after = rf"\s*(?P<after>\d{{1,2}}){_AFFIXES}(?!\d)"
    year = r"[\s,/-]*(?:de\s|del\s)?\s*(?P<year>\d{4})(?!\d)"
    return re.compile(rf"(?:{before}|(?<![^\W\d_])){month}(?:(?(before)|{after})){year}"), months


def _day(year: int, month: int, number: int, *, bounded: bool) -> date | None:
    try:
        found = date(year, month, number)
    except ValueError:
        return None
    return found if not bounded or EARLIEST <= found <= datetime.now(UTC).date() + _AHEAD else None
