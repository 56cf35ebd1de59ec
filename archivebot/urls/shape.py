"""The shape of a link: whether its URL looks like a list, like a page of content, or leads elsewhere."""

from __future__ import annotations

from collections.abc import Container
from enum import StrEnum
from urllib.parse import urlsplit

from archivebot.exceptions import UsageError

PAGE_EXTENSIONS = frozenset("shtml html htm xhtml php asp aspx cgi jsp jspx".split())

# Tuned to headlines in Chinese, where 8 characters are about four words; names of channels are shorter.
LEAST_HEADLINE = 8


class LinkClass(StrEnum):
    """What a link leads to, judged by its URL."""

    CHANNEL = "channel"  # a list of pages
    CONTENT = "content"  # one page
    OUTSIDE = "outside"  # another domain, or no page


def link_class(url: str, domain: str) -> LinkClass:
    """Class a link by the shape of its absolute URL, seen from a domain.

    The host is inside where it is the domain or one of its sub-domains. A path without a dot in its
    last part is a channel, one that ends like a page is content. Raises UsageError for what is no URL.

    >>> str(link_class("http://sub.example.com/", "example.com"))
    'channel'
    >>> str(link_class("http://example.com/a/b.html", "example.com"))
    'content'
    >>> {str(link_class(url, "example.com")) for url in ("http://myexample.com/", "http://example.com/a.zip")}
    {'outside'}
    """
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise UsageError(f"{url!r} is no URL: {error}") from None
    host = parts.hostname or ""
    if host != domain and not host.endswith(f".{domain}"):
        return LinkClass.OUTSIDE
    _, dot, extension = parts.path.rpartition("/")[2].rpartition(".")
    if not dot:
        return LinkClass.CHANNEL
    return LinkClass.CONTENT if extension.lower() in PAGE_EXTENSIONS else LinkClass.OUTSIDE


def is_headline(anchor: str, least: int = LEAST_HEADLINE, channels: Container[str] = ()) -> bool:
    """Say whether an anchor can be that of a page of content: long enough, and no name of a channel.

    >>> is_headline("seven 7"), is_headline("eight ch")
    (False, True)
    >>> is_headline("International", channels={"International"}), is_headline("短标题", least=3)
    (False, True)
    """
    return len(anchor) >= least and anchor not in channels
