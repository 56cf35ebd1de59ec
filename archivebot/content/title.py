"""The title of a page: the heading above its text that agrees with its metadata."""

from __future__ import annotations

import re
from collections.abc import Sequence

from turbohtml import Document

from archivebot.content.lines import Line

# Minimum of characters of a paragraph, with which the body text starts.
PARAGRAPH = 80

# Font size, centring and colour, as far as attributes and style sheets of the page state them, find fewer
# titles than levels and metadata. The largest line above the body is the annotated title of 0.496 of the
# pages of WCXB and of 0.362 of articles-dev (here 0.676 and 0.709). Among headings that agree with the
# metadata, the largest has the annotated words on 0.582 and 0.630 of the pages. Among several headings of the
# first level, on 15 of 867 pages, the size changes the title of two, which are of one site.

# Maximum of characters of a title; a longer heading is a paragraph in large type.
MOST_TITLE = 200

_PARTS = re.compile(r"\s+[|–—·•»:/-]+\s+|\s*[|»]\s*")
_WORDS = re.compile(r"\w+")


def title(document: Document, lines: Sequence[Line], main: Sequence[bool]) -> str:
    """Return the title of a page, or "" if it has none.

    SkyReach's three steps: the body starts at the first paragraph of the main text. The heading of the first
    level above it is the candidate, the longest of several. If the title element continues with the next
    heading, that belongs to the title. Without rendering, the level stands for the size. As the largest
    letters are often a slogan or the site's name, the heading must agree with the title in the metadata; if
    none agrees, the longest part of the metadata title is used. Of 739 pages of the WCXB corpus 0.675 get the
    words of the annotated title; 0.650 by the longest part alone, 0.616 with headings of three levels.

    >>> from turbohtml import parse
    >>> title(parse("<title>Block storage | Example</title>"), [], [])
    'Block storage'
    """
    start = next((i for i, line in enumerate(lines) if main[i] and len(line.text) >= PARAGRAPH), len(lines))
    stated = _stated(document)
    headings = [i for i, line in enumerate(lines) if _is_heading(line)]
    for end in (start, len(lines)):
        above = [i for i in headings if i < end]
        borne = _borne(lines, above, stated) if stated else above
        if borne:
            index = max(borne, key=lambda i: len(lines[i].text))
            return _whole(lines, index, stated)
    return _parts(stated)[0] if stated else ""


def full_title(document: Document) -> str:
    """Return the title element of a page, "" if there is none."""
    element = document.find("title")
    return " ".join(element.text.split()) if element is not None else ""


def shown_title(document: Document) -> str:
    """Return the title element without the name of the site, or "" if there is none.

    >>> from turbohtml import parse
    >>> shown_title(parse("<title>Terns of the north | Example</title>")), shown_title(parse(""))
    ('Terns of the north', '')
    """
    return _parts(full_title(document))[0]


def _is_heading(line: Line) -> bool:
    return line.place.tag == "h1" and len(line.text) <= MOST_TITLE


def _borne(lines: Sequence[Line], headings: Sequence[int], stated: str) -> list[int]:
    """Return the headings that share half of the words of the shorter of both with a stated title.

    The name of the site, a short part beside a longer one, does not count as a title.
    """
    given = set(_WORDS.findall(stated.lower()))
    site = {part.lower() for part in _parts(stated)[1:]}
    found = []
    for index in headings:
        text = lines[index].text.lower()
        words = set(_WORDS.findall(text))
        if 2 * len(words & given) >= max(min(len(words), len(given)), 1) and text not in site:
            found.append(index)
    return found


def _whole(lines: Sequence[Line], index: int, stated: str) -> str:
    """Return a heading, joined with the next heading if the title element has both in a row."""
    text = lines[index].text
    if index + 1 < len(lines) and _is_heading(lines[index + 1]):
        both = f"{text} {lines[index + 1].text}"
        if both.lower() in stated.lower():
            return both
    return text


def _stated(document: Document) -> str:
    """Return the title in the metadata: of Open Graph, else the title element."""
    for meta in document.find_all("meta"):
        name = meta.attrs.get("property") or meta.attrs.get("name")
        if name == "og:title" and (text := " ".join(str(meta.attrs.get("content") or "").split())):
            return text
    return full_title(document)


def _parts(text: str) -> list[str]:
    """Split a metadata title from the name of its site; the longest part is the title."""
    return sorted(filter(None, _PARTS.split(text)), key=len, reverse=True) or [text]
