"""The content of a page: its main text with its position, title, language, date of publication."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from turbohtml import Document

from archivebot.content import maintext
from archivebot.content.lines import LineWalk, Place, are_kept
from archivebot.content.measures import Column
from archivebot.content.model import shipped
from archivebot.content.published import published
from archivebot.content.rewritten import Offsets, moved, rewritten, starts_of
from archivebot.content.summary import description, is_kept
from archivebot.content.surroundings import Around
from archivebot.content.title import title
from archivebot.documents.document import document_text
from archivebot.markup.charset import codec, wide_charset
from archivebot.markup.edits import Edits
from archivebot.markup.media import media_of
from archivebot.markup.page import ESCAPED, ParsedPage, decoded
from archivebot.text.language import guess, language

# Maximum of characters of the title element with which lines are compared.
MOST_TITLE = 500

# A page with fewer characters is a shell that a script fills; its description is read instead.
LEAST_TEXT = 100


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a page.

    ``text`` has a line for each paragraph, item, cell or heading of the main content, and the line breaks
    and blank lines within them. ``ranges`` are the [start, end) of the elements that contain it, in order:
    bytes of a body, characters of a string.
    """

    title: str = ""
    text: str = field(default="", repr=False)
    language: str = ""
    published: date | None = None
    ranges: tuple[tuple[int, int], ...] = field(default=(), repr=False)


def content(markup: bytes | str, charset: str = "utf-8") -> Content:
    """Return the main content of a page.

    A small network judges the lines of the page by their text, links, position, the names of the elements
    around them and the neighbouring lines. The set of lines with the greatest expected F1 is kept. A page
    with visible text never has an empty text. Any bytes are accepted.

    >>> article = b"<h1>Terns</h1><p>" + b"A tern dives for fish. " * 30
    >>> page = content(b"<html lang=en><nav><ul><li><a href=/>Home</a></ul></nav>" + article)
    >>> page.title, page.language, "dives for fish" in page.text, "Home" in page.text
    ('Terns', 'en', True, False)
    >>> content(b"")
    Content(title='', language='', published=None)
    """
    if isinstance(markup, str):
        return PageContent(ParsedPage.of(markup)).content(in_bytes=False)
    return PageContent(_parsed(markup, charset)).content()


def body_content(body: bytes, content_type: str = "") -> Content:
    """Return the content of a body: of a page as :func:`content`, of a text or a document all, else none.

    >>> body_content(b"a,1\\r\\n\\r\\nb,2", "text/csv").text
    'a,1\\n\\nb,2'
    >>> body_content(b"%PDF-1.4").text, body_content(b"<p>A <b>page</b>").text
    ('', 'A page')
    """
    media = media_of(body, content_type)
    if media.is_document:
        title, text = document_text(body, media.type)
        return Content(title, text, guess(text))
    if not media.is_text:
        return Content()
    if media.is_markup:
        return content(body, media.charset)
    rows = decoded(body, media.charset).removeprefix("\ufeff").splitlines()
    text = ESCAPED.sub("\ufffd", "\n".join(row.rstrip() for row in rows).strip("\n"))
    return Content(text=text, language=guess(text), ranges=((0, len(body)),) if text else ())


def main_text(markup: bytes | str, charset: str = "utf-8") -> str:
    """Return the main text alone, as :func:`content` does.

    >>> main_text(b"<p>The ferry runs all year.")
    'The ferry runs all year.'
    """
    page = ParsedPage.of(markup) if isinstance(markup, str) else _parsed(markup, charset)
    return PageContent(page).text


