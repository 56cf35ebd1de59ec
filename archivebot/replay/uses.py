"""What the elements of a page load, and the base of its addresses."""

from __future__ import annotations

from turbohtml import Document, Element

from archivebot.urls import joined

# Elements whose addresses carry the modifier of their use, so that a page in a frame has no banner and a
# style sheet is read as one, whatever its type.
FRAMES, PICTURES, SHEETS, SCRIPTS, OTHERS = "if_", "im_", "cs_", "js_", "oe_"
USES = {
    **dict.fromkeys(("iframe", "frame", "object", "embed"), FRAMES),
    **dict.fromkeys(("img", "image", "input", "feimage", "body", "table", "td", "th", "tr"), PICTURES),
    **dict.fromkeys(("source", "video", "audio", "track"), OTHERS),
    "script": SCRIPTS,
}
# The attributes whose address is that of a picture, whatever the element.
OF_PICTURES = ("srcset", "poster", "imagesrcset")
LOADED = ("src", "srcset", "href", "xlink:href", "data", "poster", "background", "imagesrcset")

_SHEET = "stylesheet"
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
        return SHEETS if _SHEET in relations else PICTURES if relations & _ICONS else ""
    return USES.get(tag, "")


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
