"""The patterns of URLs by which the tables of a file name pages."""

from __future__ import annotations

import re
from contextlib import suppress
from urllib.parse import quote, unquote

from archivebot.exceptions import UsageError
from archivebot.urls import canonical_url, host_of

_SCHEME = re.compile(r"([a-z*]+)://", re.IGNORECASE)
_PORT = re.compile(r":(?:\d+|\*)$")
_WHOLE = re.compile(r"[^*?#@\\]+")  # a host alone, without a wildcard
_DEFAULT_PORTS = {("http", ":80"), ("https", ":443")}
_ESCAPE = re.compile(r"%[0-9a-f]{2}", re.IGNORECASE)
_UNRESERVED = re.compile(r"[\w.~-]", re.ASCII)  # no canonical URL has an escape of these (RFC 3986, 2.3)
_PLAIN = "!#$%&'()*+,/:;=?@[]|~\\"  # not percent-encoded in the path, nor in a query without values
_VALUES = "%&*+="  # not percent-encoded in a query with values
_ANYWHERE = "http://a.example/"


def url_pattern(text: str) -> re.Pattern[str]:
    """Return the expression for a pattern ``[scheme://]host[:port][/path]``, to be matched completely.

    ``*`` stands for any characters, ``*.`` before a host also for no subdomain, as in the match patterns of
    browser extensions (https://developer.chrome.com/docs/extensions/develop/concepts/match-patterns). Without
    a scheme, port or path any will do. The path ends with the query of the URL. The expression is for
    canonical URLs: the pattern may be written in another way, as in the address bar of a browser.

    >>> shop = url_pattern("*.example.org/products/*")
    >>> [bool(shop.fullmatch(f"https://{url}")) for url in ("example.org/products/1?a=b", "a.example.org/")]
    [True, False]
    >>> [bool(url_pattern("127.0.0.1").fullmatch(f"http://127.0.0.1{end}")) for end in ("", ":80/a", "2/")]
    [True, True, False]
    >>> bool(url_pattern("HTTP://*.Bücher.example:80/ä*").fullmatch("http://xn--bcher-kva.example/%C3%A4/1"))
    True
    """
    given = _SCHEME.match(text)
    scheme = given[1].lower() if given else ""
    place, slash, path = (text[given.end() :] if given else text).partition("/")
    number = _PORT.search(place)
    host = _host(place[: number.start() if number else None])
    if number is None:
        port = "(?::[0-9]+)?"
    else:
        port = "" if (scheme, number[0]) in _DEFAULT_PORTS else _globbed(number[0], "[^/]*")
    start = _globbed(scheme, "[a-z]*") if scheme else "[a-z]+"
    below = "(?:[^/]+[.])?" if host.startswith("*.") else ""
    name = below + _globbed(host.removeprefix("*."), "[^/]*")
    end = f"/{_path(path)}" if slash else "(?:/.*)?"
    return re.compile(f"{start}://{name}{port}{end}", re.DOTALL)


def _host(text: str) -> str:
    """Return a host as in canonical URLs; one with ``*`` label by label."""
    if _WHOLE.fullmatch(text):
        with suppress(UsageError):
            return canonical_url(f"http://{text}").removeprefix("http://").removesuffix("/")
    return ".".join(map(_label, text.removesuffix(".").split(".")))


def _label(text: str) -> str:
    """Return a label of a host as in canonical URLs; one with ``*`` is not encoded."""
    if not text.isascii() and "*" not in text:
        with suppress(UsageError):
            return host_of(canonical_url(f"http://{text}.example")).removesuffix(".example")
    return text.lower()


def _path(text: str) -> str:
    """Return the expression for a path and query; with a ``*`` only their characters are made canonical."""
    if "*" not in text:
        return re.escape(canonical_url(_ANYWHERE + text).removeprefix(_ANYWHERE))
    path, mark, query = text.partition("?")
    if "=" in query:
        query = quote(query.replace("%20", "+").replace(" ", "+"), _VALUES)
    return _globbed(_ESCAPE.sub(_escape, quote(path + mark + query, _PLAIN)), ".*")


def _escape(found: re.Match[str]) -> str:
    char = unquote(found[0])
    return char if _UNRESERVED.fullmatch(char) else found[0].upper()


def _globbed(text: str, anything: str) -> str:
    return anything.join(map(re.escape, text.split("*")))
