"""The links and images of a page: their texts and URLs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import NamedTuple

from turbohtml import Document, Element

from archivebot.markup.edits import Edits
from archivebot.text import composed

# Parts of a URL that change from visit to visit: names of cache, session and campaign parameters, and values
# that are tokens or times.
_SESSION = re.compile(r";(?:jsessionid|phpsessid|sid)=[^/?#]*", re.IGNORECASE)
_PASSING = re.compile(
    r"""(?:_|v|ver|version|t|ts|time|timestamp|cb|cache|cachebust(?:er)?|rnd|rand|random|nonce|hash|sid|sess|session
    |(?:php|j)?sess(?:ion)?_?id|token|csrf\w*|sig|signature|expires|utm_\w+|fbclid|gclid|ref|referrer)=.*
    |[^=]*=(?:\d{9,}|[0-9a-f]{16,}|[\w-]{24,})
    |\d+|[0-9a-f]{8,}""",
    re.IGNORECASE | re.VERBOSE,
)


# Number of URLs whose lasting part is remembered, and the most characters of each: most links of a page are
# those of its version before, and an image in a URL of its own is long.
REMEMBERED = 1 << 12
MOST_REMEMBERED = 1000


class Target(NamedTuple):
    """A link or an image: its text, its URL, and its character offset in the source."""

    text: str
    url: str
    place: int


Pair = tuple[Target, Target]
Key = Callable[[Target], Hashable]


def are_kept(edits: Edits) -> bool:
    """Return whether a page has the title, links and images of an earlier version, by the edits since."""
    keeps_links = edits.keeps("href", tags=("a",))
    return edits.keeps_text and keeps_links and edits.keeps("alt", "src", "data-src", tags=("img",))


def links(document: Document) -> list[Target]:
    """Return the links of a page that have a text, in order."""
    found = []
    for element in document.find_all("a"):
        url = _value(element, "href")
        if url and (text := " ".join(element.text.split())):
            found.append(Target(composed(text), url, _place(element)))
    return found


def images(document: Document) -> list[Target]:
    """Return the images of a page with their alternative texts, in order."""
    elements = document.find_all("img")
    urls = ((element, _value(element, "data-src") or _value(element, "src")) for element in elements)
    return [Target(composed(_value(element, "alt")), url, _place(element)) for element, url in urls if url]


def _value(element: Element, name: str) -> str:
    return " ".join(str(element.attrs.get(name) or "").split())


def _place(element: Element) -> int:
    location = element.source_location
    return location.start_tag.start_offset if location is not None else 0


def lasting_url(url: str) -> str:
    """Return a URL without the parts that change at every visit: sessions, campaigns, cache busters.

    >>> [lasting_url(url) for url in ("/a.jpg?v=3&w=300", "/a;jsessionid=1f?utm_source=x", "/a?page=2#b")]
    ['/a.jpg?w=300', '/a', '/a?page=2#b']
    """
    return (_remembered if len(url) <= MOST_REMEMBERED else _lasting)(url)


def _lasting(url: str) -> str:
    url, hash_, fragment = url.partition("#")
    path, _, query = _SESSION.sub("", url).partition("?")
    kept = "&".join(part for part in query.split("&") if part and not _PASSING.fullmatch(part))
    return f"{path}{'?' if kept else ''}{kept}{hash_}{fragment}"


_remembered = lru_cache(maxsize=REMEMBERED)(_lasting)


def other_links(before: Sequence[Target], after: Sequence[Target]) -> list[Pair]:
    """Return the links with the same text and another URL."""
    return _paired(*_apart(before, after), lambda target: target.text)


def other_images(before: Sequence[Target], after: Sequence[Target]) -> tuple[list[Pair], list[Pair]]:
    """Return the images with another text, and the images replaced by another one with the same text."""
    old, new = _apart(before, after)
    renamed = _paired(old, new, lambda target: lasting_url(target.url))
    known = {target for pair in renamed for target in pair}
    old, new = ([target for target in each if target not in known] for each in (old, new))
    return renamed, _paired(old, new, lambda target: target.text)


def _apart(before: Sequence[Target], after: Sequence[Target]) -> tuple[list[Target], list[Target]]:
    """Return the targets that only one of two versions has."""
    if [each[:2] for each in before] == [each[:2] for each in after]:
        return [], []
    return _without(before, after), _without(after, before)


def _without(targets: Sequence[Target], others: Sequence[Target]) -> list[Target]:
    known = Counter((other.text, lasting_url(other.url)) for other in others)
    left = []
    for target in targets:
        key = target.text, lasting_url(target.url)
        known[key] -= 1
        if known[key] < 0:
            left.append(target)
    return left


def _paired(old: Sequence[Target], new: Sequence[Target], key: Key) -> list[Pair]:
    """Pair targets whose key is unique on both sides: ten "Read more" cannot be paired."""
    sides: tuple[dict[Hashable, list[Target]], ...] = (defaultdict(list), defaultdict(list))
    for side, targets in zip(sides, (old, new), strict=True):
        for target in targets:
            side[key(target)].append(target)
    pairs = ((then, sides[1].get(name, [])) for name, then in sides[0].items())
    return [(then[0], now[0]) for then, now in pairs if len(then) == len(now) == 1]
