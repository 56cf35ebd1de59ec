"""What lets a link and a page pass on the way to a query form: the first two of three stages."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from archivebot.forms.lexicon import MEANINGS

# Links from the seed that are followed: most query interfaces lie no deeper (Chang, He, Li, Patel, Zhang,
# "Structured Databases on the Web", 2004).
MOST_DEPTH = 3

# A page of a topic has a posterior above this.
LEAST_RELEVANCE = 0.5

_IN_URL = re.compile("search|finder|seek")
_RESEARCH = re.compile("research")  # what a university does
_ADVANCED = ("advanced", "erweitert", "avanc", "avanz", "高级", "高級", "進階", "詳細")


def feature_words(anchor: str, url: str) -> tuple[str, ...]:
    """Return the words by which a link promises a search form; none for a link that does not.

    An anchor says so in the words for searching of many languages, a URL by search, finder or seek anywhere
    in its path or query. After Xin, Cui and others, "Deep Web discovery", 2011, stage 1.

    >>> feature_words("Advanced search", "http://a.example/"), feature_words("点击这里搜索", "http://a.example/")
    (('advanced', 'search'), ('搜',))
    >>> feature_words("Books", "http://a.example/BookFinder.asp?by=title")
    ('finder',)
    >>> feature_words("Contact", "http://search.example/contact"), feature_words("Research", "http://a.example/")
    ((), ())
    """
    said = _RESEARCH.sub("", anchor.lower())
    found = [word for word in (*MEANINGS["search"], *_ADVANCED) if word in said]
    parts = urlsplit(url)
    found += _IN_URL.findall(_RESEARCH.sub("", unquote(f"{parts.path}?{parts.query}").lower()))
    return tuple(sorted(set(found)))


def is_relevant(relevance: float | None) -> bool:
    """Return whether a page goes on to the third stage, its forms; without a topic all do.

    >>> is_relevant(0.50), is_relevant(0.51), is_relevant(None)
    (False, True, True)
    """
    return relevance is None or relevance > LEAST_RELEVANCE
