"""A version of a page, read once for comparison: its lines, their worth, and their positions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from itertools import accumulate

import numpy as np
from turbohtml import Document

from archivebot.content.lines import LineWalk
from archivebot.content.page import PageContent
from archivebot.content.title import shown_title
from archivebot.markup.media import media_of
from archivebot.markup.page import ParsedPage
from archivebot.significance.attributes import Target, full_title, images, links
from archivebot.significance.worth import Worth, Worths


class Reading:
    """A version of a page as its ``lines``; their worth and their positions are computed lazily.

    Any bytes are accepted. In a text without markup every line is firm. A body without text has one line that
    stands for its bytes.

    >>> page = Reading(b"<nav><a href=/>Home</a></nav><p>" + b"A tern dives for fish. " * 9)
    >>> [(line[:6], worth.name, start) for line, worth, start in zip(page.lines, page.worth, page.starts)]
    [('Home', 'FURNITURE', 5), ('A tern', 'FIRM', 32)]
    >>> Reading(b"a,1\\n\\nb,2", "text/csv").starts
    (0, 5)
    >>> Reading(b"%PDF-1.4").lines
    ('8 bytes, SHA-256 e16fa5d9b5192875',)
    """

    def __init__(self, body: bytes, content_type: str = "") -> None:
        self.body, self.media = body, media_of(body, content_type)
        self.content = PageContent(ParsedPage(body, self.media.charset)) if self.media.is_markup else None

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The visible lines."""
        if self.content is not None:
            return tuple(line.text for line in self.content.walk.lines)
        return tuple(text for text, _ in self._plain)

    @cached_property
    def _plain(self) -> list[tuple[str, int]]:
        """The lines of a body without markup, each with its byte offset."""
        body = self.body
        if not self.media.is_text:
            return [(f"{len(body)} bytes, SHA-256 {sha256(body).hexdigest()[:16]}", 0)]
        text = ParsedPage(body, self.media.charset)
        pieces = text.source.splitlines(keepends=True)
        places = accumulate(map(len, pieces), initial=0)
        found = [(" ".join(piece.split()), place) for piece, place in zip(pieces, places, strict=False)]
        return [(line, text.at(place)) for line, place in found if line]

    @cached_property
    def worth(self) -> Sequence[Worth]:
        """The worth of a change of each line."""
        if self.content is None:
            return (Worth.FIRM,) * len(self.lines)
        likelihood, chosen = self.content.choice
        return Worths(self.content.walk.lines, likelihood, chosen, self.title)

    @property
    def main_text(self) -> str:
        """The main text (see :func:`archivebot.content.page.content`); empty if it is not markup."""
        return self.content.text if self.content is not None else ""

    @cached_property
    def title(self) -> str:
        """The title element of the page, without the name of its site."""
        return shown_title(self.document) if self.document is not None else ""

    @cached_property
    def full_title(self) -> str:
        """The title element of the page, with the name of its site."""
        return full_title(self.document) if self.document is not None else ""

    @cached_property
    def links(self) -> list[Target]:
        """The links of the page that have a text."""
        return links(self.document) if self.document is not None else []

    @cached_property
    def images(self) -> list[Target]:
        """The images of the page."""
        return images(self.document) if self.document is not None else []

    @property
    def document(self) -> Document | None:
        """The tree of the page; None if it is not markup."""
        return self.content.page.document if self.content is not None else None

    def in_content(self, target: Target, *, image: bool) -> bool:
        """Return whether a link is in a line of content, or an image in or before such a line."""
        index = bisect_right(self._edges, target.place)
        return any(worth >= Worth.LIGHT for worth in self.worth[max(index - 1, 0) : index + image])

    @cached_property
    def _edges(self) -> list[int]:
        assert self.content is not None
        return _starts(self.content.walk)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """The byte offset of each line, or of the tag before it."""
        if self.content is None:
            return tuple(place for _, place in self._plain)
        return tuple(map(self.content.page.at, self._edges))


def _starts(walk: LineWalk) -> list[int]:
    """Return for each line its character offset in the source, or that of the tag before it."""
    edges = np.zeros(len(walk.lines) + 1, dtype=np.int64)
    for place in walk.places:
        location = place.element.source_location if place.element is not None else None
        if location is not None:
            edges[place.first] = max(edges[place.first], location.start_tag.end_offset)
            if location.end_tag is not None:
                edges[place.last] = max(edges[place.last], location.end_tag.end_offset)
    starts: list[int] = np.maximum.accumulate(edges)[:-1].tolist()
    return starts
