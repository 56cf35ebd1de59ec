"""Reading: the bytes of an HTML page become a Hypertext, whatever the bytes are."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

from lxml import etree

from archivebot.hypertext.attributes import thinned
from archivebot.hypertext.flow import FlowWalk
from archivebot.hypertext.links import LinkWalk
from archivebot.hypertext.scripts import leads_by_click
from archivebot.markup.charset import is_wide
from archivebot.models import FoundForm, Link


@dataclass(frozen=True, slots=True)
class Hypertext:
    """One HTML page as a reader and a crawler see it.

    ``links`` in the order of the page, one for each target; ``robots`` the META tags as (lower-case
    name, content); ``title`` and the main ``text`` (lines) where they were asked for, ``forms`` where
    somebody looks for them; ``failed`` where the page could not be read at all.
    """

    links: tuple[Link, ...] = ()
    robots: tuple[tuple[str, str], ...] = ()
    title: str = ""
    text: str = field(default="", repr=False)
    failed: bool = False
    forms: tuple[FoundForm, ...] = ()


def read(
    body: bytes, encoding: str, url: str, *, skip_nofollow: bool = True, context: bool = False
) -> Hypertext:
    """Read an HTML page: its links and robots META tags.

    With ``context`` also what stands around the links, the title and the main text, in one walk over
    the page that takes two to three times as long. Any bytes and any name of an encoding are accepted.

    Each target is given once, by the link that says most: one with an anchor before one without, one
    in the main part before one in the navigation. Time grows linearly with the length of the body.

    >>> page = b"<title>Staff</title><h2>Teaching</h2><p>I teach <a href=cs1>CS 1</a> in autumn."
    >>> link = read(page, "utf-8", "http://a.example/", context=True).links[0]
    >>> link.url, link.anchor, link.before, link.after, link.heading
    ('http://a.example/cs1', 'CS 1', 'I teach', 'in autumn.', 'Teaching')
    >>> read(b"", "utf-8", "http://a.example/")
    Hypertext(links=(), robots=(), title='', failed=False, forms=())
    """
    if not body:
        return Hypertext()
    try:
        root = parse(body, encoding)
        if root is None:
            return Hypertext(failed=True)
        clicks = leads_by_click(body)
        if not context:
            walk = LinkWalk(root, url, skip_nofollow)
            walk.run(clicks)
            return Hypertext(tuple(walk.found.values()), tuple(walk.robots))
        flow = FlowWalk(root, url, skip_nofollow)
        flow.run(clicks)
        return Hypertext(tuple(flow.found.values()), tuple(flow.robots), flow.title, flow.text)
    except (etree.LxmlError, ValueError):
        return Hypertext(failed=True)


@lru_cache(maxsize=64)
def _parser(encoding: str) -> etree.HTMLParser:
    return etree.HTMLParser(encoding=encoding, remove_comments=True, remove_pis=True, huge_tree=True)


def parse(body: bytes, encoding: str) -> etree._Element | None:
    """Return the root element of a page, or None where it has none; raises etree.LxmlError for an empty one.

    Any bytes and any name of an encoding are accepted, and nothing of the page is lost at a byte that its
    charset lacks, at a NUL, or at ``</html>``.
    """
    if b"\0" in body and not is_wide(encoding):
        body = body.replace(b"\0", b"")
    if not _is_read(body, encoding):
        body, encoding = _decoded(body, encoding).encode("utf-8", "replace"), "utf-8"
    root = etree.fromstring(thinned(body), _parser(encoding))
    if root is not None:
        root.extend(list(root.itersiblings()))  # what follows </html>, which browsers show as well
    return root


def _is_read(body: bytes, encoding: str) -> bool:
    """Return whether libxml2 reads a body to its end, and ASCII stands in it as ASCII.

    libxml2 knows fewer charsets than Python, and stops at the first byte that one lacks.
    """
    try:
        body.decode(encoding)
        _parser(encoding)
        return "<".encode(encoding) == b"<"
    except (LookupError, UnicodeError):
        return False


def _decoded(body: bytes, encoding: str) -> str:
    try:
        return body.decode(encoding, "replace")
    except LookupError:
        return body.decode("utf-8", "replace")
