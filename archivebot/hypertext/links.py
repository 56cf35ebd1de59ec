"""The links of a page: target, anchor, the part of the page they stand in, and how they refer."""

from __future__ import annotations

import re
from itertools import islice
from urllib.parse import quote

from lxml import etree

from archivebot.bounds import MOST_LINKS
from archivebot.hypertext.attributes import thinned
from archivebot.hypertext.references import TAGS, reference, resolve
from archivebot.hypertext.scripts import UNKNOWN, Way, code_of, said
from archivebot.models import Link
from archivebot.text import collapse
from archivebot.urls import joined

# Elements that make a part of the page; https://html.spec.whatwg.org/multipage/sections.html
SECTIONS = {
    "nav": "navigation",
    "header": "header",
    "footer": "footer",
    "aside": "aside",
    "form": "form",
    "main": "main",
    "article": "main",
}

# An anchor is cut at this many characters and pieces of text. A card of a news site that is one link
# has about 200 characters; an anchor that is never closed has the whole rest of the page.
MOST_ANCHOR = 300
MOST_PIECES = 100

# The part of the page that links of scripts are in, and how they refer. They come after all others.
SCRIPT = "script"

# Scripts of other types are data or templates; https://html.spec.whatwg.org/multipage/scripting.html
_RUNS = re.compile(r"\s*(?:$|module|(?:text|application)/(?:x-)?(?:java|ecma|j|live)script)", re.IGNORECASE)
_CLICKED = etree.XPath("//*[@onclick]")
_WRITTEN = etree.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
_HOLE = quote(UNKNOWN)

# Anchors that are not closed stand in one another. Those deeper than this have no text of their own,
# so that no text is read more often.
MOST_NESTED = 8


class LinkWalk:
    """One walk over a page that gathers its links and robots META tags."""

    tags: tuple[str, ...] | None = (*TAGS, *SECTIONS, "script")  # the elements that matter

    def __init__(self, root: etree._Element, url: str, skip_nofollow: bool) -> None:
        self.root = root
        self.base = _base(root, url)
        self.skip_nofollow = skip_nofollow
        self.found: dict[str, Link] = {}
        self.robots: list[tuple[str, str]] = []
        self.roles = ["main"]
        self.contents = self.forms = 0  # elements that are open: main or article, form
        self.anchors = 0  # anchors that are open
        self.scripts: list[tuple[str, str]] = []  # scripts that may hold links, with the anchor of these

    def run(self, clicks: bool) -> None:
        """Walk, then take in what only scripts lead to; with ``clicks`` also those of clicks on anything."""
        self.walk()
        self.finish()
        if clicks:
            self.scripts += [(element.get("onclick"), _caption(element)) for element in _CLICKED(self.root)]
        for script, text in self.scripts:
            self._obey(script, text)

    def walk(self) -> None:
        for event, element in etree.iterwalk(self.root, ("start", "end"), self.tags):
            if event == "start":
                self.start(element, element.tag)
            else:
                self.end(element, element.tag)

    def finish(self) -> None:
        """End the walk."""

    def start(self, element: etree._Element, tag: str) -> None:
        if tag == "script":
            if (script := element.text) and _RUNS.match(element.get("type") or ""):
                self.scripts.append((script, ""))
        elif tag in SECTIONS:
            self.roles.append(self._role(element, tag))
            self._count_section(tag, 1)
        elif referred := reference(element):
            self._refer(element, *referred)
            self.anchors += tag == "a"
        elif tag == "meta":
            self._robots(element)

    def end(self, element: etree._Element, tag: str) -> None:
        if tag in SECTIONS:
            self.roles.pop()
            self._count_section(tag, -1)
        elif tag == "a" and element.get("href"):
            self.anchors -= 1

    def place(self, url: str, text: str, role: str, kind: str) -> None:
        """Take note of a link where it stands."""
        self.take(Link(url, text, "", "", "", role, kind))

    def take(self, link: Link) -> None:
        """Take a link in, up to the bound; of links with one target the one that says most stays, in the
        first's place.
        """
        known = self.found.get(link.url)
        if known is None and len(self.found) == MOST_LINKS:
            return
        if known is None or (link.anchor and _outdone(known, link.role)):
            self.found[link.url] = link

    def _refer(self, element: etree._Element, href: str, kind: str) -> None:
        if len(self.found) == MOST_LINKS:
            return
        url = resolve(href, self.base)
        if self.skip_nofollow and "nofollow" in (element.get("rel") or "").lower():
            return
        if not url:
            if (code := code_of(href)) is not None:
                self.scripts.append((code, anchor(element) if self.anchors < MOST_NESTED else ""))
            return
        role, known = self.roles[-1], self.found.get(url)
        if known is None or _outdone(known, role):
            text = anchor(element) if self.anchors < MOST_NESTED else ""
            self.place(url, text, role, kind)

    def _obey(self, script: str, text: str) -> None:
        """Take in the links of a script; what it writes is read as markup, once for all of it."""
        written = []
        for found in said(script):
            if found.way is Way.WRITE:
                written.append(found.text)
            else:
                self._take_said(found.text, text)
        markup = "".join(written)
        if "<" not in markup:
            return
        root = etree.fromstring(thinned(markup.replace("\0", "").encode("utf-8", "replace")), _WRITTEN)
        if root is not None:
            inner = LinkWalk(root, self.base, self.skip_nofollow)
            inner.walk()
            for link in inner.found.values():
                self._take_said(link.url, link.anchor.replace(UNKNOWN, ""))

    def _take_said(self, href: str, text: str) -> None:
        url = resolve(href, self.base)
        if url and url not in self.found and _HOLE not in url and len(self.found) < MOST_LINKS:
            self.found[url] = Link(url, text, role=SCRIPT, kind=SCRIPT)

    def _role(self, element: etree._Element, tag: str) -> str:
        """Return what part an element makes; an article makes none, nor do its header and footer."""
        outer = self.roles[-1]
        if tag == "article" or (tag in ("header", "footer") and self.contents):
            return outer
        if tag == "form" and (self.forms or next(element.iter("h1", "h2", "h3", "p"), None) is not None):
            return outer  # ASP.NET puts whole pages into one form
        return SECTIONS[tag]

    def _count_section(self, tag: str, step: int) -> None:
        if tag == "form":
            self.forms += step
        elif tag in ("main", "article"):
            self.contents += step

    def _robots(self, element: etree._Element) -> None:
        name, content = element.get("name"), element.get("content")
        if name and content:
            self.robots.append((name.strip().lower(), content))


