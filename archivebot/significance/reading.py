"""A version of a page read once for comparison: its lines, which of them are content, where they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from itertools import accumulate, pairwise

import numpy as np
from numpy.typing import NDArray

from archivebot.content.lines import LineWalk
from archivebot.content.measures import Column
from archivebot.content.page import choose, read, text_of
from archivebot.content.title import shown_title
from archivebot.markup.media import media_of
from archivebot.significance.attributes import Target, full_title, images, links
from archivebot.significance.worth import Worth, Worths

_ESCAPED = re.compile("[\ud800-\udfff]")


class Reading:
    """A version of a page as its ``lines``; what they are worth and where they stand is found when asked.

    Any bytes are accepted. In a text that is no markup every line is firm; what is no text has one line
    that stands for its bytes.

    >>> page = Reading(b"<nav><a href=/>Home</a></nav><p>" + b"A tern dives for fish. " * 9)
    >>> [(line[:6], worth.name, start) for line, worth, start in zip(page.lines, page.worth, page.starts)]
    [('Home', 'FURNITURE', 5), ('A tern', 'FIRM', 32)]
    >>> Reading(b"a,1\\n\\nb,2", "text/csv").starts
    (0, 5)
    >>> Reading(b"%PDF-1.4").lines
    ('8 bytes, SHA-256 e16fa5d9b5192875',)
    """

    def __init__(self, body: bytes, content_type: str = "") -> None:
        media = media_of(body, content_type)
        self._charset, self._length = media.charset, len(body)
        self._source, self._page = "", None
        self._places: list[int] = []
        if media.is_markup:
            self._source = _decoded(body, self._charset)
            self._page = read(_readable(self._source))
            self.lines = tuple(line.text for line in self._page[1].lines)
        elif not media.is_text:
            self.lines = (f"{len(body)} bytes, SHA-256 {sha256(body).hexdigest()[:16]}",)
            self._places = [0]
        else:
            self._source = _decoded(body, self._charset)
            found = _plain(self._source)
            self.lines = tuple(text for text, _ in found)
            self._places = [place for _, place in found]

    @cached_property
    def worth(self) -> Sequence[Worth]:
        """What a change of each line is worth."""
        if self._page is None:
            return (Worth.FIRM,) * len(self.lines)
        likelihood, chosen = self._choice
        return Worths(self._page[1].lines, likelihood, chosen, self.title)

    @cached_property
    def main_text(self) -> str:
        """The main text as of :func:`archivebot.content.page.content`; of what is no markup none."""
        return text_of(*self._page, self._choice[1]) if self._page is not None else ""

    @cached_property
    def _choice(self) -> tuple[Column, NDArray[np.bool_]]:
        assert self._page is not None
        return choose(*self._page)

    @cached_property
    def title(self) -> str:
        """The title element of the page, without the name of its site."""
        return shown_title(self._page[0]) if self._page is not None else ""

    @cached_property
    def full_title(self) -> str:
        """The title element of the page, with the name of its site."""
        return full_title(self._page[0]) if self._page is not None else ""

    @cached_property
    def links(self) -> list[Target]:
        """The links of the page that have a text."""
        return links(self._page[0]) if self._page is not None else []

    @cached_property
    def images(self) -> list[Target]:
        """The images of the page."""
        return images(self._page[0]) if self._page is not None else []

    def in_content(self, target: Target, *, image: bool) -> bool:
        """Return whether a link stands in a line of content, or an image in such a line or before it."""
        index = bisect_right(self._edges, target.place)
        return any(worth >= Worth.LIGHT for worth in self.worth[max(index - 1, 0) : index + image])

    @cached_property
    def _edges(self) -> list[int]:
        assert self._page is not None
        return _starts(self._page[1])

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """At or after which byte of the body each line stands."""
        places = self._places if self._page is None else self._edges
        return tuple(_in_bytes(places, self._source, self._charset, self._length))


def _plain(source: str) -> list[tuple[str, int]]:
    """Return the lines of a text that are not blank, each with its place."""
    pieces = source.splitlines(keepends=True)
    places = accumulate(map(len, pieces), initial=0)
    found = [(" ".join(piece.split()), place) for piece, place in zip(pieces, places, strict=False)]
    return [(text, place) for text, place in found if text]


def _starts(walk: LineWalk) -> list[int]:
    """Return for each line the character of the source at or after which it stands."""
    edges = np.zeros(len(walk.lines) + 1, dtype=np.int64)
    for place in walk.places:
        location = place.element.source_location if place.element is not None else None
        if location is not None:
            edges[place.first] = max(edges[place.first], location.start_tag.end_offset)
            if location.end_tag is not None:
                edges[place.last] = max(edges[place.last], location.end_tag.end_offset)
    starts: list[int] = np.maximum.accumulate(edges)[:-1].tolist()
    return starts


def _decoded(body: bytes, charset: str) -> str:
    try:
        return body.decode(charset, "surrogateescape")
    except UnicodeError:
        return body.decode(charset, "replace")


def _readable(source: str) -> str:
    """Hide from the parser what would move its offsets: CRLF, the byte-order mark, what is no character."""
    source = source.replace("\r\n", " \n").replace("\r", "\n")
    source = source if source.isascii() else _ESCAPED.sub("\ufffd", source)
    return f" {source[1:]}" if source.startswith("\ufeff") else source


def _in_bytes(starts: Sequence[int], source: str, charset: str, length: int) -> list[int]:
    """Turn places in the source, in order, into places in the body."""
    if len(source) == length:
        return list(starts)
    places, at = [], 0
    for first, last in pairwise([0, *starts]):
        at += len(source[first:last].encode(charset, "surrogateescape"))
        places.append(at)
    return places
