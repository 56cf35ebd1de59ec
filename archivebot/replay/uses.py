"""What the elements of a page load, and the base of its addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from turbohtml import Document, Element

from archivebot.urls import joined

# Elements whose addresses carry the modifier of their use, so that a page in a frame has no banner and a
# style sheet is read as one, whatever its type; with the attributes that have these addresses.
FRAMES, PICTURES, SHEETS, SCRIPTS, OTHERS = "if_", "im_", "cs_", "js_", "oe_"
USES = {
    **dict.fromkeys(("iframe", "frame", "embed"), (FRAMES, ("src",))),
    "object": (FRAMES, ("data",)),
    "img": (PICTURES, ("src", "srcset")),
    "input": (PICTURES, ("src",)),
    **dict.fromkeys(("image", "feimage"), (PICTURES, ("href", "xlink:href"))),
    **dict.fromkeys(("body", "table", "td", "th", "tr"), (PICTURES, ("background",))),
    "source": (OTHERS, ("src", "srcset")),
    "video": (OTHERS, ("src", "poster")),
    **dict.fromkeys(("audio", "track"), (OTHERS, ("src",))),
    "script": (SCRIPTS, ("src",)),
}
_DRAWN = "feimage"  # the one of them that turbohtml has no index of
_OF_LINKS = ("href", "imagesrcset")
# The attributes whose address is that of a picture, whatever the element.
_OF_PICTURES = ("srcset", "poster", "imagesrcset")

SHEET = "stylesheet"
_ICONS = frozenset(("icon", "apple-touch-icon", "mask-icon"))
_WEB = ("http:", "https:")

# Attributes of SVG that are properties of CSS with an address.
PROPERTIES = (
    *("fill", "stroke", "filter", "mask", "clip-path", "cursor"),
    *("marker", "marker-start", "marker-mid", "marker-end"),
)
WITH_CSS = ", ".join(f'[{name}*="("]' for name in ("style", *PROPERTIES))


def use_of(element: Element) -> str:
    """Return the modifier for the addresses of an element, "" for a link that is followed.

    >>> use_of(Element("link", {"rel": "Stylesheet", "href": "a"})), use_of(Element("a", {"href": "b"}))
    ('cs_', '')
    """
    tag = element.tag.lower()
    if tag == "link":
        relations = relations_of(element)
        return SHEETS if SHEET in relations else PICTURES if relations & _ICONS else ""
    return USES[tag][0] if tag in USES else ""


def loaded_by(document: Document) -> Iterator[tuple[Element, str, str]]:
    """Yield the elements that load something, each with an attribute that names it, and the modifier.

    >>> from turbohtml import parse
    >>> page = parse("<a href=b><img src=c><link rel=next href=d><video poster=e>")
    >>> [(element.tag, *rest) for element, *rest in loaded_by(page)]
    [('img', 'src', 'im_'), ('video', 'poster', 'im_')]
    """
    for tag, (use, attributes) in USES.items():
        for name in attributes:
            own = PICTURES if name in _OF_PICTURES else use
            for element in having(document, tag, name):
                yield element, name, own
    for name in _OF_LINKS:
        for element in having(document, "link", name):
            if use := use_of(element):
                yield element, name, PICTURES if name in _OF_PICTURES else use


def drawings(document: Document) -> list[Element]:
    """Return the outermost drawings of a document.

    What only drawings have is looked for in them alone: the tags of HTML are found by an index of turbohtml,
    but other tags, lists of tags, and attributes take up to a fifth of the time of parsing.
    """
    return document.select("svg:not(svg svg)")


def having(document: Document, tag: str, attribute: str) -> Iterable[Element]:
    """Return the elements of a tag that have an attribute."""
    selector = f"{tag}[{attribute}]".replace(":", r"\:")
    if tag != _DRAWN:
        return document.select(selector)
    return (element for drawing in drawings(document) for element in drawing.select(selector))


def relations_of(element: Element) -> set[str]:
    """Return the words of the attribute ``rel``."""
    return set((element.attr("rel") or "").lower().split())


def base_of(document: Document, url: str) -> str:
    """Return the URL that the addresses of a page are relative to."""
    base = document.select_one("base[href]")
    address = joined(url, (base.attr("href") or "").strip()) if base is not None else None
    return address if address and address.startswith(_WEB) else url


def web_address(base: str, reference: str) -> str | None:
    """Return the absolute address of a reference; None if it leads nowhere else, or not into the web.

    >>> web_address("http://a.example/b/", " c?d"), web_address("http://a.example/", "#top")
    ('http://a.example/b/c?d', None)
    """
    reference = reference.strip()
    if not reference or reference.startswith("#"):
        return None
    address = joined(base, reference)
    return address if address is not None and address.startswith(_WEB) else None
