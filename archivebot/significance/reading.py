"""A version of a page, read once for comparison: its lines, their worth, and their positions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from functools import cached_property
from hashlib import sha256
from itertools import accumulate
from typing import overload

from turbohtml import Document

from archivebot.content.lines import Place
from archivebot.content.lines import are_kept as lines_are_kept
from archivebot.content.page import PageContent
from archivebot.content.title import full_title, shown_title
from archivebot.documents.document import document_text
from archivebot.markup.edits import Edits
from archivebot.markup.media import media_of
from archivebot.markup.page import ParsedPage
from archivebot.significance.attributes import Target, are_kept, images, links
from archivebot.significance.worth import Worth, Worths
from archivebot.text import composed


class Reading:
    """A version of a page as its ``lines``; their worth and their positions are computed lazily.

    Any bytes are accepted. In a text without markup, and in a document, every line is firm. A body without
    text has one line that stands for its bytes.

    >>> page = Reading(b"<nav><a href=/>Home</a></nav><p>" + b"A tern dives for fish. " * 9)
    >>> [(line[:6], worth.name, page.start(i)) for i, (line, worth) in enumerate(zip(page.lines, page.worth))]
    [('Home', 'FURNITURE', 5), ('A tern', 'FIRM', 32)]
    >>> Reading(b"a,1\\n\\nb,2", "text/csv").start(1)
    5
    >>> Reading(b"%PDF-1.4").lines
    ('8 bytes, SHA-256 e16fa5d9b5192875',)
    """

    def __init__(self, body: bytes, content_type: str = "") -> None:
        self.body, self.media = body, media_of(body, content_type)
        self.content = PageContent(ParsedPage(body, self.media.charset)) if self.media.is_markup else None

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The visible lines; the same letters are the same characters, also in another normal form."""
        if self.content is not None:
            return tuple(composed(line.text) for line in self.content.walk.lines)
        return tuple(composed(text) for text, _ in self._plain)

    @cached_property
    def _plain(self) -> list[tuple[str, int]]:
        """The lines of a body without markup, each with its byte offset."""
        body = self.body
        text = document_text(body, self.media.type).text if self.media.is_document else ""
        if text:
            return [(" ".join(line.split()), 0) for line in text.split("\n") if line.strip()]
        if not self.media.is_text:
            return [(f"{len(body)} bytes, SHA-256 {sha256(body).hexdigest()[:16]}", 0)]
        page = ParsedPage(body, self.media.charset)
        pieces = page.source.splitlines(keepends=True)
        places = accumulate(map(len, pieces), initial=0)
        found = [(" ".join(piece.split()), place) for piece, place in zip(pieces, places, strict=False)]
        return [(line, page.at(place)) for line, place in found if line]

    @cached_property
    def worth(self) -> Sequence[Worth]:
        """The worth of a change of each line."""
        if self.content is None:
            return (Worth.FIRM,) * len(self.lines)
        likelihood, chosen = self.content.choice
        return Worths(self.content.walk.lines, likelihood, chosen, self.title)

    @property
    def main_text(self) -> str:
        """The main text (see :func:`archivebot.content.page.content`); empty if the body is not markup."""
        return self.content.text if self.content is not None else ""

    @cached_property
    def title(self) -> str:
        """The title element of the page, without the name of its site."""
        return composed(shown_title(self.document)) if self.document is not None else ""

    @cached_property
    def full_title(self) -> str:
        """The title element of the page, with the name of its site."""
        return composed(full_title(self.document)) if self.document is not None else ""

    @cached_property
    def links(self) -> list[Target]:
        """The links of the page that have a text."""
        return links(self.document) if self.document is not None else []

    @cached_property
    def images(self) -> list[Target]:
        """The images of the page."""
        return images(self.document) if self.document is not None else []

    @cached_property
    def shown(self) -> object:
        """An object that is the same for versions that are known to have the same title, links and images."""
        return object()

    def take_over(self, before: Reading, edits: Edits) -> None:
        """Take over what was found in an earlier version, as far as the ``edits`` since then keep it."""
        if are_kept(edits):
            self.shown = before.shown
            if "title" in vars(before):
                self.title = before.title
        if lines_are_kept(edits) and "lines" in vars(before):
            self.lines = before.lines

    @property
    def document(self) -> Document | None:
        """The tree of the page; None if it is not markup."""
        return self.content.page.document if self.content is not None else None

    def in_content(self, target: Target, *, image: bool) -> bool:
        """Return whether a link is in a line of content, or an image in or before such a line."""
        index = bisect_right(range(len(self.lines)), target.place, key=self._edge)
        return any(worth >= Worth.LIGHT for worth in self.worth[max(index - 1, 0) : index + image])

    def start(self, index: int) -> int:
        """Return the byte offset of a line, or of the tag before it."""
        if self.content is None:
            return self._plain[index][1]
        return self.content.page.at(self._edge(index))

    def _edge(self, index: int) -> int:
        """Return the character offset in the source of a line, or of the tag before it.

        That tag belongs to the element opened last before the line, or to an element around it.
        """
        assert self.content is not None
        edge = 0
        place: Place | None = self.content.places[bisect_right(self._firsts, index) - 1]
        while place is not None:
            location = place.element.source_location if place.element is not None else None
            if location is not None:
                edge = max(edge, location.start_tag.end_offset)
                if location.end_tag is not None and place.last <= index:
                    edge = max(edge, location.end_tag.end_offset)
            place = place.parent
        return edge

    @cached_property
    def _firsts(self) -> list[int]:
        assert self.content is not None
        return [place.first for place in self.content.places]


class Starts(Sequence[int]):
    """The byte offsets of some lines of a page, each found when it is asked for.

    Most comparisons ask for none, and a page without its tree would be parsed again.

    >>> list(Starts(Reading(b"<p>A tern<p>dives"), [1]))
    [12]
    """

    def __init__(self, page: Reading, lines: Sequence[int]) -> None:
        self._page, self._lines = page, lines

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, index: int) -> int: ...

    @overload
    def __getitem__(self, index: slice) -> Starts: ...

    def __getitem__(self, index: int | slice) -> int | Starts:
        if isinstance(index, slice):
            return Starts(self._page, self._lines[index])
        return self._page.start(self._lines[index])
