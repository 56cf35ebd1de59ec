"""References: the elements that refer to other pages, their kinds and canonical URLs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from turbohtml import Element, Namespace

from archivebot.urls import target

# Element -> the attribute with its address, and the kind of the reference.
_ADDRESS = {
    "a": ("href", "link"),
    "area": ("href", "link"),
    "frame": ("src", "frame"),
    "iframe": ("src", "frame"),
}
TAGS = (*_ADDRESS, "link", "meta")

_RELATIONS = frozenset(("canonical", "alternate", "next", "prev"))
_OPAQUE = ("#", "javascript:", "mailto:", "tel:", "data:")

# Maximum of characters of a reference and its base that are remembered.
MOST_REMEMBERED = 500

# https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps
_REFRESH = re.compile(
    r"""\s* [\d.]+ (?:\s* [;,] | \s) \s* (?:url \s* = \s*)? (?:"([^"]*) | '([^']*) | (.*))""",
    re.I | re.S | re.X,
)


def reference(element: Element) -> tuple[str, str] | None:
    """Return the literal address of an element's reference, and its kind; None if it has none.

    >>> reference(Element("frame", {"src": "menu.html"}))
    ('menu.html', 'frame')
    >>> reference(Element("link", {"rel": "stylesheet", "href": "a.css"})) is None
    True
    """
    tag = element.tag
    if tag in _ADDRESS:
        name, kind = _ADDRESS[tag]
        href = element.attr(name)
        if href is None and element.namespace is Namespace.SVG:
            href = element.attr("xlink:href")
    elif tag == "link":
        href, kind = element.attr("href") if leads_on(element.attrs) else None, "relation"
    else:
        refresh = (element.attr("http-equiv") or "").strip().lower() == "refresh"
        href, kind = refresh_target(element.attr("content") or "") if refresh else None, "refresh"
    return (href, kind) if href else None


def leads_on(attributes: Mapping[str, str | list[str] | None]) -> bool:
    """Return whether a LINK element with some attributes refers to another page.

    >>> leads_on({"rel": "alternate stylesheet"}), leads_on({"rel": ["prev", "nofollow"]})
    (False, True)
    """
    rel = attributes.get("rel") or ""
    words = (rel if isinstance(rel, str) else " ".join(rel)).lower().split()
    return not _RELATIONS.isdisjoint(words) and "stylesheet" not in words


def refresh_target(content: str) -> str | None:
    """Return the address in the content of a META refresh, or None.

    >>> refresh_target("5; url='/next'"), refresh_target("0;URL=http://b.example/"), refresh_target("30")
    ('/next', 'http://b.example/', None)
    """
    found = _REFRESH.match(content)
    return next(filter(None, found.groups()), "").strip() or None if found else None


def resolve(href: str, base: str) -> str | None:
    """Return the canonical http URL of a reference, or None if it has none.

    >>> resolve(" /b#top", "http://a.example/x/")
    'http://a.example/b'
    >>> resolve("mailto:someone@a.example", "http://a.example/") is None
    True
    """
    start = href.lstrip()[:16].lower()
    if not start or start.startswith(_OPAQUE):
        return None
    if href[0] == "/" and href[1:2] != "/":
        base = base[: base.find("/", 8) + 1] or base
    return (_remembered if len(href) + len(base) <= MOST_REMEMBERED else target)(href, base)


# Navigation repeats the same few hundred references on every page of a site: 64 Ki entries
# (about 20 MB) spare nine of ten canonicalisations on the loopback benchmark.
_remembered = lru_cache(maxsize=1 << 16)(target)
