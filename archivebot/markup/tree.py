"""Element spans in bytes: start and end of each element of a body, even in broken markup.

The tree is built by turbohtml after the WHATWG rules. Its input has one character per byte (latin-1), or one
per unit of UTF-16 or UTF-32, so that its offsets are offsets of the body.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

from turbohtml import Axis, Document, Element, SourceLocation, Text

from archivebot.markup.page import Node as Node
from archivebot.markup.page import few_roots
from archivebot.markup.shadow import parse

ASTRAL = re.compile("[\U00010000-\U0010ffff]")
UTF8_MARK = codecs.BOM_UTF8.decode("latin-1")
VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())


class Tree(Protocol):
    """A page as a tree, with two kinds of offsets: of the parser, and of the nodes."""

    @property
    def document(self) -> Document:
        """The tree, with the positions of its tags."""

    @property
    def opened(self) -> dict[Element, tuple[Node, ...]]:
        """The children of the elements whose children were asked for."""

    @property
    def at(self) -> Callable[[int], int]:
        """Return the function from an offset of the parser to an offset of the nodes."""

    @property
    def end(self) -> int:
        """The offset of the end of the page."""

    @property
    def blank(self) -> int:
        """The length of a blank in offsets of nodes."""

    def piece(self, start: int, end: int) -> str:
        """Return the text between two offsets of nodes."""

    def bytewise(self, text: str) -> str:
        """Return a text of the page with a character for each byte of it."""


@dataclass(frozen=True)
class Source:
    """A body as text whose index times ``unit`` is a byte offset, whatever its charset."""

    text: str
    unit: int
    blank: ClassVar[int] = 1

    @cached_property
    def document(self) -> Document:
        """The tree of the text, with the positions of its tags."""
        return parse(self.text, source_locations=True)

    @cached_property
    def opened(self) -> dict[Element, tuple[Node, ...]]:
        """The children of the elements whose children were asked for."""
        return {}

    @property
    def at(self) -> Callable[[int], int]:
        """Return the identity function: both kinds of offsets are the same."""
        return int

    @property
    def end(self) -> int:
        """The length of the text."""
        return len(self.text)

    def piece(self, start: int, end: int) -> str:
        """Return the text between two offsets."""
        return self.text[start:end]

    def bytewise(self, text: str) -> str:
        """Return the text unchanged: it already has a character for each byte."""
        return text

    @classmethod
    def of(cls, body: bytes, charset: str) -> Source:
        """Read a body with exact offsets; only the bytes per character of ``charset`` matter."""
        if charset.startswith("utf-16"):
            return cls(_same_length(_utf16_units(body, charset), "\ufeff"), 2)
        if charset.startswith("utf-32"):
            return cls(_same_length(body[: len(body) & ~3].decode(charset, "replace"), "\ufeff"), 4)
        return cls(_same_length(body.decode("latin-1"), UTF8_MARK), 1)


def _utf16_units(body: bytes, charset: str) -> str:
    if body.startswith((codecs.BOM_UTF16_BE, codecs.BOM_UTF16_LE)):
        charset = "utf-16-be" if body.startswith(codecs.BOM_UTF16_BE) else "utf-16-le"
    elif charset == "utf-16":
        charset = "utf-16-le"
    return ASTRAL.sub("xx", body[: len(body) & ~1].decode(charset, "surrogatepass"))


def _same_length(text: str, mark: str) -> str:
    """Hide CRLF and the byte-order mark from the parser, which would drop them or take them for text."""
    text = few_roots(text.replace("\r\n", " \n").replace("\r", "\n"))
    return " " * len(mark) + text[len(mark) :] if text.startswith(mark) else text


def root(page: Tree) -> Node | None:
    """Return the body element of a page with the range of its content, or None if there is none."""
    body = page.document.find("body")
    if body is None:
        return None
    location = body.source_location
    start = page.at(location.start_tag.end_offset) if location else 0
    closed = page.at(location.end_tag.start_offset) if location and location.end_tag else None
    return Node(body, start, page.end, start, closed, body.tag)


def content(node: Node, at: Callable[[int], int] = int) -> tuple[int, int]:
    """Return the range between the start tag and the end tag of an element."""
    if node.element is None:
        return node.start, node.end
    end = node.end if node.closed is None else min(node.closed, node.end)
    if node.tag == "body" and _goes_on(node, end, at):
        end = node.end
    return min(node.opened, node.end), max(end, node.start)


def inside(page: Tree, node: Node) -> tuple[Node, ...]:
    """Return the child elements and texts of an element of a page, as :func:`children` yields them.

    They are kept: the positions of its tags are what costs most of a tree.
    """
    element = node.element
    if element is None:
        return ()
    found = page.opened.get(element)
    if found is None:
        at = page.at
        found = page.opened[element] = tuple(children(element, *content(node, at), at))
    return found


def _goes_on(body: Node, end: int, at: Callable[[int], int]) -> bool:
    """Return whether elements follow the end tag of the body; they are shown as part of it."""
    assert body.element is not None
    return any(
        location is not None and at(location.start_tag.start_offset) >= end
        for _, location in _located(body.element)
    )


def children(parent: Element, start: int, end: int, offset: Callable[[int], int] = int) -> Iterator[Node]:
    """Yield the child elements and texts of an element in source order, without overlap, in [start, end).

    An element that is not in the source (an implied TBODY) is replaced by its children. An element that the
    parser moved out of its parent's range (misnesting) is omitted: its bytes lie between the others. An
    element that the parser moved to before a table lies inside that table. ``offset`` is the conversion of
    the page.
    """
    position = start
    open_child: Node | None = None  # without an end tag it ends at the start of the next child
    text_since = False
    nodes: Iterable[Located] = _located(parent)
    if parent.find("table", axis=Axis.CHILDREN) is not None:
        nodes = _in_place(nodes)
    for child, location in nodes:
        if location is None or isinstance(child, Text):
            text_since = True
            continue
        opening, closing, _ = location
        at = offset(opening.start_offset)
        if not position <= at < end:
            continue
        if open_child is not None:
            yield open_child._replace(end=at)
        elif text_since and position < at:
            yield Node(None, position, at)
        open_child, text_since = None, False
        tag, opened = child.tag, offset(opening.end_offset)
        if closing is None and tag not in VOID:
            position = opened
            open_child = Node(child, at, end, opened, None, tag)
        else:
            position = min(max(offset((closing or opening).end_offset), opened), end)
            closed = offset(closing.start_offset) if closing else None
            yield Node(child, at, position, opened, closed, tag)
    if open_child is not None:
        yield open_child
    elif text_since and position < end:
        yield Node(None, position, end)


Located = tuple[Element | Text, SourceLocation | None]


def _in_place(nodes: Iterable[Located]) -> list[Located]:
    """Drop the nodes that the parser moved out of a table, from the first element on."""
    kept: list[Located] = []
    for child, location in nodes:
        if isinstance(child, Element) and child.tag == "table" and location is not None:
            moved = len(kept)
            for index in range(len(kept) - 1, -1, -1):
                before = kept[index][1]
                if before is not None:
                    if before.start_tag.start_offset < location.start_tag.start_offset:
                        break
                    moved = index
            del kept[moved:]
        kept.append((child, location))
    return kept


def _located(parent: Element) -> Iterator[Located]:
    """Yield elements with their location and visible texts, looking through implied elements."""
    for child in parent.children:
        if isinstance(child, Element):
            location = child.source_location
            if location is None:
                yield from _through(child)
            else:
                yield child, location
        elif isinstance(child, Text) and shows(child):
            yield child, None


def _through(implied: Element) -> Iterator[Located]:
    stack = [iter(implied.children)]
    while stack:
        child = next(stack[-1], None)
        if child is None:
            stack.pop()
        elif isinstance(child, Element):
            location = child.source_location
            if location is None:
                stack.append(iter(child.children))
            else:
                yield child, location
        elif isinstance(child, Text) and shows(child):
            yield child, None


def shows(text: Text) -> bool:
    """Return whether a text node is not only white space."""
    data = text.data
    return bool(data) and not data.isspace()
