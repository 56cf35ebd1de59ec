"""Reads a Hypertext from the bytes of an HTML page, whatever the bytes are."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date

from archivebot.hypertext.flow import FlowWalk
from archivebot.hypertext.links import LinkWalk
from archivebot.hypertext.scripts import leads_by_click
from archivebot.markup.charset import codec
from archivebot.markup.page import ParsedPage
from archivebot.models import FoundForm, Link


@dataclass(frozen=True, slots=True)
class Hypertext:
    """One HTML page for a topic and a crawler.

    ``links`` in the order of the page, one for each target; ``robots`` the META tags as (lower-case name,
    content). If requested: ``title`` and the ``text`` for topics (lines), ``forms``, the day of publication,
    ``published``, and the URLs of its ``requisites``.
    """

    links: tuple[Link, ...] = ()
    robots: tuple[tuple[str, str], ...] = ()
    title: str = ""
    text: str = field(default="", repr=False)
    forms: tuple[FoundForm, ...] = ()
    published: date | None = None
    requisites: tuple[str, ...] = field(default=(), repr=False)


def read(
    body: bytes, encoding: str, url: str, *, skip_nofollow: bool = True, context: bool = False
) -> Hypertext:
    """Read an HTML page: its links and robots META tags.

    With ``context`` also the text around the links, the title and the topic text, in one walk over the page
    that takes two to three times as long. Any bytes and any name of an encoding are accepted.

    Each target is returned once, by the most informative link: a link with an anchor before a link without, a
    link in the main part before a link in the navigation. Time grows linearly with the length of the body.

    >>> page = b"<title>Staff</title><h2>Teaching</h2><p>I teach <a href=cs1>CS 1</a> in autumn."
    >>> link = read(page, "utf-8", "http://a.example/", context=True).links[0]
    >>> link.url, link.anchor, link.before, link.after, link.heading
    ('http://a.example/cs1', 'CS 1', 'I teach', 'in autumn.', 'Teaching')
    >>> read(b"", "utf-8", "http://a.example/")
    Hypertext(links=(), robots=(), title='', forms=(), published=None)
    """
    page = ParsedPage(body, codec(encoding) or "utf-8")
    return read_page(page, url, skip_nofollow=skip_nofollow, context=context)


def read_page(page: ParsedPage, url: str, *, skip_nofollow: bool = True, context: bool = False) -> Hypertext:
    """Read a parsed page as :func:`read` does."""
    if not page.body:
        return Hypertext()
    clicks = leads_by_click(page.body)
    if not context:
        walk = LinkWalk(page.document, url, skip_nofollow, page.charset)
        walk.run(clicks)
        return Hypertext(tuple(walk.found.values()), tuple(walk.robots))
    flow = FlowWalk(page.document, url, skip_nofollow, page.charset)
    flow.run(clicks)
    return Hypertext(tuple(flow.found.values()), tuple(flow.robots), flow.title, flow.text)
