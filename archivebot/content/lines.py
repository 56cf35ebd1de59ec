"""The lines of a page, and the elements that contain them."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from turbohtml import Document, Element, Node, Text

from archivebot.markup.edits import Edits, TagEdit
from archivebot.markup.seen import hides
from archivebot.markup.tags import LINES, MUTE, WHOLE
from archivebot.text import UNSPACED, collapse, pieces

# Elements whose text is not running text, or not visible. NOSCRIPT is read: forums that draw their threads
# with a script keep the thread there. The best possible choice of lines reaches word F1 0.88 on the forum
# pages of the WCXB corpus, without NOSCRIPT 0.72.
_MUTE = MUTE.union(("select", "textarea", "object", "audio", "video", "canvas"))

# Elements that end a line.
_BREAKS = LINES.union("body button dialog figcaption html label noscript search summary td".split())
BOLD = frozenset(("b", "strong"))

# Stands for a line break between the pieces of a line; a function that splits at blanks takes it for a blank.
_BREAK = "\u2028"
_NOTED = frozenset(("a", "br", "img"))

# Attributes that name an element; if classes are generated, attributes for people and for tests help.
_NAMING = frozenset(
    """id role itemprop itemtype aria-label data-testid data-component data-section-type data-hook data-name
    data-qa data-test data-type""".split()
)

# All attributes from which the names of an element are read.
_READ = _NAMING.union(("class", "aria-hidden", "style", "hidden"))

# A word of Chinese or Japanese, which are written without spaces, has about two characters.
_UNSPACED = re.compile(f"[{UNSPACED}]")

_NAME = re.compile(r"[a-z]{3,}")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")

# Maximum of characters read from an attribute; generated class lists have thousands.
MOST_NAMES = 300

# Elements nested deeper are not entered; real pages stay below 100.
MOST_DEPTH = 300


@dataclass(slots=True, eq=False)
class Place:
    """An element that ends lines; it holds the lines [first, last), and ``own`` are its names."""

    tag: str
    element: Element | None
    parent: Place | None
    depth: int
    first: int
    last: int = 0
    preformatted: bool = False
    own: frozenset[str] = field(init=False)
    _names: frozenset[str] | None = None

    def __post_init__(self) -> None:
        given = "" if self.element is None or self.tag in WHOLE else _given(self.element.attrs)
        self.own = names(self.tag, given)

    @property
    def names(self) -> frozenset[str]:
        """The names of the element and all its ancestors."""
        if self._names is None:
            outer = self.parent.names if self.parent else frozenset()
            self._names = outer if self.parent is None or self.own <= outer else outer | self.own
        return self._names

    @property
    def kind(self) -> tuple[frozenset[str], frozenset[str]]:
        """The names of the element and its parent.

        The titles of all cards of a list are of one kind, their prices of another.
        """
        return self.own, self.parent.own if self.parent else frozenset()

    @property
    def source(self) -> tuple[int, int] | None:
        """The range [start, end) of the element in the source; None if the source has no tags of it."""
        location = self.element.source_location if self.element is not None else None
        if location is None or location.end_tag is None:
            return None
        return location.start_tag.start_offset, location.end_tag.end_offset


def nearest(lines: Iterable[Line], tags: Container[str]) -> list[Place]:
    """Return the smallest elements with some tags around lines, each once, in the order of the lines.

    >>> from archivebot.markup.page import ParsedPage
    >>> lines = LineWalk(ParsedPage.of("<ul><li>1<li>2<ol><li>3</ol></ul><p>4").document).lines
    >>> [place.tag for place in nearest(lines, ("ul", "ol"))]
    ['ul', 'ol']
    """
    found: list[Place] = []
    seen: set[Place] = set()
    for line in lines:
        place: Place | None = line.place
        while place is not None and place not in seen:
            seen.add(place)
            if place.tag in tags:
                found.append(place)
                break
            place = place.parent
    return found


class Line(NamedTuple):
    """A visible paragraph of text, on one line.

    ``linked`` and ``bold`` count characters, ``images`` the images since the previous line. ``laid_out`` is
    the text with its line breaks, if it has any, and ``parted`` is whether a blank line precedes it in its
    element.
    """

    text: str
    words: int
    place: Place
    linked: int = 0
    links: int = 0
    bold: int = 0
    images: int = 0
    laid_out: str = ""
    parted: bool = False

    @property
    def shown(self) -> str:
        """The text with its line breaks."""
        return self.laid_out or self.text


@lru_cache(maxsize=1 << 14)
def names(tag: str, given: str) -> frozenset[str]:
    """Return the names of an element: its tag, and the words of its attributes with a dot.

    A tag invented by the page is treated like an attribute.

    >>> sorted(names("div", "mainMenu nav-2")), sorted(names("cart-drawer", ""))
    (['.main', '.menu', '.nav', 'div'], ['.cart', '.drawer', 'cart-drawer'])
    """
    if "-" in tag:
        given = f"{tag} {given}"
    if not given.islower():
        given = _CAMEL.sub("-", given).lower()
    found = [f".{name}" for name in _NAME.findall(given)]
    return frozenset((tag, *found))


def are_kept(edits: Edits) -> bool:
    """Return whether a page has the lines and places of an earlier version, by the edits since."""
    return edits.keeps_text and all(map(keeps_names, edits.tags))


def keeps_names(edit: TagEdit) -> bool:
    """Return whether an element has the names that it had."""
    tag = edit.tag
    if tag in WHOLE or not (tag in _BREAKS or "-" in tag) or edit.names.isdisjoint(_READ):
        return True
    before, after = _given(edit.before), _given(edit.after)
    # Attributes of an edit are read as Latin-1.
    return before.isascii() and after.isascii() and names(tag, before) == names(tag, after)


def _given(attrs: Mapping[str, str | list[str] | None]) -> str:
    """Return the text of all naming attributes of an element."""
    if not attrs:
        return ""
    classes = attrs.get("class") or ""
    given = [classes if isinstance(classes, str) else " ".join(classes)]
    if classes and len(attrs) == 1:
        return given[0][:MOST_NAMES]
    given += [str(attrs[name] or "") for name in attrs if name in _NAMING]
    if attrs.get("aria-hidden") == "true":
        given.append("unseen")
    if ("style" in attrs or "hidden" in attrs) and hides(attrs):
        given.append("undisplayed")
    return " ".join(reversed(given))[:MOST_NAMES]


class LineWalk:
    """One walk over a page that gathers its lines and the elements around them."""

    def __init__(self, root: Element | Document) -> None:
        # A pickle holds the places first, each after its parent: lines first would nest as deep as the page.
        self.places = [Place("", None, None, 0, 0)]
        self.lines: list[Line] = []
        self._pieces: list[str] = []
        self._linked = self._links = self._bold = self._images = 0
        self._parted = False
        self._read(root.children, self.places[0], False, False, 0)
        self._end_line(self.places[0])
        self.places[0].last = len(self.lines)

    @classmethod
    def of(cls, lines: list[Line], places: list[Place]) -> LineWalk:
        """Return the walk over a page whose lines and elements are known."""
        walk = cls.__new__(cls)
        walk.places, walk.lines = places, lines
        return walk

    def is_like(self, other: LineWalk) -> bool:
        """Return whether two pages have the same lines in the same elements, by all that is read from them.

        Elements without lines do not count: :meth:`forget_elements` drops them.

        >>> from archivebot.markup.page import ParsedPage
        >>> pages = "<p>A tern</p>", "<p> A  tern<ul></ul>", "<p class=menu>A tern</p>"
        >>> walks = [LineWalk(ParsedPage.of(page).document) for page in pages]
        >>> [walks[0].is_like(walk) for walk in walks]
        [True, True, False]
        """
        if len(self.lines) != len(other.lines):
            return False
        known: dict[int, int] = {}
        for line, then in zip(self.lines, other.lines, strict=True):
            if line[:2] != then[:2] or line[3:] != then[3:] or not _is_like(line.place, then.place, known):
                return False
        return True

    def forget_elements(self) -> None:
        """Drop the elements, and with them the tree of the page; the names of elements with lines stay."""
        self.places = [place for place in self.places if place.first < place.last]
        for place in self.places:
            place.element = None

    def _read(self, children: Iterable[Node], place: Place, linked: bool, bold: bool, depth: int) -> None:
        """Read the children of an element; most nodes of a page are blanks, which cost little here."""
        waiting = self._pieces
        for child in children:
            if isinstance(child, Text):
                text = child.data
                if place.preformatted and "\n" in text:
                    self._read_rows(text, place, linked, bold)
                elif waiting or not text.isspace():
                    waiting.append(text)
                    if linked or bold:
                        self._linked += len(text) * linked
                        self._bold += len(text) * bold
            elif isinstance(child, Element) and (tag := child.tag) not in _MUTE and depth < MOST_DEPTH:
                if tag in _BREAKS or "-" in tag:
                    self._enter(child, tag, place, linked, bold, depth)
                else:
                    if tag in _NOTED:
                        self._note(tag, place)
                    if inside := child.children:
                        self._read(inside, place, linked or tag == "a", bold or tag in BOLD, depth + 1)

    def _enter(self, element: Element, tag: str, place: Place, linked: bool, bold: bool, depth: int) -> None:
        """Read an element that ends lines."""
        if self._pieces or self._links:
            self._end_line(place)
        self._parted = False
        inner = Place(tag, element, place, place.depth + 1, len(self.lines))
        inner.preformatted = tag == "pre" or place.preformatted
        self.places.append(inner)
        self._read(element.children, inner, linked, bold, depth + 1)
        if self._pieces or self._links:
            self._end_line(inner)
        inner.last = len(self.lines)
        self._parted = False

    def _read_rows(self, text: str, place: Place, linked: bool, bold: bool) -> None:
        """Read a preformatted text, whose line breaks are shown."""
        for number, row in enumerate(text.split("\n")):
            if number:
                self._break(place)
            if row and (self._pieces or not row.isspace()):
                self._pieces.append(row)
                self._linked += len(row) * linked
                self._bold += len(row) * bold

    def _note(self, tag: str, place: Place) -> None:
        """Note an element that ends no line."""
        if tag == "br":
            self._break(place)
        self._links += tag == "a"
        self._images += tag == "img"

    def _break(self, place: Place) -> None:
        """Break a line; two breaks with nothing between them are a blank line, which separates paragraphs."""
        for piece in reversed(self._pieces):
            if piece == _BREAK:
                self._end_line(place)
                self._parted = True
                return
            if not piece.isspace():
                self._pieces.append(_BREAK)
                return

    def _end_line(self, place: Place) -> None:
        words = pieces("".join(self._pieces)) if self._pieces else None
        if words:
            text = " ".join(words)
            size = len(text)
            linked, bold = min(self._linked, size), min(self._bold, size)
            laid_out = _laid_out(self._pieces, place.preformatted) if _BREAK in self._pieces else ""
            self.lines.append(
                Line(
                    text,
                    counted(words, text),
                    place,
                    linked,
                    self._links,
                    bold,
                    self._images,
                    laid_out,
                    self._parted,
                )
            )
            self._images = 0
            self._parted = False
        self._pieces.clear()
        self._linked = self._links = self._bold = 0


def _is_like(one: Place | None, other: Place | None, known: dict[int, int]) -> bool:
    """Return whether two elements and all around them are alike; ``known`` maps those that were compared."""
    while one is not None and other is not None:
        if id(one) in known:
            return known[id(one)] == id(other)
        if (one.tag, one.depth, one.first, one.last) != (other.tag, other.depth, other.first, other.last):
            return False
        if one.own != other.own:
            return False
        known[id(one)] = id(other)
        one, other = one.parent, other.parent
    return one is other


def counted(words: Sequence[str], text: str) -> int:
    """Return the number of words of a text, of which ``words`` are the pieces between its blanks."""
    return len(words) if text.isascii() else len(words) + len(_UNSPACED.findall(text)) // 2


def _laid_out(found: Iterable[str], preformatted: bool) -> str:
    """Join pieces of text with their line breaks; a preformatted text keeps its blanks."""
    rows = "".join(found).split(_BREAK)
    kept = [row.rstrip() if preformatted else collapse(row) for row in rows]
    return "\n".join(kept).strip("\n")
