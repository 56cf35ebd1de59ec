"""The seeds of a comma-separated list: a URL may have commas, too."""

from __future__ import annotations

import re

from archivebot.urls.scope import has_public_suffix

# A URL with its scheme, and with a path or a query, in which a comma may be.
_OPEN = re.compile(r"\s*https?://[^/?#]*[/?#]", re.IGNORECASE)

# The beginning of another seed: a blank, a scheme, or the name of a host.
_BEGIN = re.compile(
    r"\s | (?:[a-z][a-z0-9+.-]*:)?// | (?P<host>[^\s:/?#]+) (?::\d+)? \s* (?:[/?#]|$)",
    re.IGNORECASE | re.VERBOSE,
)
# Blanks between two URLs: a browser sends a blank in a URL, but nobody means one before another scheme.
_BLANKS = re.compile(r"\s+(?=https?://)", re.IGNORECASE)
_ADDRESS = re.compile(r"\d+(?:\.\d+){3}")


def split_seeds(text: str) -> list[str]:
    """Return the parts of a comma-separated list of seeds.

    A comma in the path or the query of a URL with a scheme is part of it, unless a scheme, a blank, or the
    name of a host follows: ``localhost``, an address, or a name with a public suffix. Blanks before a URL
    with a scheme separate it as a comma does.

    >>> split_seeds("http://h/a,1518,b.html,http://g/,example.org")
    ['http://h/a,1518,b.html', 'http://g/', 'example.org']
    """
    seeds: list[str] = []
    for part in _BLANKS.sub(",", text).split(","):
        if seeds and _OPEN.match(seeds[-1]) and not _begins(part):
            seeds[-1] += f",{part}"
        else:
            seeds.append(part)
    return [seed.rstrip(",") for seed in seeds]


def _begins(part: str) -> bool:
    found = _BEGIN.match(part)
    host = found and found["host"]
    if not host:
        return bool(found)
    return host.lower() == "localhost" or bool(_ADDRESS.fullmatch(host)) or has_public_suffix(host)
