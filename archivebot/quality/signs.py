"""The signs of walls and errors on a page, read in one walk that ends at enough prose."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice

from turbohtml import Document, Element, Text

from archivebot.markup.seen import PICTURES, UNREAD, is_hidden

# A page with this much prose is content in any case, and the walk ends: every threshold in quality.py is
# lower.
PLENTY = 4000

HEADINGS = frozenset(("h1", "h2"))
FURNITURE = frozenset("aside footer header nav".split())
PRESSED = frozenset(("button", "reset", "submit"))
# Where the common frameworks put an application: React, Vue, Next, Nuxt, Gatsby, Angular.
MOUNTS = frozenset("root app react-root __next __nuxt ___gatsby app-root".split())
FRAMES = frozenset(("frame", "frameset"))
# Elements that are signs themselves; of all others only the text and the ID are.
NOTED = frozenset("a applet button iframe input meta noscript script select textarea title".split()).union(
    HEADINGS, FRAMES, PICTURES, MOUNTS
)
SCRIPT_START = 20_000  # letters of each inline script that are searched


@dataclass(slots=True)
class Signs:
    """The signs found on a page.

    ``prose`` and ``linked`` are bytes of UTF-8 without white space, so that a Chinese character counts as
    several letters; prose is the text outside links and outside the page's header, footer, menus and
    asides. ``hidden`` is the size of the text shown only with or only without scripts; it is not counted
    elsewhere. ``unscripted`` is the text shown without scripts.
    """

    title: str = ""
    headings: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    prose: int = 0
    furniture: int = 0
    linked: int = 0
    hidden: int = 0
    links: int = 0
    pictures: int = 0
    passwords: int = 0
    controls: int = 0
    frames: int = 0
    mounts: int = 0
    buttons: list[str] = field(default_factory=list)
    scripts: list[str] = field(default_factory=list)
    unscripted: str = ""
    refresh: str = ""

    @property
    def letters(self) -> int:
        return self.prose + self.furniture + self.linked

    @property
    def text(self) -> str:
        return " ".join(self.texts)


def signs_of(document: Document) -> Signs:
    """Return the signs of a page; the walk stops after the first :data:`PLENTY` of prose.

    >>> from turbohtml import parse
    >>> page = "<title>T</title><h1>Log in</h1><nav>a</nav><input type=password><a href=/>b</a>"
    >>> signs = signs_of(parse(page))
    >>> signs.title, signs.headings, signs.prose, signs.furniture, signs.linked, signs.passwords
    ('T', ['Log in'], 5, 1, 1, 1)
    """
    signs = Signs()
    nodes = iter(document.descendants)
    at = linked = furniture = 0  # the number of nodes so far, and those at which a link and furniture end
    for node in nodes:
        at += 1
        if isinstance(node, Text):
            _read(signs, node.data, linked=at <= linked, furniture=at <= furniture)
            if signs.prose >= PLENTY:
                break
        elif isinstance(node, Element):
            tag, attributes = node.tag, node.attrs
            is_unseen = ("style" in attributes or "hidden" in attributes) and is_hidden(node)
            if is_unseen:
                signs.hidden += _size(node)
            elif tag in NOTED or "id" in attributes:
                _note(signs, node, tag)
            if is_unseen or (tag in UNREAD and tag != "head"):
                count = _count(node)
                at += count
                next(islice(nodes, count, count), None)  # they are not read
            elif tag == "a" and at > linked:
                linked = at + _count(node)
            elif tag in FURNITURE and at > furniture:
                furniture = at + _count(node)
    return signs


def _count(element: Element) -> int:
    """Return the number of nodes inside an element."""
    return sum(1 for _ in element.descendants)


def _read(signs: Signs, text: str, *, linked: bool, furniture: bool) -> None:
    words = text.split()
    if not words:
        return
    size = sum(map(len, words)) if text.isascii() else _letters(text)
    signs.texts.append(" ".join(words))
    if linked:
        signs.linked += size
    elif furniture:
        signs.furniture += size
    else:
        signs.prose += size


def _letters(text: str) -> int:
    return len("".join(text.split()).encode("utf-8", "replace"))


def _size(element: Element) -> int:
    """Return the number of letters in an element, shown or not, without scripts and styles."""
    code = sum(_letters(inner.text) for inner in element.select("script, style, template"))
    return max(_letters(element.text) - code, 0)


def _note(signs: Signs, element: Element, tag: str) -> None:
    """Count an element by its kind, besides its text."""
    if tag == "title":
        signs.title = signs.title or " ".join(element.text.split())
    elif tag in HEADINGS:
        signs.headings.append(" ".join(element.text.split()))
    elif tag == "script":
        signs.scripts.append(_attribute(element, "src") or element.text[:SCRIPT_START])
    elif tag == "noscript":
        signs.unscripted += " " + " ".join(element.text.split())[:PLENTY]
        signs.hidden += _size(element)
    elif tag == "meta" and _attribute(element, "http-equiv").lower() == "refresh":
        signs.refresh = _attribute(element, "content")
    elif tag in FRAMES:
        signs.frames += 1
    else:
        _note_use(signs, element, tag)


def _note_use(signs: Signs, element: Element, tag: str) -> None:
    signs.pictures += tag in PICTURES or tag == "applet"
    signs.links += tag == "a"
    signs.mounts += tag in MOUNTS or _attribute(element, "id") in MOUNTS
    if tag == "input":
        kind = _attribute(element, "type").lower()
        signs.passwords += kind == "password"
        signs.controls += kind not in PRESSED and kind != "hidden"
        if kind in PRESSED:
            signs.buttons.append(_attribute(element, "value"))
    elif tag in ("button", "a"):
        signs.buttons.append(" ".join(element.text.split()))
    elif tag in ("select", "textarea"):
        signs.controls += 1
    elif tag == "iframe":  # some challenges run here
        signs.scripts.append(_attribute(element, "src"))


def _attribute(element: Element, name: str) -> str:
    value = element.attrs.get(name)
    return " ".join(value) if isinstance(value, list) else str(value or "")
