"""The patterns of URLs by which the tables of a file name pages."""

from __future__ import annotations

import re

_SCHEME = re.compile(r"([a-z*]+)://")
_PORT = re.compile(r":(?:\d+|\*)$")


def url_pattern(text: str) -> re.Pattern[str]:
    """Return the expression for a pattern ``[scheme://]host[:port][/path]``, to be matched completely.

    ``*`` stands for any characters, ``*.`` before a host also for no subdomain, as in the match patterns of
    browser extensions (https://developer.chrome.com/docs/extensions/develop/concepts/match-patterns). Without
    a scheme, port or path any will do. The path ends with the query of the URL.

    >>> shop = url_pattern("*.example.org/products/*")
    >>> [bool(shop.fullmatch(f"https://{url}")) for url in ("example.org/products/1?a=b", "a.example.org/")]
    [True, False]
    >>> [bool(url_pattern("127.0.0.1").fullmatch(f"http://127.0.0.1{end}")) for end in ("", ":80/a", "2/")]
    [True, True, False]
    """
    scheme = _SCHEME.match(text)
    rest = text[scheme.end() :] if scheme else text
    host, slash, path = rest.partition("/")
    start = _globbed(scheme[1], "[a-z]*") if scheme else "[a-z]+"
    below = "(?:[^/]+[.])?" if host.startswith("*.") else ""
    place = below + _globbed(host.removeprefix("*.").lower(), "[^/]*")
    port = "" if _PORT.search(host) else "(?::[0-9]+)?"
    end = f"/{_globbed(path, '.*')}" if slash else "(?:/.*)?"
    return re.compile(f"{start}://{place}{port}{end}", re.DOTALL)


def _globbed(text: str, anything: str) -> str:
    return anything.join(map(re.escape, text.split("*")))
