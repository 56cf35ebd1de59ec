"""Counts the visible contents of each element: letters, links, pictures, controls, in one walk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import unescape

from turbohtml import Element, Text

from archivebot.markup import tree
from archivebot.markup.tags import INVISIBLE
from archivebot.markup.tree import Node, Source

# Elements nested deeper than this are counted as a whole; real pages stay below 60.
MAX_DEPTH = 150

# Elements whose text is not text of the page: choices, typed text, fallbacks of scripts.
UNREAD = INVISIBLE | frozenset("datalist noscript option select svg textarea".split())
PICTURES = frozenset("audio canvas embed iframe img object picture svg video".split())
UNTYPED = frozenset("button hidden image reset submit".split())
HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
MARKUP = re.compile(r"<!--.*?(?:-->|\Z)|<[^<>]*>", re.DOTALL)


@dataclass(slots=True)
class Box:
    """An element or a text with the counts of its visible contents.

    ``letters`` are characters other than white space (bytes, except in UTF-16), ``linked`` the letters inside
    links, ``prose`` the letters outside; ``links``, ``pictures`` and ``controls`` (fields to type in or
    choose from) are numbers of elements. Hidden contents are not counted.
    """

    node: Node
    parts: list[Box] = field(default_factory=list, repr=False)
    letters: int = 0
    linked: int = 0
    links: int = 0
    pictures: int = 0
    controls: int = 0

    @property
    def prose(self) -> int:
        return self.letters - self.linked

    def take(self, other: Box) -> None:
        """Add the counts of another box."""
        self.letters += other.letters
        self.linked += other.linked
        self.links += other.links
        self.pictures += other.pictures
        self.controls += other.controls

    def attribute(self, name: str) -> str:
        """Return an attribute of the element, or "" if it has none."""
        value = None if self.node.element is None else self.node.element.attrs.get(name)
        return " ".join(value) if isinstance(value, list) else str(value or "")

    def walk(self) -> Iterator[Box]:
        """Yield the box and all within it in source order."""
        stack = [self]
        while stack:
            box = stack.pop()
            yield box
            stack.extend(reversed(box.parts))


def look(source: Source) -> Box | None:
    """Return the body of a page as a tree of boxes, or None if the page has none.

    The offsets of the boxes refer to the source's text, as in :mod:`archivebot.markup.tree`.

    >>> page = look(Source.of(b"<p>One <a href=/>two</a><p hidden>three<p><img src=i>", "utf-8"))
    >>> page.letters, page.linked, page.links, page.pictures
    (6, 3, 1, 1)
    """
    body = tree.root(source)
    return None if body is None else _box(body, source, linked=False, depth=0)


def _box(node: Node, source: Source, *, linked: bool, depth: int) -> Box:
    box = Box(node)
    if node.element is None:
        box.letters = _letters(source.text[node.start : node.end])
        box.linked = box.letters if linked else 0
    elif not is_hidden(node.element):
        box.pictures = int(node.tag in PICTURES)
        box.controls = int(_is_control(node.tag, box))
        box.links = int(node.tag == "a" and "href" in node.element.attrs)
        if node.tag not in UNREAD:
            _look_inside(box, source, linked=linked or box.links > 0, depth=depth + 1)
    return box


def _look_inside(box: Box, source: Source, *, linked: bool, depth: int) -> None:
    element = box.node.element
    assert element is not None
    if depth > MAX_DEPTH:
        box.letters = sum(_letters(text.data) for text in _texts(element))
        return
    for child in tree.children(element, *tree.content(box.node)):
        part = _box(child, source, linked=linked, depth=depth)
        box.parts.append(part)
        box.take(part)


def _texts(element: Element) -> Iterator[Text]:
    for inner in element.descendants:
        if isinstance(inner, Text) and not (
            isinstance(inner.parent, Element) and str(inner.parent.tag) in UNREAD
        ):
            yield inner


def _letters(markup: str) -> int:
    text = MARKUP.sub("", markup) if "<" in markup else markup
    return len("".join((unescape(text) if "&" in text else text).split()))


def _is_control(tag: str, box: Box) -> bool:
    return tag in ("select", "textarea") or (tag == "input" and box.attribute("type").lower() not in UNTYPED)


def is_hidden(element: Element) -> bool:
    """Return whether the page itself hides an element.

    >>> from turbohtml import parse
    >>> page = parse('<p hidden></p><p style="color:red; DISPLAY: none"></p><p style="display:block"></p>')
    >>> [is_hidden(p) for p in page.select("p")]
    [True, True, False]
    """
    attributes = element.attrs
    style = attributes.get("style")
    return "hidden" in attributes or bool(style and HIDDEN.search(str(style)))
