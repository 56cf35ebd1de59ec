"""Prices, and the part of a page that offers what the page is about."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from archivebot.content.lines import Line, Place

# Currencies as shops write them, with the amount on either side: all signs that Unicode calls currencies,
# codes of ISO 4217, and the abbreviations and words of languages that use no sign.
_SIGN = "$¢£¤¥֏؋৲৳૱௹฿៛₠-⃀﷼＄￠￡￥￦"
_CODE = r"""(?:USD|EUR|GBP|CHF|JPY|CNY|RMB|INR|AUD|CAD|NZD|SGD|HKD|TWD|KRW|BRL|MXN|ARS|CLP|COP|PEN|ZAR|NGN|KES
    |EGP|MAD|AED|SAR|QAR|ILS|TRY|RUB|UAH|PLN|CZK|HUF|RON|BGN|RSD|SEK|NOK|DKK|ISK|THB|IDR|MYR|PHP|VND|PKR|BDT)"""
_NAME = r"""(?:euros?|dollars?|pounds?|kr\.?|kč|zł|лв\.?|руб\.?|р\.|грн\.?|ft|lei|tl|dh|rs\.?|r\$|rp|rm|fr\.
    |元|円|원|บาท|đ|درهم|ريال|جنيه)"""
_AMOUNT = r"\d[\d.,'’\u00a0\u202f]*"
_PRICE = re.compile(
    rf"""[{_SIGN}]\s?{_AMOUNT}|{_AMOUNT}(?:\s?,?[-–—]+)?\s?[{_SIGN}]
    |\b(?:{_CODE}|{_NAME})\s?{_AMOUNT}|{_AMOUNT}(?:\s?,?[-–—]+)?\s?(?:{_CODE}|{_NAME})(?!\w)""",
    re.IGNORECASE | re.VERBOSE,
)
_DIGIT = re.compile(r"\d")

# Characters up to which a line shows a price; what is longer tells of one.
MOST_PRICE = 60

# Lines of an offer; a larger element is one only up to half of the lines of its page, as a list of offers is
# no offer.
MOST_LINES = 40

# Lines between a heading and a price that have no smaller element in common than the body.
NEAR = 12

_OUTERMOST = frozenset(("", "html", "body"))


def is_price(line: str) -> bool:
    """Tell whether a line shows a price, in whatever currency.

    >>> [is_price(line) for line in ("$149", "From 1.299,00 €", "12 500 kr", "CHF 20.-", "¥3,980", "98 zł")]
    [True, True, True, True, True, True]
    >>> [is_price(line) for line in ("149", "Dollar", "12 krakens", "20 %", "A dollar is a dollar")]
    [False, False, False, False, False]
    """
    return len(line) <= MOST_PRICE and _DIGIT.search(line) is not None and _PRICE.search(line) is not None


def offer(lines: Sequence[Line]) -> range:
    """Return the lines of what a page offers: the smallest element with its main heading and a price.

    What else is said of the product stands there as well, such as whether it is in stock; the prices of other
    products mostly do not.
    """
    priced = [index for index, line in enumerate(lines) if is_price(line.text)]
    most = max(MOST_LINES, len(lines) // 2)
    for heading in (place for line in lines if (place := _heading(line.place)) and priced):
        place = heading
        while place.parent and place.tag not in _OUTERMOST and place.last - place.first <= most:
            if bisect_left(priced, place.first) < bisect_left(priced, place.last):
                return range(place.first, place.last)
            place = place.parent
        after = bisect_left(priced, heading.last)
        if place.tag in _OUTERMOST and after < len(priced) and priced[after] - heading.last < NEAR:
            return range(heading.first, priced[after] + 1)
    return range(0)


def _heading(place: Place) -> Place | None:
    """Return the heading of the first level that an element is or stands in."""
    around: Place | None = place
    while around is not None and around.tag != "h1":
        around = around.parent
    return around
