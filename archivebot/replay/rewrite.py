"""Archived pages, pictures and style sheets, made to replay from the archive and to run nothing.

A page is parsed into the tree that a browser builds, changed there and written again. The rewriter of
turbohtml that works on tags alone takes as long (both 1 to 2 ms for a page of 250 kB), but reads the content
of NOSCRIPT, which a page without scripts shows, as text, and the content of STYLE and TITLE in SVG, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from turbohtml import Document, Element, HTMLParseError, ProcessingInstruction, parse

from archivebot.markup.charset import label_of
from archivebot.markup.media import Media
from archivebot.replay.address import ROOT, replay_path
from archivebot.replay.css import CSS, rewrite_css, without_tags
from archivebot.replay.uses import (
    FRAMES,
    PROPERTIES,
    SHEET,
    WITH_CSS,
    base_of,
    drawings,
    having,
    loaded_by,
    relations_of,
    web_address,
)
from archivebot.replay.xml import read_xml, sheet_of, text_of
from archivebot.urls import encoded

# Documents inside documents (srcdoc) that are rewritten; deeper documents are left out.
DEEPEST = 3

SVG = "image/svg+xml"
XHTML = "application/xhtml+xml"

# Relations that only prepare a browser for what follows, or name what scripts would need. A lookup of a name
# in the DNS is the one request that no policy of a page prevents.
_HINTS = frozenset(
    "dns-prefetch import manifest modulepreload preconnect prefetch preload prerender serviceworker".split()
)

# They belong to the answers of the server that was archived: digests of bytes that are rewritten, requests
# with the cookies of an origin, reports of clicks, the folder of an applet.
_DROPPED = {
    "integrity": ("link", "img"),
    "crossorigin": ("link", "img", "audio", "video", "image", "feimage"),
    "nonce": ("link", "style"),
    "ping": ("a", "area"),
    "codebase": ("object", "applet"),
    "manifest": ("html",),
}
_POLICIES = ("content-security-policy", "content-security-policy-report-only", "x-dns-prefetch-control")

_SCRIPT = re.compile(r"[\x00-\x20]*j[\t\r\n]*a[\t\r\n]*v[\t\r\n]*a[\t\r\n]*script[\t\r\n]*:", re.IGNORECASE)
# What may be the name of a handler in lower-case letters: also words of the text. To look at each element for
# handlers took twice as long as to parse the page. An expression that begins with letters is found ten times
# faster than one that begins with a class, and bytes are lowered ten times faster than text.
_HANDLER = re.compile(rb"""on(?<=[\s/"']on)[a-z]++(?=[\s=/>])""")
# A style sheet or a transformation of an XML document.
_INSTRUCTION = re.compile(r"<\?xml-stylesheet\s.*?(?:\?>|\Z)", re.DOTALL)
# The beginning of an address in the archive, also in a list. An expression that begins with what stands
# before the address takes 18 times as long.
_REPLAYED = re.compile(rf"{ROOT}(?<![^\s,]{ROOT})[0-9]{{1,14}}(?:{FRAMES})?/(?=https?:)")
_NOWHERE = "#"
_ADDRESSES = ("href", "xlink:href", "src", "action", "formaction", "data")
# What is followed, with the attribute that has its address, and the targets that stay in the frame.
_FOLLOWED = {"a": "href", "area": "href", "form": "action"}
_SAME = ("", "_self", "_parent")
_ACTIVE = ("script", "link", "meta")
_ACTIVE_DRAWN = "set, animate"
_PREFIXED = (":script", ":set", ":animate")
_WITH_ADDRESS = r"[href], [xlink\:href], [src], [action], [formaction], [data]"


class Rewriter:
    """Rewrites what was captured at one URL, so that its addresses lead into the archive.

    Addresses get the timestamp ``digits``. Scripts are removed, with handlers of events and addresses of
    scripts. ``modifier`` is the modifier of the page's own address. With ``links`` false the addresses stay
    as they are. Text is written as UTF-8.
    """

    def __init__(self, url: str, digits: str, modifier: str = "", *, links: bool = True) -> None:
        self._url, self._digits, self._links = url, digits, links
        self._replayed = _Replayed(url, replay_path(digits, "", modifier if modifier == FRAMES else ""))

    def body(self, body: bytes, media: Media, use: str = "", banner: str = "") -> tuple[bytes, str]:
        """Return a body as it is replayed, and its Content-Type.

        ``use`` is the modifier under which it was asked for, ``banner`` the markup at the top of a page.
        Bodies that name no addresses are returned as they are. What is sent as XHTML or SVG but is not
        well-formed becomes HTML. A page in XML has no banner: only HTML has declarative shadow roots.
        """
        is_sheet = media.type == CSS or (use == "cs_" and not media.is_page)
        if not media.is_markup and media.type != SVG and not (is_sheet and media.is_text):
            return body, f"{media.type}; charset={label_of(media.charset)}" if media.is_text else media.type
        text, self._replayed.charset = text_of(body, media)
        type_ = media.type
        if type_ in (SVG, XHTML):
            try:
                text = self.xml(text)
            except HTMLParseError:  # sent as XML, a browser would show an error instead
                type_, text = "text/html", self.page(text, banner)
        elif media.is_page:
            type_, text = "text/html", self.page(text, banner, body if media.charset == "utf-8" else b"")
        elif is_sheet:
            type_, text = CSS, self.sheet(text)
        else:
            text = _INSTRUCTION.sub("", text)
        return text.encode("utf-8", "replace"), f"{type_}; charset=utf-8"

    def page(self, text: str, banner: str = "", body: bytes = b"", depth: int = 0) -> str:
        """Return a page as it is replayed; ``body`` is its text in UTF-8, if that is at hand.

        >>> print(Rewriter("http://a.example/b/", "2024").page("<a onclick=c() href=d?e>x<script>f()"))
        <html><head></head><body><a href="/web/2024/http://a.example/b/d?e">x</a></body></html>
        """
        document = parse(text, positions=False, allow_declarative_shadow_roots=False)
        _silence_handlers(document, body or text.encode("utf-8", "replace"))
        self._rewrite(document, depth)
        if banner and (top := document.select_one("body")) is not None:
            top.insert_adjacent_html("afterbegin", banner)
        return document.serialize()

    def xml(self, text: str) -> str:
        """Return a page or a picture in XML as it is replayed; raises HTMLParseError if it is no XML."""
        document = read_xml(text)
        for node in list(document.children):
            if isinstance(node, ProcessingInstruction):  # style sheets and transformations
                node.extract()
        _silence_all_handlers(document)
        self._rewrite(document, 0)
        return document.inner_xml

    def sheet(self, text: str) -> str:
        """Return a style sheet as it is replayed."""
        return rewrite_css(text, self._replayed.__getitem__) if self._links else text

    def _rewrite(self, document: Document, depth: int) -> None:
        _silence(document)
        base = base_of(document, self._url)
        for inner in document.select("iframe[srcdoc]"):
            self._inner_document(inner, base, depth)
        if not self._links:
            _silence_addresses(document)
            return
        self._replayed.base = base
        for target in document.select("base[href]"):
            target.attrs["href"] = self._replayed.base
        sheets = list(self._taken_sheets(document))
        document.rewrite_links(self._replayed.__getitem__)
        if self._replayed.has_scripts:
            _silence_addresses(document)
        for element, name, value in sheets:
            if name:
                element.attrs[name] = value
            else:
                element.set_text(value)
        self._tell_uses(document)
        self._tell_targets(document)
        if not self._replayed.charset.startswith("utf"):
            for form in document.select("form:not([accept-charset])"):
                form.attrs["accept-charset"] = label_of(self._replayed.charset)

    def _taken_sheets(self, document: Document) -> Iterator[tuple[Element, str, str]]:
        """Take the style sheets out of a page; yield each with its element and attribute, rewritten."""
        for element in document.select("style"):
            sheet = without_tags(self.sheet(sheet_of(element)))
            element.set_text("")
            yield element, "", sheet
        for element in document.select(WITH_CSS):
            for name in ("style", *PROPERTIES):
                value = element.attr(name)
                if value and "(" in value:
                    del element.attrs[name]
                    yield element, name, self.sheet(value)

    def _inner_document(self, frame: Element, base: str, depth: int) -> None:
        text = frame.attr("srcdoc") or ""
        inner = Rewriter(base, self._digits, FRAMES, links=self._links)
        frame.attrs["srcdoc"] = inner.page(text, depth=depth + 1) if depth < DEEPEST else ""

    def _tell_uses(self, document: Document) -> None:
        """Add the modifier of its use to each address of a frame, a picture, a style sheet or a medium."""
        for element, name, use in loaded_by(document):
            value = element.attr(name) or ""
            element.attrs[name] = _REPLAYED.sub(replay_path(self._digits, "", use), value)

    def _tell_targets(self, document: Document) -> None:
        """Address the targets of links: frames of the page without a banner, other windows with one."""
        base = document.select_one("base[target]")
        target = (base.attr("target") or "") if base is not None else ""
        frames = {each.attr("name") for tag in ("iframe", "frame") for each in having(document, tag, "name")}
        for tag, name in _FOLLOWED.items():
            for element in having(document, tag, name if target else "target"):
                own = element.attr("target") or target
                if own.lower() not in _SAME and (value := element.attr(name)):
                    use = FRAMES if own in frames else ""
                    element.attrs[name] = _REPLAYED.sub(replay_path(self._digits, "", use), value)


class _Replayed(dict[str, str | None]):
    """The addresses in the archive for the references of a page, whose menus repeat them.

    A reference that leads nowhere else has none. ``has_scripts`` is whether one was the address of a script:
    to look at each address of a page for scripts takes a tenth of the time.
    """

    has_scripts = False
    charset = "utf-8"

    def __init__(self, base: str, prefix: str) -> None:
        self.base, self._prefix = base, prefix

    def __missing__(self, reference: str) -> str | None:
        address = web_address(self.base, encoded(reference, self.charset))
        if address is None and _SCRIPT.match(reference):
            self.has_scripts = True
        self[reference] = found = None if address is None else self._prefix + address
        return found


def _silence(document: Document) -> None:
    """Remove what would run, or would reach for another server."""
    for tag in _ACTIVE:
        for element in document.select(tag):
            if _is_active(element):
                element.decompose()
    _silence_hints(document)
    for drawing in drawings(document):
        for element in drawing.select(_ACTIVE_DRAWN):
            if _is_active(element):
                element.decompose()
    for name, tags in _DROPPED.items():
        for tag in tags:
            for element in having(document, tag, name):
                del element.attrs[name]


def _silence_hints(document: Document) -> None:
    """Remove the hints from the style sheets that are hints, too."""
    for link in having(document, "link", "rel"):
        if relations_of(link) & _HINTS:
            words = (link.attr("rel") or "").split()
            link.attrs["rel"] = " ".join(word for word in words if word.lower() not in _HINTS)


def _silence_handlers(document: Document, body: bytes) -> None:
    """Remove the handlers of events from a page, by the names that stand in its body."""
    names = {name.decode("ascii") for name in _HANDLER.findall(body.lower())}
    if names:
        for element in document.select(", ".join(f"[{name}]" for name in names)):
            for name in names.intersection(element.attrs):
                del element.attrs[name]


def _silence_all_handlers(document: Document) -> None:
    """Remove the handlers of events from a document in XML, and scripts whose names have a prefix."""
    for element in document.select("*"):
        if element.tag.endswith(_PREFIXED):  # a selector sees the whole name
            element.decompose()
            continue
        for name in [name for name in element.attrs if name.startswith("on")]:
            del element.attrs[name]


def _silence_addresses(document: Document) -> None:
    """Replace the addresses of scripts."""
    for element in document.select(_WITH_ADDRESS):
        for name in _ADDRESSES:
            if _SCRIPT.match(element.attr(name) or ""):
                element.attrs[name] = _NOWHERE


def _is_active(element: Element) -> bool:
    """Return whether an element runs, leads to addresses that it computes, or only reaches for a server."""
    tag = element.tag
    if tag in ("set", "animate"):
        return (element.attr("attributeName") or element.attr("attributename") or "").lower().endswith("href")
    if tag == "link":
        relations = relations_of(element)
        return bool(relations & _HINTS) and SHEET not in relations
    if tag == "meta":
        return (element.attr("http-equiv") or "").strip().lower() in _POLICIES
    return tag == "script"
