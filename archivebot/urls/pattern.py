"""The pattern of a URL: the URL without its numbers, ids and values."""

from __future__ import annotations

import re

# Kept: escapes, which are letters of words. Replaced: tokens of 16 letters and digits with a digit among them
# (sessions), hexadecimal ids of 8, and numbers, dates among them.
_VARYING = re.compile(
    r"(%[0-9A-Fa-f]{2})|(?<![0-9A-Za-z])(?=[A-Za-z]*\d)[0-9A-Za-z]{16,}|(?=[a-f]*\d)[0-9a-f]{8,}|\d+"
)


def pattern(url: str) -> str | None:
    """Return the pattern that a canonical URL shares with others; None if it has no variable part.

    >>> pattern("http://example.com/cal?view=month&d=5")
    'example.com/cal?d=*&view=*'
    >>> pattern("http://example.com/2026/07/01/post-12.html"), pattern("https://example.com/a?123")
    ('example.com/*/*/*/post-*.html', 'example.com/a?*')
    >>> pattern("http://example.com/(S(lit3py55t21z5v55vlm25s55))/e4d909c290d0/x")
    'example.com/(S(*))/*/x'
    >>> pattern("http://example.com/about") is pattern("http://example.com/%E5%8C%97") is None
    True
    """
    address, _, query = url.partition("?")
    host, slash, path = address.partition("://")[2].partition("/")
    shape = _VARYING.sub(_star, path)
    if not query:
        return None if shape == path else f"{host}{slash}{shape}"
    if "=" not in query:
        return f"{host}{slash}{shape}?*"
    names = sorted({_VARYING.sub(_star, each.partition("=")[0]) for each in query.split("&")})
    return f"{host}{slash}{shape}?{'&'.join(f'{name}=*' for name in names)}"


def _star(found: re.Match[str]) -> str:
    return found[1] or "*"
