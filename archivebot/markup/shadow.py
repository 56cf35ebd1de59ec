"""The tree of a page in which shadow roots, which a browser shows, are contents like any other."""

from __future__ import annotations

from collections.abc import Iterator

import turbohtml
from turbohtml import Document, Element, Text

# The attribute that makes a TEMPLATE a shadow root, as programs write it.
_MODE = "shadowrootmode"

# Elements of HTML that may have a shadow root; all elements with a hyphen in their names may.
_HOSTS = frozenset(
    "article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span".split()
)


def parse(text: str, *, source_locations: bool = False) -> Document:
    """Return the tree of a text; the contents of declarative shadow roots stand in the place of these.

    The elements are in the order of the source, before the contents of the slots, and what a slot shows if it
    is empty stays. Source: HTML, 13.2.6.4.4, 'The "in head" insertion mode'.

    >>> parse("<p><a-b><template shadowrootmode=open><i>One</i><slot></slot></template>two").html
    '<html><head></head><body><p><a-b><i>One</i><slot></slot> two</a-b></p></body></html>'
    """
    document = turbohtml.parse(
        text,
        positions=source_locations,
        source_locations=source_locations,
        allow_declarative_shadow_roots=False,
    )
    if _MODE in text:
        for root in list(_roots(document)):
            (contents,) = root.children
            # A browser shows a root and what is after it apart, by slots and styles.
            apart = [Text(" ")] if contents.to_text().strip() else []
            root.replace_with(*contents.children, *apart)
    return document


def _roots(document: Document) -> Iterator[Element]:
    """Yield the templates that a browser takes for shadow roots: one of an element."""
    hosts: set[Element] = set()
    for root in document.select(f"template[{_MODE}]"):
        host = root.parent
        if (
            isinstance(host, Element)
            and host not in hosts
            and (host.tag in _HOSTS or "-" in host.tag)
            and (root.attr(_MODE) or "").lower() in ("open", "closed")
        ):
            hosts.add(host)
            yield root
