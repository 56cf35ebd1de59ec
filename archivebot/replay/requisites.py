"""Page requisites: what a page loads to look as it does, found where the rewriter rewrites addresses."""

from __future__ import annotations

from collections.abc import Iterator

from turbohtml import Document, Element, HTMLParseError, parse

from archivebot.exceptions import UsageError
from archivebot.markup.media import Media
from archivebot.replay.css import CSS, rewrite_css
from archivebot.replay.rewrite import DEEPEST, SVG
from archivebot.replay.uses import FRAMES, OTHERS, PROPERTIES, WITH_CSS, base_of, use_of, web_address
from archivebot.replay.xml import read_xml, sheet_of, text_of
from archivebot.urls import canonical_url, encoded

# Requisites of one page. Of 300 pages of wcxb-dev the median names 46, one in ten 288, a hundredth 1,000.
MOST = 1000


def page_requisites(document: Document, url: str, charset: str = "utf-8") -> tuple[str, ...]:
    """Return the canonical URLs of what a parsed page loads, each once; the page is not changed.

    These are its style sheets, scripts, icons, pictures (all of a ``srcset``), posters, subtitles, objects,
    and what its styles name. Frames are links, and videos and sounds are not loaded with a page.

    >>> page = parse("<link rel=icon href=i.ico><a href=b><img src=/c.png></a><video src=v poster=p></video>")
    >>> page_requisites(page, "http://a.example/d/")
    ('http://a.example/d/i.ico', 'http://a.example/c.png', 'http://a.example/d/p')
    """
    return _distinct(_of_document(document, url, charset))


def has_requisites(media: Media) -> bool:
    """Return whether a body that is not a page may need others: a style sheet or a drawing."""
    return media.type in (CSS, SVG)


def body_requisites(body: bytes, media: Media, url: str) -> tuple[str, ...]:
    """Return the canonical URLs of what a style sheet or a drawing loads, each once.

    >>> body_requisites(b"@import 'a.css'; p { mask: url(#b) }", Media(CSS, "data", ""), "http://c.example/")
    ('http://c.example/a.css',)
    """
    text, charset = text_of(body, media)
    if media.type == CSS:
        return _distinct(_of_sheet(text, url, charset))
    try:
        return _distinct(_of_document(read_xml(text), url, charset))
    except HTMLParseError:
        return ()


def _of_document(document: Document, url: str, charset: str, depth: int = 0) -> Iterator[str]:
    base = base_of(document, url)
    for link in document.links():
        if link.attribute and _is_loaded(link.element, link.attribute):
            yield from _canonical(base, link.url, charset)
    for element in document.select("style"):
        yield from _of_sheet(sheet_of(element), base, charset)
    for element in document.select(WITH_CSS):
        for name in ("style", *PROPERTIES):
            if value := element.attr(name):
                yield from _of_sheet(value, base, charset)
    if depth < DEEPEST:
        for frame in document.select("iframe[srcdoc]"):
            inner = parse(frame.attr("srcdoc") or "", positions=False)
            yield from _of_document(inner, base, "utf-8", depth + 1)


def _is_loaded(element: Element, attribute: str) -> bool:
    tag = element.tag.lower()
    if tag == "use":
        return attribute in ("href", "xlink:href")
    use = use_of(element)
    if use == FRAMES:
        return tag in ("object", "embed") and attribute in ("data", "src")
    if use == OTHERS:
        return attribute in ("poster", "srcset") or tag == "track"
    return bool(use) and attribute not in ("action", "formaction")


def _of_sheet(sheet: str, base: str, charset: str) -> Iterator[str]:
    found: list[str] = []
    rewrite_css(sheet, found.append)
    for address in found:
        yield from _canonical(base, address, charset)


def _canonical(base: str, reference: str, charset: str) -> Iterator[str]:
    if address := web_address(base, encoded(reference, charset)):
        try:
            yield canonical_url(address)
        except UsageError:
            return


def _distinct(urls: Iterator[str]) -> tuple[str, ...]:
    """Return the first URLs, each once."""
    found: dict[str, None] = {}
    for url in urls:
        found[url] = None
        if len(found) == MOST:
            break
    return tuple(found)
