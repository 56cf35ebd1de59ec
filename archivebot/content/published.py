"""The date of publication of a page, where the page states it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date

from turbohtml import Document, Element

# Names under which META elements and microdata state it, surest first: Open Graph
# (https://ogp.me/#type_article), schema.org, Dublin Core, and what news systems of their own write.
_NAMES = (
    "article:published_time og:article:published_time datepublished dc.date.issued dcterms.issued"
    " dcterms.created dc.date.created dc.date dcterms.date citation_publication_date sailthru.date"
    " parsely-pub-date publish_date publish-date publishdate published_time publication_date pubdate"
    " uploaddate date"
).split()

_RANK = {name: rank for rank, name in enumerate(_NAMES)}
_KEYS = ("datePublished", "uploadDate", "dateCreated")
_ISO = re.compile(r"(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})(?!\d)")
_MONTH = re.compile(
    r"(?:(\d{1,2})(?:st|nd|rd|th)?\s+)?([A-Z][a-z]{2,8})\.?\s+(?:(\d{1,2})(?:st|nd|rd|th)?,?\s+)?(\d{4})\b"
)
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()

# The Web's first page is of 1991; a year before it, or far ahead, is an error of the page.
EARLIEST = date(1991, 1, 1)

# Objects of JSON-LD looked at; pages of shops hold some hundred.
MOST_OBJECTS = 2000


def published(document: Document) -> date | None:
    """Give the date of publication that a page states, or None.

    JSON-LD is asked first, then META elements, then TIME elements that are marked as the date of
    publication, then the first TIME element of an article. Those in lists and tables are of what
    the page lists.

    >>> from turbohtml import parse
    >>> published(parse('<script type="application/ld+json">{"datePublished": "2024-05-06T07:08Z"}</script>'))
    datetime.date(2024, 5, 6)
    >>> published(parse('<meta property="article:published_time" content="2023-01-31T09:00:00+01:00">'))
    datetime.date(2023, 1, 31)
    >>> published(parse('<article><time datetime="2020-02-30">never</time></article>')) is None
    True
    """
    for stated in (_json_ld, _meta, _time):
        for value in stated(document):
            found = day(value)
            if found:
                return found
    return None


def day(text: str) -> date | None:
    """Read a date as pages write it: ISO 8601, or an English one with the month's name.

    >>> day("20240229T10:00"), day("March 5, 2021"), day("5 Mar 2021 at noon")
    (datetime.date(2024, 2, 29), datetime.date(2021, 3, 5), datetime.date(2021, 3, 5))
    >>> day("2023-02-29"), day("yesterday"), day("0001-01-01"), day("May 2021")
    (None, None, None, None)
    """
    text = text.strip()
    if iso := _ISO.match(text):
        year, month, number = map(int, iso.groups())
    elif (named := _MONTH.search(text)) and named[2][:3].lower() in _MONTHS and (named[1] or named[3]):
        year, month = int(named[4]), _MONTHS.index(named[2][:3].lower()) + 1
        number = int(named[1] or named[3])
    else:
        return None
    try:
        found = date(year, month, number)
    except ValueError:
        return None
    return found if found >= EARLIEST and year < 2100 else None


def _json_ld(document: Document) -> Iterator[str]:
    waiting: list[object] = list(document.json_ld())
    objects: list[dict[str, object]] = []
    while waiting and len(objects) < MOST_OBJECTS:
        value = waiting.pop(0)
        if isinstance(value, dict):
            objects.append(value)
            waiting.extend(inner for key, inner in value.items() if key not in ("review", "comment"))
        elif isinstance(value, list):
            waiting.extend(value)
    for key in _KEYS:
        for found in objects:
            if isinstance(stated := found.get(key), str):
                yield stated


def _meta(document: Document) -> list[str]:
    found: list[tuple[int, str]] = []
    for meta in document.find_all("meta"):
        for name in ("property", "name", "itemprop"):
            rank = _RANK.get(str(meta.attrs.get(name) or "").lower())
            if rank is not None:
                found.append((rank, str(meta.attrs.get("content") or "")))
    return [value for _, value in sorted(found, key=lambda pair: pair[0])]


def _time(document: Document) -> Iterator[str]:
    times = document.select("time[itemprop=datePublished], time[pubdate], [itemprop=datePublished]")
    for element in (*times, *document.select("article time, main time")[:1]):
        if element.closest("li, td, th, dd") is None:
            yield from _stated(element)


def _stated(element: Element) -> Iterator[str]:
    for name in ("datetime", "content"):
        if value := element.attrs.get(name):
            yield str(value)
    yield element.text