class PageContent:
    """The lines of a page and its main content; each part is computed lazily, once."""

    _has_tree = True

    # The offsets after the start tags of the elements that hold lines, noted once a page has the elements of
    # the version before: then the next version may have them, too.
    _starts: Offsets | None = None
    _is_noted = False

    def __init__(self, page: ParsedPage) -> None:
        self.page = page

    @cached_property
    def walk(self) -> LineWalk:
        """The lines, and the elements that hold them."""
        return LineWalk(self.page.document)

    @cached_property
    def choice(self) -> tuple[Column, NDArray[np.bool_]]:
        """The likelihood of each line, and the lines chosen for the main content."""
        return choose(self.walk, self.title_words, self.around)

    @cached_property
    def around(self) -> Around | None:
        """The elements around the lines; None if there are no lines."""
        return Around.of(self.walk.lines) if self.walk.lines else None

    @cached_property
    def title_words(self) -> str:
        """The title element in lower case; see :func:`title_words`."""
        return title_words(self.page.document)

    def follow(self, before: PageContent, edits: Edits | None) -> None:
        """Take over the choice of lines of an earlier version if this one has the same lines and title.

        The choice depends on nothing else, so it is the same. If the ``edits`` between the two keep the
        lines, the page is not read for this. If they show which lines differ, only these are read, and the
        lines are chosen again.
        """
        known = vars(before).get("choice")
        if known is None or "choice" in vars(self):
            return
        self._is_noted = edits is not None
        if edits and are_kept(edits):
            self._take_over(before, edits)
            return
        if edits and self._rewrite(before, edits):
            return
        if self.title_words != before.title_words:
            return
        if self.walk.is_like(before.walk):
            self.choice = known

    def _take_over(self, before: PageContent, edits: Edits) -> None:
        """Take over the lines of an earlier version that was read, and what depends on them alone."""
        before.forget_tree()
        self.walk, self.choice, self.title_words = before.walk, before.choice, before.title_words
        self._has_tree = False
        self._starts = moved(before._starts, edits) if before._starts is not None else None
        if "around" in vars(before):
            self.around = vars(before).pop("around")
        if "text" in vars(before) and (is_kept(edits) or not is_shell(before.walk)):
            self.text = before.text

    def _rewrite(self, before: PageContent, edits: Edits) -> bool:
        """Take over the lines of an earlier version except those with an edited text; return whether it can.

        The elements around the lines are the same, and the title, which is in no line.
        """
        before.forget_tree()
        starts = moved(before._starts, edits) if before._starts is not None else None
        if before._starts is None or starts is None:
            return False
        walk = rewritten(before.walk, before._starts, edits, self.page.charset)
        if walk is None or is_shell(walk):
            return False
        around = vars(before).pop("around", None)
        self.around = around.with_texts(walk.lines) if around is not None else Around.of(walk.lines)
        self.walk, self._starts, self.title_words = walk, starts, before.title_words
        self.choice = choose(walk, self.title_words, self.around)
        self.text = maintext.joined(walk.lines, self.choice[1].tolist())
        self._has_tree = False
        return True

    @property
    def places(self) -> list[Place]:
        """The elements that hold the lines, with their places in the source."""
        if self._has_tree:
            return self.walk.places
        return self._places

    @cached_property
    def _places(self) -> list[Place]:
        return LineWalk(self.page.document).places

    def forget_tree(self) -> None:
        """Drop the tree, which is parsed again if it is needed; keep the lines if the choice is known."""
        computed = vars(self)
        computed.pop("_places", None)
        if "choice" in computed:
            if self._has_tree:
                self._starts = starts_of(self.walk, self.page) if self._is_noted else None
                self.walk.forget_elements()
            self._has_tree = False
            if self._starts is None:
                computed.pop("around", None)
        else:
            computed.pop("walk", None)
            computed.pop("around", None)
        self.page.forget()

    @cached_property
    def text(self) -> str:
        """The main text."""
        return text_of(self.page.document, self.walk, self.choice[1])

    @cached_property
    def title(self) -> str:
        """The title."""
        return title(self.page.document, self.walk.lines, self.choice[1].tolist())

    @cached_property
    def language(self) -> str:
        """The code of the language."""
        return language(self.page.document, self.text)

    @cached_property
    def published(self) -> date | None:
        """The day of publication, None if the page states none."""
        return published(self.page.document, self.walk.lines, self.title, self.language or "en")

    def content(self, *, in_bytes: bool = True) -> Content:
        """Return all of the content, as :func:`content` does; its ranges are bytes, or characters."""
        ranges = tuple(self._ranges(self.choice[1], in_bytes))
        return Content(self.title, self.text, self.language, self.published, ranges)

    def _ranges(self, chosen: NDArray[np.bool_], in_bytes: bool) -> Iterator[tuple[int, int]]:
        """Yield the ranges of the chosen lines; none if the byte offsets are not known."""
        if not in_bytes or self.page.is_exact:
            at = self.page.at if in_bytes else int
            for start, end in maintext.ranges(self.places, self.walk.lines, chosen):
                yield at(start), at(end)


def _parsed(markup: bytes, charset: str) -> ParsedPage:
    """Return the parsed page; an unknown charset is replaced by UTF-8."""
    return ParsedPage(markup, wide_charset(markup, charset) or codec(charset) or "utf-8")


def choose(walk: LineWalk, title: str, around: Around | None = None) -> tuple[Column, NDArray[np.bool_]]:
    """Return the likelihood of each line of a page, and the lines chosen for the main content.

    ``title`` is the title element in lower case, and ``around`` the elements around the lines, if the caller
    knows them.
    """
    likelihood = shipped().likelihood(walk.lines, title, around)
    return likelihood, maintext.choose(likelihood, [line.words for line in walk.lines])


def text_of(document: Document, walk: LineWalk, chosen: NDArray[np.bool_]) -> str:
    """Return the main text from the chosen lines; for a shell, its description, too."""
    text = maintext.joined(walk.lines, chosen.tolist())
    if is_shell(walk):
        text = "\n".join(filter(None, (text, description(document))))
    return text


def is_shell(walk: LineWalk) -> bool:
    """Return whether a page has hardly any text, so that its description belongs to its main text."""
    return all(size < LEAST_TEXT for size in accumulate(len(line.text) for line in walk.lines))


def read(source: str) -> tuple[Document, LineWalk]:
    """Parse a page and gather its lines."""
    found = PageContent(ParsedPage.of(source))
    return found.page.document, found.walk


def title_words(document: Document) -> str:
    """Return the title element in lower case, with which lines are compared; a long one is cut."""
    element = document.find("title")
    return " ".join(element.text.lower().split())[:MOST_TITLE] if element is not None else ""
