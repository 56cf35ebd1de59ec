"""The date of publication of a page: from its metadata, else from its visible text."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator, Sequence
from datetime import date

from turbohtml import Document, Element

from archivebot.content.days import days, iso
from archivebot.content.lines import Line
from archivebot.text import collapse

# Names under which META elements and microdata state it, surest first: Open Graph
# (https://ogp.me/#type_article), schema.org, Dublin Core, and what news systems of their own write.
_NAMES = (
    "article:published_time og:article:published_time datepublished dc.date.issued dcterms.issued"
    " dcterms.created dc.date.created dc.date dcterms.date citation_publication_date sailthru.date"
    " parsely-pub-date publish_date publish-date publishdate published_time publication_date published-date"
    " pubdate uploaddate date"
).split()
# Names of the last change, which is used if a page states no date of publication.
_CHANGED = "article:modified_time og:updated_time datemodified dcterms.modified last-modified".split()

_KEYS = ("datePublished", "uploadDate", "dateCreated")

# The same in data that is not JSON by itself: the state of a page that a script draws, JSON-LD in CDATA.
_IN_SCRIPT = re.compile(
    r'"(?:datePublished|publish(?:ed)?_?(?:Date|At|On|ed)|publicationDate|firstPublished(?:At)?)\\*"\s*:\s*'
    r'\\*"([^"\\]{8,40})',
    re.IGNORECASE,
)
_IN_PATH = re.compile(r"/((?:19|20)\d\d/[01]?\d/[0-3]?\d)(?:/|$)")

# Maximum of JSON-LD objects read; pages of shops hold some hundred.
MOST_OBJECTS = 2000

# Lines after the heading of a page, and before it, that may show its date, and the characters of such a
# line and of what states a date. A date further away belongs to something else.
LINES_AFTER = 12
LINES_BEFORE = 6
LONGEST = 120
# Number of paragraphs after the heading at which the body of the text has begun.
PARAGRAPHS = 2
PARAGRAPH = 160

_UPDATE = re.compile(
    r"updated?\b|modified|revised|reviewed|aktualisiert|stand:|mis à jour|modifié|actualizad|atualizad|"
    r"aggiornat|bijgewerkt|uppdaterad|обновлен|更新",
    re.IGNORECASE,
)
# Dates of the subject of the page, not of the page.
_EVENT = re.compile(r"©|copyright|deadline|expires?|\buntil\b", re.IGNORECASE)


def published(
    document: Document, lines: Sequence[Line] = (), title: str = "", language: str = "en"
) -> date | None:
    """Return the date of publication of a page, or None.

    The sources are, in order: JSON-LD, META elements, TIME elements marked as the date of publication, the
    first TIME element of an article, the address of the page, the lines around the ``title`` in the
    ``language`` of the page, the data of scripts, and the date of the last change. TIME elements in lists and
    tables belong to the listed items and are ignored.

    >>> from turbohtml import parse
    >>> published(parse('<script type="application/ld+json">{"datePublished": "2024-05-06T07:08Z"}</script>'))
    datetime.date(2024, 5, 6)
    >>> published(parse('<meta property="article:published_time" content="2023-01-31T09:00:00+01:00">'))
    datetime.date(2023, 1, 31)
    >>> published(parse('<article><time datetime="2020-02-30">never</time></article>')) is None
    True
    """
    for stated in (_json_ld, _meta, _time, _address):
        for value in stated(document):
            if found := _day(value, language):
                return found
    shown, changed = _shown(lines, title, language)
    if shown:
        return shown
    for stated in (_scripts, _changed):
        for value in stated(document):
            if found := _day(value, language):
                return found
    return changed


def _day(text: str, language: str) -> date | None:
    text = collapse(text)[:LONGEST]
    return iso(text) or next(iter(days(text, language)), None)


def _json_ld(document: Document) -> Iterator[str]:
    waiting: deque[object] = deque(document.json_ld())
    objects: list[dict[str, object]] = []
    while waiting and len(objects) < MOST_OBJECTS:
        value = waiting.popleft()
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
    return _metas(document, _NAMES)


def _changed(document: Document) -> list[str]:
    return _metas(document, _CHANGED)


def _metas(document: Document, names: Sequence[str]) -> list[str]:
    """Return the values of META elements with some names, in the order of the names."""
    stated = (
        (name, str(meta.attrs.get("content") or ""))
        for meta in document.find_all("meta")
        for attribute in ("property", "name", "itemprop")
        for name in str(meta.attrs.get(attribute) or "").lower().split()
    )
    found = [(names.index(name), value) for name, value in stated if name in names]
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


def _address(document: Document) -> Iterator[str]:
    """Yield the day in the path of the page's own address."""
    for element in document.select("link[rel=canonical], meta[property='og:url']"):
        address = str(element.attrs.get("href") or element.attrs.get("content") or "")
        if found := _IN_PATH.search(address):
            yield found[1]


def _scripts(document: Document) -> Iterator[str]:
    """Yield the days in the data of scripts, except valid JSON-LD, which was read before."""
    for script in document.find_all("script"):
        if "ld+json" not in str(script.attrs.get("type") or "") or not _is_json(script.text):
            yield from (found[1] for found in _IN_SCRIPT.finditer(script.text))


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _shown(lines: Sequence[Line], title: str, language: str) -> tuple[date | None, date | None]:
    """Return the day shown near the heading of a page, and the day shown there as its last change."""
    published, changed = [], []
    for line in _near_title(lines, title):
        if len(line.text) > LONGEST or _EVENT.search(line.text):
            continue
        found = days(line.text, language)
        if found and _UPDATE.search(line.text) and len(found) == 1:
            changed.append(found[0])
        elif found:
            published.append(found[0])
    return next(iter(published), None), next(iter(changed), None)


def _near_title(lines: Sequence[Line], title: str) -> Iterator[Line]:
    """Yield the lines after the heading up to the body of the text, then those before it, nearest first."""
    heading = next(
        (at for at, line in enumerate(lines) if line.place.tag == "h1" and line.text == title), None
    )
    if heading is None:
        heading = next(
            (at for at, line in enumerate(lines) if line.text == title or line.place.tag == "h1"), None
        )
    if heading is None:
        return
    paragraphs = 0
    for line in lines[heading : heading + LINES_AFTER + 1]:
        paragraphs += len(line.text) >= PARAGRAPH
        if paragraphs >= PARAGRAPHS:
            break
        yield line
    yield from reversed(lines[max(heading - LINES_BEFORE, 0) : heading])
