"""The values of fields: a text of a page read as a text, a number, a date or a URL."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import StrEnum
from urllib.parse import urljoin

from archivebot.content.days import days, iso
from archivebot.text import collapse


class FieldType(StrEnum):
    """What a field is read as."""

    TEXT = "text"  # on one line
    NUMBER = "number"
    DATE = "date"  # a day, as ISO 8601 writes it
    URL = "url"  # absolute


# The attributes that hold the value of an element, the best first; without one it is the visible text.
ATTRIBUTES: dict[FieldType, tuple[str, ...]] = {
    FieldType.TEXT: ("content",),
    FieldType.NUMBER: ("content", "value"),
    FieldType.DATE: ("datetime", "content"),
    FieldType.URL: ("href", "src", "content", "data"),
}

# A number with marks between its thousands, as in Europe or in India, or without; three digits after a mark
# are thousands. A point begins a number, as in "$.99", unless a letter is before it, as in "No.5".
_NUMBER = re.compile(
    r"""(?P<sign>[-−]?)
    (?P<whole> [1-9]\d{0,2} (?:(?P<mark>[.,'’\s٬，])\d{3}) (?:(?P=mark)\d{3})* (?!\d)
    | [1-9]\d? (?:,\d\d)+ ,\d{3} (?!\d) | \d+ | (?<![\w.]) (?=\.\d))
    (?: [.,٫．] (?P<part>\d+))?""",
    re.VERBOSE,
)
_OTHER_DIGIT = re.compile(r"[^\D0-9]")  # Arabic, Persian, full-width and so on
# A longer number is none; float() would read infinity.
MOST_DIGITS = 100
_NO_DIGIT = re.compile(r"\D")


def value_of(text: str, kind: FieldType, base: str, language: str) -> str | int | float | None:
    """Return the value of a text in a page with a base URL and a language; None if it has none."""
    readers: dict[FieldType, Callable[[], str | int | float | None]] = {
        FieldType.TEXT: lambda: collapse(text),
        FieldType.NUMBER: lambda: number(text),
        FieldType.DATE: lambda: day(text, language),
        FieldType.URL: lambda: absolute(base, text.strip()),
    }
    return readers[kind]() if text.strip() else None


def absolute(base: str, url: str) -> str | None:
    """Return the absolute URL of a reference, or None.

    >>> absolute("http://a.example/b", "c"), absolute("http://a.example/b", "//[")
    ('http://a.example/c', None)
    """
    try:
        return urljoin(base, url)
    except ValueError:
        return None


def number(text: str) -> int | float | None:
    """Return the first number of a text in the notation of any country; None if there is none.

    >>> [number(text) for text in ("1.299,00 €", "$1,299.50", "12 500 kr", "1.299", "0,5 l", "4.75", "-3 °C")]
    [1299, 1299.5, 12500, 1299, 0.5, 4.75, -3]
    >>> number("from 1'000'000"), number("0.125"), number("2 4-bed"), number("sold out"), number("9" * 400)
    (1000000, 0.125, 2, None, None)
    >>> number("ISBN 9780141036144"), number("12.00")
    (9780141036144, 12)
    >>> [number(text) for text in ("₹12,34,567.50", "۱٬۲۹۹٬۰۰۰ تومان", "１２，８００円", "$.99", "No.5")]
    [1234567.5, 1299000, 12800, 0.99, 5]
    """
    found = _NUMBER.search(_OTHER_DIGIT.sub(lambda digit: str(int(digit[0])), text))
    if not found or len(found[0]) > MOST_DIGITS:
        return None
    whole, part = _NO_DIGIT.sub("", found["whole"]) or "0", found["part"] or ""
    sign = -1 if found["sign"] else 1
    return sign * (float(f"{whole}.{part}") if part.strip("0") else int(whole))


def day(text: str, language: str) -> str | None:
    """Return the first day that a text names, as ISO 8601 writes it; None if there is none.

    >>> day("2021-03-05T10:00Z", "en"), day("am 5. März 2021", "de"), day("soon", "en")
    ('2021-03-05', '2021-03-05', None)
    >>> day("Opens 1 May 2090", "en"), day("* 1850-02-03", "en")
    ('2090-05-01', '1850-02-03')
    """
    text = collapse(text)
    found = iso(text, bounded=False) or next(iter(days(text, language, bounded=False)), None)
    return found.isoformat() if found else None
