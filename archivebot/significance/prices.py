"""Prices, and the part of a page with the main offer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from archivebot.content.lines import Line, nearest

# Currencies in the notation of shops: all signs that Unicode calls currencies, codes of ISO 4217, and the
# abbreviations and words of languages that use no sign.
_SIGN = "$¢£¤¥֏؋৲৳૱௹฿៛₠-⃀﷼＄￠￡￥￦"
_CODES = """usd eur gbp chf jpy cny rmb inr aud cad nzd sgd hkd twd krw brl mxn ars clp cop pen zar ngn kes
    egp mad aed sar qar ils try rub uah pln czk huf ron bgn rsd sek nok dkk isk thb idr myr php vnd pkr bdt"""
_NAMES = """euro euros dollar dollars pound pounds kr kč zł лв руб р грн ft lei tl dh rs rp rm fr 元 円 원 บาท
    đ درهم ريال جنيه"""
_CURRENCIES = frozenset(f"{_CODES} {_NAMES}".split())
_IS_SIGN = re.compile(f"[{_SIGN}]")

# An amount, and the sign or word on either side.
_BESIDE = rf"([{_SIGN}]|[^\W\d_]++\.?+)?"
_AMOUNT = re.compile(rf"{_BESIDE}\s?\d[\d.,'’\u00a0\u202f]*+(?:\s?,?[-–—]+)?\s?{_BESIDE}")

_DIGIT = re.compile(r"\d")

# Maximum of characters of a line that shows a price; a longer line mentions one.
MOST_PRICE = 60

# Maximum of lines of an offer; a larger element is an offer only up to half of the lines of its page, because
# a list of offers is not an offer.
MOST_LINES = 40

# Maximum of lines between a heading and a price whose only common element is the body.
NEAR = 12

_OUTERMOST = frozenset(("", "html", "body"))


def is_price(line: str) -> bool:
    """Return whether a line shows a price, in whatever currency.

    >>> [is_price(line) for line in ("$149", "From 1.299,00 €", "12 500 kr", "CHF 20.-", "¥3,980", "98 zł")]
    [True, True, True, True, True, True]
    >>> [is_price(line) for line in ("149", "Dollar", "12 krakens", "20 %", "A dollar is a dollar")]
    [False, False, False, False, False]
    """
    if len(line) > MOST_PRICE or not _DIGIT.search(line):
        return False
    return any(
        _IS_SIGN.match(text) or text.rstrip(".").lower() in _CURRENCIES
        for beside in _AMOUNT.findall(line)
        for text in beside
    )


def offer(lines: Sequence[Line]) -> range:
    """Return the lines of a page's offer: the smallest element with its main heading and a price.

    It also contains other facts on the product, such as its availability, but mostly not the prices of other
    products.
    """
    most = max(MOST_LINES, len(lines) // 2)
    priced = cache(lambda index: is_price(lines[index].text))
    for heading in nearest(lines, ("h1",)):
        place = heading
        while place.parent and place.tag not in _OUTERMOST and place.last - place.first <= most:
            if any(map(priced, range(place.first, place.last))):
                return range(place.first, place.last)
            place = place.parent
        near = range(heading.last, min(heading.last + NEAR, len(lines)))
        if place.tag in _OUTERMOST and (after := next(filter(priced, near), None)) is not None:
            return range(heading.first, after + 1)
    return range(0)