def _outdone(known: Link, role: str) -> bool:
    """Return whether a link with an anchor, in that part of the page, says more than the one known."""
    return not known.anchor or role == "main" != known.role


def anchor(element: etree._Element) -> str:
    """Return the text of a link: its own, or that of its image, its label or its title.

    What stands inside a frame is for browsers without frames, and no anchor.

    >>> anchor(etree.fromstring('<a href="/">The <b>first</b> page</a>'))
    'The first page'
    >>> anchor(etree.fromstring('<a href="/" title="Home"><img alt=" Our  logo "/></a>'))
    'Our logo'
    >>> anchor(etree.fromstring('<a href="/" title="Home"><img/></a>'))
    'Home'
    """
    text = element.text if not len(element) else "".join(islice(element.itertext(), MOST_PIECES))
    if text and element.tag == "a" and (text := shortened(text, MOST_ANCHOR)):
        return str(text)
    image = next(element.iter("img"), None)
    given = (element.get("alt"), image.get("alt") if image is not None else None)
    for value in (*given, element.get("aria-label"), element.get("title")):
        if value and (value := shortened(value, MOST_ANCHOR)):
            return str(value)
    return ""


def _caption(element: etree._Element) -> str:
    """Return what an element that is no link says at once; what stands in others inside it is not read."""
    given = (element.text, element.get("value"), element.get("aria-label"), element.get("title"))
    return next(filter(None, (shortened(text, MOST_ANCHOR) for text in given if text)), "")


def shortened(text: str, most: int) -> str:
    """Collapse blanks and cut to a length.

    >>> shortened("  a\\n b  c", 3)
    'a b'
    """
    return collapse(text[: 4 * most])[:most].rstrip()


def _base(root: etree._Element, url: str) -> str:
    element = next(root.iter("base"), None)
    href = element.get("href") if element is not None else None
    return joined(url, href) or url if href else url
