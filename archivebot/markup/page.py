"""A page parsed once: everything is read from one tree."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property
from typing import NamedTuple

import numpy as np
from turbohtml import Document, Element

from archivebot.markup.charset import is_wide
from archivebot.markup.shadow import parse

# A byte that is invalid in the charset becomes one of these characters, so that it can be counted.
ESCAPED = re.compile("[\ud800-\udfff]")

# Maximum of HTML and BODY tags that are read: each later tag copies the attributes of all earlier ones. No
# real page has ten of them.
MOST_ROOTS = 100

_ROOT = re.compile("<(?:[hH][tT][mM][lL]|[bB][oO][dD][yY])")  # faster than IGNORECASE
_NOT_ASCII = re.compile("[^\x00-\x7f]+")


class Node(NamedTuple):
    """An element, or a piece of text (``element`` None), in [start, end) of the source text."""

    element: Element | None
    start: int
    end: int
    opened: int = 0  # where the start tag ends
    closed: int | None = None  # where the end tag starts, if there is one
    tag: str = ""  # lower-case name of the element, or "" for text


class ParsedPage:
    """A body of markup, its text, and the tree of its elements, each computed lazily.

    The tree is built by turbohtml after the HTML standard, without scripting: NOSCRIPT holds elements. Its
    offsets are characters of ``source``; :meth:`at` converts them to bytes of the body. Any bytes are
    accepted, with any Python codec that can encode the text again.

    >>> page = ParsedPage("<p>één <b>x</b>".encode(), "utf-8")
    >>> bold = page.document.find("b").source_location
    >>> bold.start_tag.start_offset, page.at(bold.start_tag.start_offset)
    (7, 9)
    >>> page.piece(3, 9), page.is_exact
    ('één ', True)
    """

    def __init__(self, body: bytes, charset: str) -> None:
        self.body, self.charset = body, charset

    def forget(self) -> None:
        """Drop the tree and all that was computed; it is computed again if it is needed."""
        body, charset = self.body, self.charset
        vars(self).clear()
        self.body, self.charset = body, charset

    @classmethod
    def of(cls, text: str) -> ParsedPage:
        """Return the page of a text, in UTF-8."""
        return cls(ESCAPED.sub("\ufffd", text).encode(), "utf-8")

    @cached_property
    def document(self) -> Document:
        """The tree of the page, with the place of each tag in the source."""
        return parse(self.source, source_locations=True)

    @property
    def has_tree(self) -> bool:
        """Whether the page is parsed and its tree was not dropped."""
        return "document" in vars(self)

    @cached_property
    def opened(self) -> dict[Element, tuple[Node, ...]]:
        """The children of the elements whose children were asked for; see :mod:`archivebot.markup.tree`."""
        return {}

    @cached_property
    def source(self) -> str:
        """The text as the parser reads it, as long as :attr:`text`."""
        return same_length(self.text, is_clean=self._is_utf8)

    @property
    def text(self) -> str:
        """The characters of the body; invalid bytes are lone surrogates."""
        return self._read[0]

    @property
    def _is_utf8(self) -> bool:
        return self._read[1]

    @cached_property
    def _read(self) -> tuple[str, bool]:
        """The text, and whether it is valid UTF-8."""
        if self.charset == "utf-8":
            with suppress(UnicodeDecodeError):
                return self.body.decode(), True
        return decoded(self.body, self.charset), False

    @property
    def is_exact(self) -> bool:
        """Whether the byte offset of each tag is known: the encoded text has the length of the body."""
        return self._longer is not None

    @cached_property
    def at(self) -> Callable[[int], int]:
        """Return the function from the character offset of a tag to its byte offset.

        If the page is not exact, it returns the character offset.
        """
        ends, longer = self._longer or ([], [0])
        unit = self.blank
        if not ends and unit == 1:
            return int
        return lambda offset: offset * unit + longer[bisect_right(ends, offset)]

    def piece(self, start: int, end: int) -> str:
        """Return the text of the bytes [start, end)."""
        return decoded(self.body[start:end], self.charset)

    @property
    def end(self) -> int:
        """The number of bytes."""
        return len(self.body)

    @property
    def blank(self) -> int:
        """The number of bytes of a blank."""
        return len(" ".encode(self.charset)) if is_wide(self.charset) else 1

    def bytewise(self, text: str) -> str:
        """Return a text of the page with a character for each byte of it, of UTF-16 for each character."""
        if text.isascii() or is_wide(self.charset):
            return text
        return text.encode(self.charset, "replace").decode("latin-1")

    @cached_property
    def _longer(self) -> tuple[list[int], list[int] | range] | None:
        """Return character offsets in order, and how many bytes longer than blanks the text before each is.

        Returns None if that is not known.
        """
        if len(self.text) == len(self.body) and self.body.isascii():
            return [], [0]
        return self._more_of_utf8() if self._is_utf8 else self._more_of_runs()

    def _more_of_utf8(self) -> tuple[list[int], range]:
        """Each byte that goes on a character is one more, from the next character on."""
        on = np.flatnonzero((np.frombuffer(self.body, np.uint8) & 0xC0) == 0x80)
        return (on - np.arange(len(on))).tolist(), range(len(on) + 1)

    def _more_of_runs(self) -> tuple[list[int], list[int]] | None:
        """Encode the runs of characters outside ASCII again."""
        ends, longer, more = [], [0], 0
        for run in _NOT_ASCII.finditer(self.text):
            try:
                size = len(run[0].encode(self.charset, self._errors))
            except UnicodeError:  # it was read with losses
                return None
            more += size - len(run[0]) * self.blank
            ends.append(run.end())
            longer.append(more)
        # Half a character at the end is not part of the text.
        rest = len(self.body) - len(self.text) * self.blank - more
        return (ends, longer) if 0 <= rest < self.blank else None

    @property
    def _errors(self) -> str:
        return "surrogatepass" if is_wide(self.charset) else "surrogateescape"


def decoded(body: bytes, charset: str) -> str:
    """Return the text of a body; invalid bytes become lone surrogates if the codec supports that.

    >>> decoded(b"a\\xff", "utf-8"), decoded("a😀".encode("utf-16-le") + b"x", "utf-16-le")
    ('a\\udcff', 'a😀')
    """
    try:
        if is_wide(charset):
            return body[: len(body) & -len(" ".encode(charset))].decode(charset, "surrogatepass")
        return body.decode(charset, "surrogateescape")
    except UnicodeError:
        return body.decode(charset, "replace")


def same_length(text: str, *, is_clean: bool = False) -> str:
    """Hide from the parser all that would shift its offsets.

    These are CRLF, the byte-order mark, invalid characters, and the tags of HTML and BODY beyond
    :data:`MOST_ROOTS`.

    A text that ``is_clean`` has no invalid characters.

    >>> same_length("\\ufeffa\\r\\nb\\rc\\udcff")
    ' a \\nb\\nc\\ufffd'
    """
    if "\r" in text:
        text = text.replace("\r\n", " \n").replace("\r", "\n")
    if not (is_clean or text.isascii()):
        text = ESCAPED.sub("\ufffd", text)
    if text.startswith("\ufeff"):
        text = f" {text[1:]}"
    return few_roots(text)


def few_roots(text: str) -> str:
    """Return a text as long, in which tags of HTML and BODY beyond :data:`MOST_ROOTS` end what never began.

    >>> few_roots("<html>" * (MOST_ROOTS + 1) + "x")[-13:]
    '<html></tml>x'
    """
    extra = [found.start() for found in _ROOT.finditer(text)][MOST_ROOTS:]
    if not extra:
        return text
    ends = [*extra[1:], len(text)]
    return text[: extra[0]] + "".join(f"</{text[a + 2 : b]}" for a, b in zip(extra, ends, strict=True))
