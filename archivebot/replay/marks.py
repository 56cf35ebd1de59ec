"""Blocks of a page marked in the page itself, for a reader who compares two versions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from turbohtml import Element

from archivebot.markup.shadow import parse

# Shown by an outline and a tint, so that the colours of the page stay readable.
STYLE = """<style>
[data-archivebot-change] { outline: 3px solid #b35900 !important; outline-offset: -1px !important;
  background-image: linear-gradient(#ffb00033, #ffb00033) !important; scroll-margin: 3em !important }
[data-archivebot-change="added"] { outline-color: #1a7f37 !important;
  background-image: linear-gradient(#2da44e33, #2da44e33) !important }
[data-archivebot-change="removed"] { outline-color: #b42318 !important;
  background-image: linear-gradient(#ff533333, #ff533333) !important }
[data-archivebot-change="moved"] { outline-color: #6b5bd2 !important;
  background-image: linear-gradient(#6b5bd233, #6b5bd233) !important }
</style>"""

# The start tags of TEMPLATE, some of which begin shadow roots.
_TEMPLATE = re.compile(rb"""<template\b(?:[^<>"']|"[^"]*"|'[^']*')*+>""", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mark:
    """The byte range of a block, and what happened to it."""

    start: int
    end: int
    change: str


def marked(body: bytes, marks: Sequence[Mark]) -> bytes:
    """Return a page with an attribute on the outermost elements of each marked block.

    The first element of the n-th block has the id ``archivebot-n``, unless it has one. A block that is text
    alone becomes an element. The page must have one byte for each ASCII character.

    >>> marked(b"<p>a</p><p id=b>b<i>c</i></p>", [Mark(8, 29, "added")])
    b'<p>a</p><p data-archivebot-change="added" id=b>b<i>c</i></p>'
    >>> marked(b"<p>a</p>b", [Mark(0, 8, "removed"), Mark(8, 9, "added")])[:70]
    b'<p data-archivebot-change="removed" id="archivebot-1">a</p><mark data-'
    """
    inserted: list[tuple[int, str]] = []
    elements = _starts(body)
    for number, mark in enumerate(marks, 1):
        attributes = f' data-archivebot-change="{mark.change}"'
        found = [(at, element) for at, element in elements if _is_outermost(at, element, mark)]
        for index, (at, element) in enumerate(found):
            own = f' id="archivebot-{number}"' if not index and "id" not in element.attrs else ""
            inserted.append((at + 1 + len(element.tag), attributes + own))
        if not found and b"<" not in body[mark.start : mark.end]:
            inserted += (mark.start, f'<mark{attributes} id="archivebot-{number}">'), (mark.end, "</mark>")
    out: list[bytes] = []
    copied = 0
    for at, text in sorted(inserted, key=lambda each: each[0]):
        out += body[copied:at], text.encode()
        copied = at
    return _TEMPLATE.sub(_with_style, b"".join((*out, body[copied:]))) if inserted else body


def _with_style(found: re.Match[bytes]) -> bytes:
    """Return a start tag, that of a shadow root with the style: styles of the page do not apply in it."""
    return found[0] + STYLE.encode() if b"shadowrootmode" in found[0] else found[0]


def _starts(body: bytes) -> list[tuple[int, Element]]:
    """Return the elements that are written in a page, each with the offset of its start tag."""
    # The parser counts a carriage return and a line feed as one character.
    document = parse(body.replace(b"\r", b" ").decode("latin-1"), source_locations=True)
    found = ((_start(element), element) for element in document.select("*"))
    return [(at, element) for at, element in found if at is not None and _is_written(body, at, element)]


def _start(element: Element) -> int | None:
    place = element.source_location
    return place.start_tag.start_offset if place and place.start_tag else None


def _is_written(body: bytes, at: int, element: Element) -> bool:
    return body[at : at + 1 + len(element.tag)].lower() == f"<{element.tag.lower()}".encode(
        "latin-1", "replace"
    )


def _is_outermost(at: int, element: Element, mark: Mark) -> bool:
    if not mark.start <= at < mark.end:
        return False
    above = element.parent if isinstance(element.parent, Element) else None
    start = _start(above) if above is not None else None
    return start is None or not mark.start <= start < mark.end
