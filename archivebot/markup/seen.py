"""Counts the visible contents of each element: letters, links, pictures, controls, in one walk."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass, replace
from html import unescape
from itertools import accumulate

import numpy as np
from turbohtml import Element, Text

from archivebot.markup import tree
from archivebot.markup.tags import INVISIBLE, WHOLE
from archivebot.markup.tree import Node, Tree

# Elements nested deeper than this are counted as a whole; real pages stay below 60.
MAX_DEPTH = 150

# Elements whose text is not text of the page: choices, typed text, fallbacks of scripts.
UNREAD = INVISIBLE | frozenset("datalist noscript option select svg textarea".split())
PICTURES = frozenset("audio canvas embed iframe img object picture svg video".split())
UNTYPED = frozenset("button hidden image reset submit".split())
HIDDEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden)", re.IGNORECASE)
MARKUP = re.compile(r"<!--.*?(?:-->|\Z)|<[^<>]*>", re.DOTALL)


@dataclass(slots=True, eq=False)
class Counts:
    """The visible contents of a part of a page.

    ``letters`` are characters other than white space (bytes, except in UTF-16), ``linked`` the letters inside
    links; ``links``, ``pictures`` and ``controls`` (fields to type in or choose from) are numbers of
    elements. Hidden contents are not counted.
    """

    letters: int = 0
    linked: int = 0
    links: int = 0
    pictures: int = 0
    controls: int = 0

    @property
    def prose(self) -> int:
        """The letters outside links."""
        return self.letters - self.linked

    @property
    def is_seen(self) -> bool:
        """Whether there is anything to see."""
        return bool(self.letters or self.pictures or self.controls)

    def less(self, other: Counts) -> Counts:
        """Return what these counts have beyond other counts."""
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Counts(*(max(0, own - its) for own, its in pairs))

    def take(self, other: Counts) -> None:
        """Add other counts."""
        self.letters += other.letters
        self.linked += other.linked
        self.links += other.links
        self.pictures += other.pictures
        self.controls += other.controls


# What a walk meets: texts, those inside links, and the elements that are counted.
TEXT, LINKED, LINK, PICTURE, CONTROL = range(5)
KINDS = np.array([[LINKED], [LINK], [PICTURE], [CONTROL]])
COUNTED = (
    dict.fromkeys(PICTURES, PICTURE) | dict.fromkeys(("input", "select", "textarea"), CONTROL) | {"a": LINK}
)

# Elements whose letters :meth:`Sight.held` counts.
LISTS = frozenset("dd dl dt li menu ol ul".split())
CODE = frozenset(("pre",))
HOLDERS = LISTS | CODE

# The notes [first, last) of an element, and the holders [first, last) in it, itself included.
Span = tuple[int, int, int, int]
NOTHING = 0, 0, 0, 0

# White space as bytes.
BLANKS = "".join(char for char in map(chr, range(256)) if char.isspace()).encode("latin-1")


class Sight:
    """The counts of all visible elements of a page, read without their places in the source.

    To read the places costs more than all the rest, so :class:`Box` reads only those of the boxes asked for.
    ``tables`` are the tables of the page in source order. ``is_moved`` is whether letters of a box that was
    opened are not where the parser put them in the tree: then :meth:`recount` counts them.
    """

    def __init__(self, page: Tree, body: Element) -> None:
        self.page = page
        self.tables: list[Element] = []
        self.is_moved = False
        self._closed: set[Element] = set()
        self._spans: dict[Element, Span] = {}
        self._holders: list[Element] = []
        self._again: dict[Element, Counts] = {}
        self._texts: list[str] = []
        self._kinds: list[int] = []
        self._walk(body, linked=False, depth=0)
        self._sums = self._summed()

    def _walk(self, element: Element, *, linked: bool, depth: int) -> None:
        """Note the texts and the counted elements of an element, and its holders."""
        attributes, tag = element.attrs, element.tag
        if ("style" in attributes or "hidden" in attributes) and is_hidden(element):
            return
        texts, kinds = self._texts, self._kinds
        first, first_holder = len(texts), len(self._holders)
        if tag in HOLDERS:
            self._holders.append(element)
        if tag in COUNTED and (kind := _counted(element)) is not None:
            texts.append("")
            kinds.append(kind)
            linked = linked or kind == LINK
        if tag not in UNREAD and depth <= MAX_DEPTH:
            if tag == "table":
                self.tables.append(element)
            for child in element.children:
                if isinstance(child, Element):
                    self._walk(child, linked=linked, depth=depth + 1)
                elif isinstance(child, Text) and not (text := child.data).isspace():
                    texts.append(text)
                    kinds.append(LINKED if linked else TEXT)
        else:
            self._closed.add(element)
            if tag not in UNREAD:
                texts.extend(text.data for text in _texts(element))
                kinds.extend([TEXT] * (len(texts) - len(kinds)))
        self._spans[element] = first, len(texts), first_holder, len(self._holders)

    def _summed(self) -> list[list[int]]:
        """Return for each column of the counts the sums of all notes before each note."""
        columns = np.zeros((5, len(self._texts) + 1), dtype=np.int64)
        columns[0, 1:] = self._letters()
        columns[1:, 1:] = np.array(self._kinds, dtype=np.int8) == KINDS
        columns[1] *= columns[0]
        sums: list[list[int]] = columns.cumsum(axis=1).tolist()
        return sums

    def _letters(self) -> list[int]:
        """Return the letters of each text noted."""
        try:
            data = self._bytewise("\0".join(self._texts)).encode("latin-1")
        except UnicodeEncodeError:  # of UTF-16
            return list(map(self.letters, self._texts))
        return list(map(len, data.translate(None, BLANKS).split(b"\0"))) if self._texts else []

    def letters(self, text: str) -> int:
        """Return the letters of a text."""
        return len("".join(self._bytewise(text).split()))

    def _bytewise(self, text: str) -> str:
        """Return a text with a character for each byte, without no-break spaces, which are several."""
        return self.page.bytewise(text.replace("\xa0", " "))

    def count(self, element: Element) -> Counts:
        """Return the counts of an element."""
        if self._again and (again := self._again.get(element)):
            return again
        first, last, *_ = self._spans.get(element, NOTHING)
        letters, linked, links, pictures, controls = self._sums
        return Counts(
            letters[last] - letters[first],
            linked[last] - linked[first],
            links[last] - links[first],
            pictures[last] - pictures[first],
            controls[last] - controls[first],
        )

    def length(self, element: Element) -> int:
        """Return the letters of an element."""
        if self._again:
            return self.count(element).letters
        span, before = self._spans.get(element, NOTHING), self._sums[0]
        return before[span[1]] - before[span[0]]

    def is_open(self, element: Element) -> bool:
        """Return whether the contents of an element are visible."""
        return element in self._spans and element not in self._closed

    def inside(self, element: Element) -> list[Element]:
        """Return the elements in an element; none if its contents are not visible."""
        if not self.is_open(element):
            return []
        return [child for child in element.children if isinstance(child, Element)]

    def held(self, element: Element, tags: frozenset[str]) -> int:
        """Return the letters of an element in elements with some tags, which are among :data:`HOLDERS`."""
        letters = 0
        *_, at, last = self._spans.get(element, NOTHING)
        while at < last:
            inner = self._holders[at]
            if inner.tag in tags:
                letters += self.length(inner)
                *_, at = self._spans[inner]
            else:
                at += 1
        return letters

    def only(self, element: Element) -> Element | None:
        """Return the element inside that has all there is to see of an element, or None."""
        length = self.length(element)
        found = None
        for child in self.inside(element):
            more = self.length(child)
            if more and more != length:
                return None
            if more or self.count(child).is_seen:
                if found is not None:
                    return None
                found = child
        return found if found is not None and self.length(found) == length else None

    def recount(self, box: Box) -> Counts:
        """Count a box and all boxes inside by their places in the source.

        The parser moves what a table may not hold to the place before the table, so a table has what the tree
        has before it and the boxes before it do not have.
        """
        element = box.node.element
        if element is not None and self.is_open(element):
            kind = _counted(element)
            counts = Counts(links=kind == LINK, pictures=kind == PICTURE, controls=kind == CONTROL)
            passed = replace(counts)  # the boxes before, as the tree has them
            for part in box.parts:
                inner, whole = part.node.element, part.counts
                again = self.recount(part)
                if inner is not None and inner.tag == "table":
                    moved = self._before(inner, element).less(passed)
                    passed.take(moved)
                    again.take(moved)
                    self._again[inner] = again
                passed.take(whole)
                counts.take(again)
            self._again[element] = counts
            box.renew()
        return box.counts

    def _before(self, element: Element, around: Element) -> Counts:
        """Return the counts of the contents of an element around another one that come before that one."""
        first, last = self._spans.get(around, NOTHING)[0], self._spans.get(element, NOTHING)[0]
        return Counts(*(column[last] - column[first] for column in self._sums))


def _counted(element: Element) -> int | None:
    """Return the kind of an element that counts itself."""
    tag = element.tag
    kind = COUNTED.get(tag)
    if (tag == "a" and "href" not in element.attrs) or (
        tag == "input" and attribute(element, "type").lower() in UNTYPED
    ):
        return None
    return kind


class Box:
    """An element or a text of a page in its place, with the counts of its visible contents."""

    __slots__ = ("_inside", "_linked", "_text", "node", "sight")

    def __init__(self, node: Node, sight: Sight, linked: bool = False) -> None:
        self.node, self.sight = node, sight
        self._linked = linked
        self._text: int | None = None
        self._inside: tuple[list[Box], list[int], list[int]] | None = None

    @property
    def letters(self) -> int:
        """The letters of the box."""
        element = self.node.element
        if element is not None:
            return self.sight.length(element)
        if self._text is None:
            self._text = self._read()
        return self._text

    def _read(self) -> int:
        """Return the letters of a text, which may hold comments and stray tags."""
        text = self.sight.page.piece(self.node.start, self.node.end)
        text = MARKUP.sub("", text) if "<" in text else text
        return self.sight.letters(unescape(text) if "&" in text else text)

    @property
    def counts(self) -> Counts:
        """The counts of the box."""
        if self.node.element is not None:
            return self.sight.count(self.node.element)
        return Counts(self.letters, self.letters * self._linked)

    @property
    def parts(self) -> list[Box]:
        """The boxes of the elements and texts inside; none of hidden contents."""
        return (self._inside or self._opened())[0]

    def before(self, start: int) -> tuple[int, int]:
        """Return the index of the part at an offset, or of the next part, and the letters before it."""
        parts, starts, letters = self._inside or self._opened()
        index = max(bisect_right(starts, start) - 1, 0)
        if index < len(parts) and parts[index].node.end <= start:
            index += 1
        return index, letters[index]

    def _opened(self) -> tuple[list[Box], list[int], list[int]]:
        """Find the parts, their starts, and the letters before each and after all."""
        node, sight = self.node, self.sight
        parts: list[Box] = []
        if node.element is not None and sight.is_open(node.element):
            linked = self._linked or _counted(node.element) == LINK
            parts = [Box(inner, sight, linked) for inner in tree.inside(sight.page, node)]
        before = [0, *accumulate([part.letters for part in parts])]
        if parts and before[-1] != self.letters:
            sight.is_moved = True
        self._inside = parts, [part.node.start for part in parts], before
        return self._inside

    def renew(self) -> None:
        """Add up the letters of the parts again, after these were counted again."""
        parts, starts, _ = self._inside or self._opened()
        self._inside = parts, starts, [0, *accumulate([part.letters for part in parts])]

    def attribute(self, name: str) -> str:
        """Return an attribute of the element, or "" if it has none."""
        return attribute(self.node.element, name)


def look(page: Tree) -> Box | None:
    """Return the body of a page as a tree of boxes, or None if the page has none.

    The offsets of the boxes refer to the source's text, as in :mod:`archivebot.markup.tree`.

    >>> from archivebot.markup.tree import Source
    >>> page = look(Source.of(b"<p>One <a href=/>two</a><p hidden>three<p><img src=i>", "utf-8"))
    >>> page.letters, page.counts.linked, page.counts.links, page.counts.pictures
    (6, 3, 1, 1)
    """
    body = tree.root(page)
    if body is None or body.element is None:
        return None
    return Box(body, Sight(page, body.element))


def attribute(element: Element | None, name: str) -> str:
    """Return an attribute of an element, or "" if it has none."""
    return "" if element is None else element.attr(name) or ""


def _texts(element: Element) -> Iterator[Text]:
    for inner in element.descendants:
        if isinstance(inner, Text) and not (
            isinstance(inner.parent, Element) and str(inner.parent.tag) in UNREAD
        ):
            yield inner


def is_hidden(element: Element) -> bool:
    """Return whether the page itself hides an element.

    Its root and its body are not hidden: a script shows them.

    >>> from turbohtml import parse
    >>> page = parse('<p hidden></p><p style="color:red; DISPLAY: none"></p><p style="display:block"></p>')
    >>> [is_hidden(p) for p in page.select("p")]
    [True, True, False]
    """
    return element.tag not in WHOLE and hides(element.attrs)


def hides(attributes: Mapping[str, object]) -> bool:
    """Return whether an element with some attributes is hidden."""
    style = attributes.get("style")
    return "hidden" in attributes or bool(style and HIDDEN.search(str(style)))
