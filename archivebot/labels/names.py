"""The label of an element by the words of its class and id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from turbohtml import Element

from archivebot.markup.seen import attribute

# Words of English, as most sites name their parts in it whatever their language. A word that also
# names other things ("top", "main", "block", "list") is not here.
NAMES: dict[str, str] = {
    **dict.fromkeys(
        "ad ads adbox adsbygoogle adsense advert advertisement advertising adverts adzone banners dfp"
        " doubleclick leaderboard skyscraper sponsor sponsored sponsors taboola outbrain".split(),
        "advert",
    ),
    **dict.fromkeys("comment commentlist comments disqus disqusthread replies respond".split(), "comment"),
    **dict.fromkeys("foot footer footerbar colophon copyright siteinfo".split(), "footer"),
    **dict.fromkeys("head header logo masthead sitehead siteheader siteheading topheader".split(), "header"),
    **dict.fromkeys(
        "breadcrumb breadcrumbs menu menubar mainmenu mainnav nav navbar navi navigation pager pagination"
        " sidenav submenu subnav topmenu topnav".split(),
        "navigation",
    ),
    **dict.fromkeys(
        "also blogroll recommended recommendations related relatedposts seealso similar trending"
        " aside sidebar".split(),
        "related",
    ),
    **dict.fromkeys("contactform loginform newsletter search searchbar searchbox searchform".split(), "form"),
    **dict.fromkeys("carousel gallery photos slider slideshow video videos".split(), "media"),
}
# A part of a name with digits inside is an id ("97b6d6ad71c1"): it has no words.
PART = re.compile(r"(?<![^\W_])[A-Za-z]+(?=\d*(?:[\W_]|\Z))")
WORD = re.compile(r"[A-Z]{2,}(?![a-z])|[A-Z]?[a-z]+")


def words(name: str) -> list[str]:
    """Split names into lower-case words.

    >>> words("siteHeader main-nav_2 ADBox"), words("sidebar2 views-97b6d6ad71c1"), words("")
    (['site', 'header', 'main', 'nav', 'ad', 'box'], ['sidebar', 'views'], [])
    """
    return [word.lower() for part in PART.findall(name) for word in WORD.findall(part)]


def named(elements: Iterable[Element]) -> Iterator[tuple[str, str]]:
    """Yield the labels from ids and classes, with the deciding name, those of the first element first."""
    for element in elements:
        if element.attrs:
            for kind in ("id", "class"):
                for name in attribute(element, kind).split():
                    if word := _word(name):
                        yield word, f"{kind} {name}"


@lru_cache(maxsize=1 << 14)
def _word(name: str) -> str:
    """Return the label of a name by its last word that has one, or "".

    >>> _word("header-nav"), _word("nav-header"), _word("nav-2"), _word("block")
    ('navigation', 'header', 'navigation', '')
    """
    return next((NAMES[word] for word in reversed(words(name)) if word in NAMES), "")
