"""The links of a page: target, anchor, part of the page, and kind of reference."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from urllib.parse import quote

from turbohtml import Document, Element, Node, Text

from archivebot.bounds import MOST_LINKS
from archivebot.hypertext.references import TAGS, leads_on, reference, resolve
from archivebot.hypertext.scripts import UNKNOWN, Way, code_of, leads_by_click, literals
from archivebot.markup.edits import Edits, TagEdit
from archivebot.markup.page import ParsedPage
from archivebot.models import Link
from archivebot.text import collapse
from archivebot.urls import encoded, joined

# Elements that form a part of the page; https://html.spec.whatwg.org/multipage/sections.html
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

# The role and the kind of links in scripts. They come after all others.
SCRIPT = "script"

# Scripts of other types are data or templates; https://html.spec.whatwg.org/multipage/scripting.html
_RUNS = re.compile(r"\s*(?:$|module|(?:text|application)/(?:x-)?(?:java|ecma|j|live)script)", re.IGNORECASE)
_HOLE = quote(UNKNOWN)

# Unclosed anchors are nested. Deeper anchors than this have no text of their own, so that no text is read
# more often.
MOST_NESTED = 8

# Elements whose end matters, and TEMPLATE, whose contents are skipped. What is inside them is counted, unless
# more of them are open at once.
_HOLDERS = frozenset((*SECTIONS, "a", "template"))
MOST_OPEN = 50

# Attributes with the text of a link that has none.
_CAPTIONS = ("alt", "aria-label", "title")


class LinkWalk:
    """One walk over a page that gathers its links and robots META tags."""

    tags: tuple[str, ...] | None = (*TAGS, *SECTIONS, "script")  # the elements that matter

    def __init__(self, document: Document, url: str, skip_nofollow: bool, charset: str = "utf-8") -> None:
        self.document = document
        self.charset = charset
        self.base = _base(document, url)
        self.skip_nofollow = skip_nofollow
        self.found: dict[str, Link] = {}
        self.robots: list[tuple[str, str]] = []
        self.roles = ["main"]
        self.contents = self.forms = 0  # elements that are open: main or article, form
        self.anchors = 0  # anchors that are open
        self.scripts: list[tuple[str, str]] = []  # scripts that may hold links, with the anchor of these

    def run(self, clicks: bool) -> None:
        """Walk, then add the links of scripts; with ``clicks`` also of click handlers on any element."""
        self.walk()
        self.finish()
        if clicks:
            for element in self.document.select("[onclick]"):
                self.scripts.append((element.attr("onclick") or "", _caption(element)))
        for script, text in self.scripts:
            self._obey(script, text)

    def walk(self) -> None:
        """Visit all elements and texts in the order of the page, except the contents of TEMPLATE.

        If only some elements matter, the texts are not visited.
        """
        skimmed = self._skimmed(self.tags) if self.tags is not None else None
        if skimmed is None:
            self._visit(self.tags)
            return
        for element, starts in skimmed:
            (self.start if starts else self.end)(element, element.tag)

    def _visit(self, wanted: tuple[str, ...] | None) -> None:
        """Visit all elements and texts, one after the other."""
        opened: list[tuple[Element | None, Iterator[Node]]] = [(None, iter(self.document.children))]
        while opened:
            for child in opened[-1][1]:
                if isinstance(child, Text):
                    self.write(child.data)
                elif isinstance(child, Element):
                    is_wanted = wanted is None or child.tag in wanted
                    if is_wanted:
                        self.start(child, child.tag)
                    if inside := child.children:
                        opened.append((child if is_wanted else None, iter(inside)))
                        break
                    if is_wanted:
                        self.end(child, child.tag)
            else:
                element, _ = opened.pop()
                if element is not None:
                    self.end(element, element.tag)

    def _skimmed(self, wanted: tuple[str, ...]) -> list[tuple[Element, bool]] | None:
        """Return the wanted elements outside TEMPLATE in order, and their ends: whether each is a start.

        Only sections and anchors have ends. Returns None if these are nested deep: then it takes long.
        """
        names = (*wanted, "template")
        found: list[tuple[Element, bool]] = []
        opened: list[tuple[Element, int]] = []  # with the number of the last element inside
        skipped = -1
        for at, element in enumerate(self.document.iter_elements(names)):
            if at <= skipped:
                continue
            while opened and opened[-1][1] < at:
                found.append((opened.pop()[0], False))
            last = at
            if element.tag in _HOLDERS:
                last += sum(1 for _ in element.iter_elements(names))
            if element.tag == "template":
                skipped = last
                continue
            found.append((element, True))
            if element.tag in _HOLDERS:
                opened.append((element, last))
                if len(opened) > MOST_OPEN:
                    return None
        return found + [(element, False) for element, _ in reversed(opened)]

    def write(self, text: str) -> None:
        """Note a piece of text."""

    def finish(self) -> None:
        """End the walk."""

    def start(self, element: Element, tag: str) -> None:
        if tag == "script":
            if (script := element.text) and _RUNS.match(element.attr("type") or ""):
                self.scripts.append((script, ""))
        elif tag in SECTIONS:
            self.roles.append(self._role(element, tag))
            self._count_section(tag, 1)
        elif referred := reference(element):
            self._refer(element, *referred)
            self.anchors += tag == "a"
        elif tag == "meta":
            self._robots(element)

    def end(self, element: Element, tag: str) -> None:
        if tag in SECTIONS:
            self.roles.pop()
            self._count_section(tag, -1)
        elif tag == "a" and reference(element):
            self.anchors -= 1

    def place(self, url: str, text: str, role: str, kind: str) -> None:
        """Note a link at its position."""
        self.take(Link(url, text, "", "", "", role, kind))

    def take(self, link: Link) -> None:
        """Add a link, up to the maximum.

        Of links with one target the most informative one is kept, at the position of the first.
        """
        known = self.found.get(link.url)
        if known is None and len(self.found) == MOST_LINKS:
            return
        if known is None or (link.anchor and _outdone(known, link.role)):
            self.found[link.url] = link

    def _refer(self, element: Element, href: str, kind: str) -> None:
        if len(self.found) == MOST_LINKS:
            return
        url = self._resolved(href)
        if self.skip_nofollow and "nofollow" in (element.attr("rel") or "").lower():
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
        """Add the links of a script; the markup that it writes is parsed once, as a whole."""
        written = []
        for found in literals(script):
            if found.way is Way.WRITE:
                written.append(found.text)
            else:
                self._take_said(found.text, text)
        markup = "".join(written)
        if "<" not in markup:
            return
        inner = LinkWalk(ParsedPage.of(markup).document, self.base, self.skip_nofollow, self.charset)
        inner.walk()
        for link in inner.found.values():
            self._take_said(link.url, link.anchor.replace(UNKNOWN, ""))

    def _take_said(self, href: str, text: str) -> None:
        url = self._resolved(href)
        if url and url not in self.found and _HOLE not in url and len(self.found) < MOST_LINKS:
            self.found[url] = Link(url, text, role=SCRIPT, kind=SCRIPT)

    def _resolved(self, href: str) -> str | None:
        return resolve(encoded(href, self.charset), self.base)

    def _role(self, element: Element, tag: str) -> str:
        """Return the part that an element forms; articles, and their headers and footers, form none."""
        outer = self.roles[-1]
        if tag == "article" or (tag in ("header", "footer") and self.contents):
            return outer
        if tag == "form" and (
            self.forms or next(element.iter_elements(("h1", "h2", "h3", "p")), None) is not None
        ):
            return outer  # ASP.NET puts whole pages into one form
        return SECTIONS[tag]

    def _count_section(self, tag: str, step: int) -> None:
        if tag == "form":
            self.forms += step
        elif tag in ("main", "article"):
            self.contents += step

    def _robots(self, element: Element) -> None:
        name, content = element.attr("name"), element.attr("content")
        if name and content:
            self.robots.append((name.strip().lower(), content))


def are_kept(edits: Edits, before: bytes, after: bytes) -> bool:
    """Return whether a page has the links of an earlier version, judged by the edits between the two bodies.

    Code is compared by the addresses that it opens or writes.
    """
    clicks = leads_by_click(after)
    if clicks != leads_by_click(before):
        return False
    if clicks and not (edits.keeps_text and edits.keeps("onclick", "value", *_CAPTIONS)):
        return False
    if any(text.linked for text in edits.texts if not text.code):
        return False
    if any([*literals(text.before)] != [*literals(text.after)] for text in edits.texts if text.code):
        return False
    return all(map(_keeps_reference, edits.tags))


def _keeps_reference(edit: TagEdit) -> bool:
    """Return whether an element refers to the same target, with the same text."""
    tag, names = edit.tag, edit.names
    if tag == "link":
        return not names & {"href", "rel"} or not any(map(leads_on, (edit.before, edit.after)))
    if tag == "meta":
        return not names & {"http-equiv", "content", "name"}
    if tag == "script":
        return "type" not in names
    if tag == "base":
        return "href" not in names
    if tag == "img":
        return "alt" not in names
    return tag not in TAGS or names.isdisjoint(("href", "xlink:href", "src", "rel", *_CAPTIONS))


def _outdone(known: Link, role: str) -> bool:
    """Return whether a link with an anchor, in a part of the page, is more informative than a known link."""
    return not known.anchor or role == "main" != known.role


def anchor(element: Element) -> str:
    """Return the text of a link: its own text, or the text of its image, its label or its title.

    The contents of a frame are for browsers without frames, and not an anchor.

    >>> page = "<a>The <b>first</b> page</a><a title=Home><img alt=' Our  logo '></a><a title=Home><img></a>"
    >>> [anchor(element) for element in ParsedPage.of(page).document.find_all("a")]
    ['The first page', 'Our logo', 'Home']
    """
    text = "".join(islice(element.strings, MOST_PIECES))
    if text and element.tag == "a" and (text := shortened(text, MOST_ANCHOR)):
        return text
    image = element.find("img")
    given = (element.attr("alt"), image.attr("alt") if image is not None else None)
    for value in (*given, element.attr("aria-label"), element.attr("title")):
        if value and (value := shortened(value, MOST_ANCHOR)):
            return value
    return ""


def _caption(element: Element) -> str:
    """Return the direct text of an element that is not a link, without the text of inner elements."""
    first = next(iter(element.children), None)
    own = first.data if isinstance(first, Text) else ""
    given = (own, element.attr("value"), element.attr("aria-label"), element.attr("title"))
    return next(filter(None, (shortened(text, MOST_ANCHOR) for text in given if text)), "")


def shortened(text: str, most: int) -> str:
    """Return a text with collapsed blanks, cut to a length.

    >>> shortened("  a\\n b  c", 3)
    'a b'
    """
    return collapse(text[: 4 * most])[:most].rstrip()


def _base(document: Document, url: str) -> str:
    """Return the URL that references are relative to: the first BASE that has an address decides."""
    href = next(filter(None, (element.attr("href") for element in document.find_all("base"))), None)
    return joined(url, href) or url if href else url
