"""META robots and X-Robots-Tag: whether a page may be stored and its links followed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

GENERIC = "robots"

# Directives whose value follows a colon; any other word before a colon names an agent.
# https://developers.google.com/search/docs/crawling-indexing/robots-meta-tag
_VALUED = frozenset(("unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"))


@dataclass(frozen=True, slots=True)
class Directives:
    """Whether a page may be stored, whether its links may be followed, and the source of a refusal."""

    store: bool = True
    follow: bool = True
    reason: str = ""


ALL = Directives()


def directives(meta: Iterable[tuple[str, str]], header_values: Iterable[str], agent: str) -> Directives:
    """Combine the META tags (name, content) and X-Robots-Tag values of one page for one agent.

    The names in ``meta`` are in lower case. A tag that names the agent, in any case, overrides the generic
    ones; among equals the strictest applies.

    >>> directives([("robots", "NoIndex, Follow")], [], "archivebot")
    Directives(store=False, follow=True, reason='META robots: noindex')
    >>> directives([("robots", "none"), ("archivebot", "all")], [], "archivebot")
    Directives(store=True, follow=True, reason='')
    """
    agent = agent.lower()
    stated: dict[str, list[tuple[str, str]]] = {}
    for name, source, words in _by_source(meta, header_values):
        if name in (GENERIC, agent):
            stated.setdefault(name, []).extend((source, word) for word in words)
    return _strictest(stated.get(agent, stated.get(GENERIC, ())))


def _by_source(
    meta: Iterable[tuple[str, str]], header_values: Iterable[str]
) -> Iterator[tuple[str, str, list[str]]]:
    for name, content in meta:
        yield name, "META robots", _words(content)
    for value in header_values:
        for name, words in _by_agent(value):
            yield name, "X-Robots-Tag", words


def _strictest(stated: Iterable[tuple[str, str]]) -> Directives:
    store = follow = True
    reasons = []
    for source, word in stated:
        if word in ("none", "noindex", "noarchive"):
            store = False
            reasons.append(f"{source}: {word}")
        if word in ("none", "nofollow"):
            follow = False
    return Directives(store, follow, ", ".join(dict.fromkeys(reasons)))


def _words(content: str) -> list[str]:
    return content.lower().replace(",", " ").split()


def _by_agent(value: str) -> Iterator[tuple[str, list[str]]]:
    """Split ``noindex, otherbot: nofollow, noarchive``: an agent applies to all directives after it."""
    agent = GENERIC
    for part in value.lower().split(","):
        name, colon, rest = part.partition(":")
        if colon and name.strip() not in _VALUED:
            agent, part = name.strip(), rest
        yield agent, part.split()
