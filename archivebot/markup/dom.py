"""The visible text of a piece of markup, and its prominent texts."""

from __future__ import annotations

import re
from dataclasses import replace

from turbohtml import Document, Element, Node, PlainText, Text

from archivebot.markup.shadow import parse
from archivebot.markup.tags import HEADINGS
from archivebot.text import collapse, normalise

PLAIN = PlainText(bullet="", layout="strict")
PICTURED = replace(PLAIN, images=True)
TABLE_PART = re.compile(rb"\s*<(?:t[rdh]|tbody|thead|tfoot|caption)\b", re.IGNORECASE)
ROOT_PART = re.compile(r"\s*<template\b", re.IGNORECASE)
CELL = re.compile(rb"<t[dh]\b", re.IGNORECASE)
# Elements that to_text joins with the neighbouring words in a cell: "here<p>core" would be one word.
IN_CELLS = ", ".join(
    f"{cell} {block}"
    for cell in ("td", "th")
    for block in "p div ul ol dl li table blockquote pre h1 h2 h3 h4 h5 h6 section article form".split()
)
# Elements that a browser lays out as boxes of their own, in a line or as lines, and two of a kind without a
# blank between them; to_text joins them with the words beside them.
BOXES = "audio, button, canvas, iframe, object, option, select, svg text, svg title, textarea, video"
ROWS = "center, dialog, hgroup, legend, search"
TWINS = "a + a, label + label"
APART = re.compile(
    rb"<(?:audio|button|canvas|iframe|object|option|select|svg|textarea|video|center|dialog|hgroup|legend|search)\b"
    rb"|</(a|label)><\1\b",
    re.IGNORECASE,
)
STANDS_OUT = (*HEADINGS, "caption", "legend", "summary", "figcaption", "th", "dt")
AT_START = ("strong", "b", "big", "em", "font", "mark")
MARKED = ", ".join((*STANDS_OUT, *AT_START, "[aria-label]"))


def read(markup: bytes, charset: str) -> Document:
    """Parse a piece of a page; rows and cells are wrapped in a table again, a shadow root in an element."""
    if TABLE_PART.match(markup):
        markup = b"<table>" + markup
    text = markup.decode(charset, "replace")
    return parse(f"<body>{text}" if ROOT_PART.match(text) else text)


def visible_text(markup: bytes, charset: str, *, pictures: bool = False) -> str:
    """Return the visible text, with one line per paragraph, item or row.

    With ``pictures`` it has the alternative texts of pictures in their places.

    >>> visible_text(b"<ul><li>a <b>b</b><script>x</script><li>c</ul>", "utf-8")
    'a b\\nc'
    >>> visible_text(b"<tr><td>1<td>2", "utf-8"), visible_text(b"<tr><td>a<p>b</p>c<td>d", "utf-8")
    ('1 2', 'a b c d')
    """
    document = read(markup, charset)
    for caption in document.select("caption"):  # to_text leaves it out of its table
        if (table := caption.closest("table")) is not None:
            table.insert_before(caption)
            caption.wrap(Element("p"))
    if CELL.search(markup):
        for block in document.select(IN_CELLS):
            block.insert_before(Element("br"))
            block.insert_after(Element("br"))
    if APART.search(markup):
        for row in document.select(ROWS):
            row.insert_before(Element("br"))
            row.insert_after(Element("br"))
        _set_apart(document, BOXES)
        for twin in document.select(TWINS):
            if isinstance(twin.previous_sibling, Element):
                twin.insert_before(Text(" "))
    if not pictures:
        return normalise(document.to_text(PLAIN))
    _set_apart(document, 'img[alt]:not([alt=""])')
    return normalise(document.to_text(PICTURED))


def _set_apart(document: Document, boxes: str) -> None:
    """Put blanks around boxes in a line."""
    for box in document.select(boxes):
        if _touches(box.previous_sibling, -1):
            box.insert_before(Text(" "))
        if _touches(box.next_sibling, 0):
            box.insert_after(Text(" "))


def _touches(beside: Node | None, at: int) -> bool:
    """Return whether what is beside a box would be joined with its words; not a blank or a full stop."""
    return not isinstance(beside, Text) or beside.data[at].isalnum()


def highlights(element: Document) -> list[str]:
    """Return the prominent texts of a block, each on one line, the most prominent first.

    >>> highlights(read(b"<p><b>First</b> words<h3>Small</h3><h2>Big</h2>", "utf-8"))
    ['Big', 'Small', 'First']
    >>> highlights(read(b"<p>Some <b>bold</b> in the middle", "utf-8"))
    []
    """
    found: dict[str, str] = {}
    start: str | None = None
    for marked in element.select(MARKED):
        if marked.tag in STANDS_OUT:
            if marked.tag not in found:
                found[marked.tag] = collapse(marked.to_text(PLAIN))
        elif "aria-label" in marked.attrs:
            found.setdefault("aria-label", collapse(str(marked.attrs["aria-label"])))
        elif "start" not in found:
            start = collapse(element.to_text(PLAIN)[:400]) if start is None else start
            if (text := collapse(marked.to_text(PLAIN))) and start.startswith(text):
                found["start"] = text
    return [found[name] for name in (*STANDS_OUT, "aria-label", "start") if found.get(name)]
