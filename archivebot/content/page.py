"""The content of a page: its main text, where that stands, title, language, date of publication."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray
from turbohtml import Document, parse

from archivebot.content import maintext
from archivebot.content.lines import LineWalk
from archivebot.content.measures import Column
from archivebot.content.model import shipped
from archivebot.content.published import published
from archivebot.content.title import title
from archivebot.markup.media import media_of
from archivebot.text.language import guess, language

# Characters below which a page is a shell that a script fills; it is read by its description.
LEAST_TEXT = 100


@dataclass(frozen=True, slots=True)
class Content:
    """What a page says. ``text`` has a line for each paragraph, item, cell or heading of the main
    content, and the line breaks and blank lines within them; ``ranges`` are the [start, end) of the
    elements that hold it, in order: bytes of a body, characters of a string.
    """

    title: str = ""
    text: str = field(default="", repr=False)
    language: str = ""
    published: date | None = None
    ranges: tuple[tuple[int, int], ...] = field(default=(), repr=False)


def content(markup: bytes | str, charset: str = "utf-8") -> Content:
    """Read the main content of a page.

    The lines of the page are judged by a small network over their text, links, position, the names of
    the elements around them and the lines among which they stand; those are kept for which the expected
    F1 is greatest. A page that shows text has a text. Any bytes are accepted.

    >>> article = b"<h1>Terns</h1><p>" + b"A tern dives for fish. " * 30
    >>> page = content(b"<html lang=en><nav><ul><li><a href=/>Home</a></ul></nav>" + article)
    >>> page.title, page.language, "dives for fish" in page.text, "Home" in page.text
    ('Terns', 'en', True, False)
    >>> content(b"")
    Content(title='', language='', published=None)
    """
    source = markup if isinstance(markup, str) else _decoded(markup, charset)
    document, walk = read(_same_length(source))
    lines, (chosen, text) = walk.lines, _chosen(document, walk)
    ranges = maintext.ranges(walk.places, lines, chosen)
    if isinstance(markup, bytes):
        ranges = list(_in_bytes(ranges, source, _known(markup, charset), len(markup)))
    named, code = title(document, lines, chosen.tolist()), language(document, text)
    return Content(named, text, code, published(document, lines, named, code or "en"), tuple(ranges))


def body_content(body: bytes, content_type: str = "") -> Content:
    """Read the content of a body: of a page as :func:`content` does, of a text all, of other media none.

    >>> body_content(b"a,1\\r\\n\\r\\nb,2", "text/csv").text
    'a,1\\n\\nb,2'
    >>> body_content(b"%PDF-1.4").text, body_content(b"<p>A <b>page</b>").text
    ('', 'A page')
    """
    media = media_of(body, content_type)
    if not media.is_text:
        return Content()
    if media.is_markup:
        return content(body, media.charset)
    rows = _decoded(body, media.charset).removeprefix("\ufeff").splitlines()
    text = _ESCAPED.sub("\ufffd", "\n".join(row.rstrip() for row in rows).strip("\n"))
    return Content(text=text, language=guess(text), ranges=((0, len(body)),) if text else ())


def main_text(markup: bytes | str, charset: str = "utf-8") -> str:
    """Return the main text alone, as :func:`content` does.

    >>> main_text(b"<p>The ferry runs all year.")
    'The ferry runs all year.'
    """
    source = markup if isinstance(markup, str) else _decoded(markup, charset)
    return _chosen(*read(_same_length(source)))[1]


def _chosen(document: Document, walk: LineWalk) -> tuple[NDArray[np.bool_], str]:
    """Choose the lines of the main content, and give its text."""
    chosen = choose(document, walk)[1]
    return chosen, text_of(document, walk, chosen)


def choose(document: Document, walk: LineWalk) -> tuple[Column, NDArray[np.bool_]]:
    """Return the likelihood of each line of a page, and the lines that are chosen for the main content."""
    likelihood = shipped().likelihood(walk.lines, title_words(document))
    return likelihood, maintext.choose(likelihood, [line.words for line in walk.lines])


def text_of(document: Document, walk: LineWalk, chosen: NDArray[np.bool_]) -> str:
    """Return the main text of a page of which lines were chosen; of a shell its description, too."""
    text = maintext.joined(walk.lines, chosen.tolist())
    if sum(len(line.text) for line in walk.lines) < LEAST_TEXT:
        text = "\n".join(filter(None, (text, _description(document))))
    return text


def read(source: str) -> tuple[Document, LineWalk]:
    """Parse a page and gather its lines."""
    document = parse(source, source_locations=True)
    return document, LineWalk(document)


def title_words(document: Document) -> str:
    """Return the title element in lower case, against which headings are held."""
    element = document.find("title")
    return " ".join(element.text.lower().split()) if element is not None else ""


def _description(document: Document) -> str:
    metas = document.find_all("meta")
    names = (
        (str(m.attrs.get("name") or m.attrs.get("property") or ""), m.attrs.get("content")) for m in metas
    )
    found = (
        str(value) for name, value in names if name.lower() in ("description", "og:description") and value
    )
    return " ".join(next(found, "").split())


# A byte that the charset does not know stays countable: it is one character of these.
_ESCAPED = re.compile("[\ud800-\udfff]")


def _known(body: bytes, charset: str) -> str:
    """Return the codec that counts: one of the two byte orders, and UTF-8 for a name that is none."""
    if charset.lower().replace("_", "-") in ("utf-16", "utf16"):
        return "utf-16-be" if body[:2] == b"\xfe\xff" else "utf-16-le"
    try:
        "".encode(charset)
    except LookupError:
        return "utf-8"
    return charset


def _decoded(body: bytes, charset: str) -> str:
    try:
        return body.decode(_known(body, charset), "surrogateescape")
    except UnicodeError:
        return body.decode("utf-8", "replace")


def _same_length(source: str) -> str:
    """Hide from the parser what it would drop or take for text, as offsets must hold: CRLF, the
    byte-order mark, bytes that are no characters.
    """
    if "\r" in source:
        source = source.replace("\r\n", " \n").replace("\r", "\n")
    try:
        source.encode()
    except UnicodeEncodeError:
        source = _ESCAPED.sub("\ufffd", source)
    return f" {source[1:]}" if source.startswith("\ufeff") else source


def _in_bytes(
    ranges: Iterable[tuple[int, int]], source: str, codec: str, length: int
) -> Iterator[tuple[int, int]]:
    """Turn ranges of characters into ranges of bytes; none where the codec writes other bytes."""
    edges = [edge for each in ranges for edge in each]
    sizes = []
    for start, end in zip([0, *edges], [*edges, len(source)], strict=True):
        try:
            sizes.append(len(source[start:end].encode(codec, "surrogateescape")))
        except UnicodeError:
            return
    if sum(sizes) == length:
        places = list(accumulate(sizes[:-1]))
        yield from zip(places[::2], places[1::2], strict=True)
