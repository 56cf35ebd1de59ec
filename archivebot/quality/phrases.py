"""The phrases of walls and error pages by language, and the search for them in a text."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

WORD = re.compile(r"[\w']+")
# Separators between the title of a page and the name of the site.
BETWEEN = re.compile(r"[|–—·•»«›:]|\s[-~/]+\s|_")
UNSPACED = re.compile("[\u3400-\u9fff]")


def fold(text: str) -> str:
    """Return the words of a text in lower case with one space between them.

    >>> fold(" Oops! Page\\nNOT found… "), fold("You’re 404")
    ('oops page not found', "you're 404")
    """
    return " ".join(WORD.findall(text.replace("’", "'").casefold()))


@cache
def phrases(kind: str, place: str) -> frozenset[str]:
    """Return the folded phrases of a kind in all languages; ``place`` is a key of phrases.json."""
    by_language = _read().get(kind, {}).get(place, {})
    return frozenset(fold(phrase) for group in by_language.values() for phrase in group)


@cache
def markers(kind: str) -> tuple[str, ...]:
    """Return the pieces of script, in lower case, that are signs of a kind."""
    return tuple(_read().get(kind, {}).get("scripts", {}).get("any", ()))


@cache
def _read() -> dict[str, dict[str, dict[str, list[str]]]]:
    path = files("archivebot.quality") / "phrases.json"
    read: dict[str, dict[str, dict[str, list[str]]]] = json.loads(path.read_text("utf-8"))
    return read


def headed(headings: Iterable[str], kind: str) -> str:
    """Return the heading, or the part between separators, that is a phrase of the kind, or "".

    >>> headed(["Shop | Page not found"], "soft_404"), headed(["Fixing page not found errors"], "soft_404")
    ('page not found', '')
    """
    known = phrases(kind, "headings")
    for heading in headings:
        for part in (heading, *BETWEEN.split(heading)):
            if (folded := fold(part)) in known:
                return folded
    return ""


def phrase_in(folded: str, kind: str) -> str:
    """Return the longest phrase of the kind in a folded text, or "".

    Phrases match whole words; phrases in Chinese characters, without spaces, match anywhere.

    >>> phrase_in("please log in to continue", "login_wall"), phrase_in("blog in to continuity", "login_wall")
    ('log in to continue', '')
    """
    padded = f" {folded} "
    found = [p for p in phrases(kind, "sentences") if (p if UNSPACED.search(p) else f" {p} ") in padded]
    return max(found, key=lambda phrase: (len(phrase), phrase), default="")
