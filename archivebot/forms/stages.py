"""The first two of the three stages in the search for query forms: links and pages."""

from __future__ import annotations

import re
from urllib.parse import unquote, urlsplit

from archivebot.forms.lexicon import LOOKALIKES, MEANINGS

# Maximum depth of links from the seed: most query interfaces are no deeper (Chang, He, Li, Patel, Zhang,
# "Structured Databases on the Web", 2004).
MOST_DEPTH = 3

# The posterior of a page on topic is above this value.
LEAST_RELEVANCE = 0.5

_IN_URL = re.compile("search|finder|seek")
_ADVANCED = ("advanced", "erweitert", "avanc", "avanz", "高级", "高級", "進階", "詳細")


def feature_words(anchor: str, url: str) -> tuple[str, ...]:
    """Return the words by which a link promises a search form; empty if it does not.

    In an anchor these are the words for search in many languages, in a URL search, finder or seek anywhere in
    its path or query. After Xin, Cui and others, "Deep Web discovery", 2011, stage 1.

    >>> feature_words("Advanced search", "http://a.example/"), feature_words("点击这里搜索", "http://a.example/")
    (('advanced', 'search'), ('搜',))
    >>> feature_words("Books", "http://a.example/BookFinder.asp?by=title")
    ('finder',)
    >>> feature_words("Contact", "http://search.example/contact"), feature_words("Research", "http://a.example/")
    ((), ())
    """
    lowered = LOOKALIKES.sub("", anchor.lower())
    found = [word for word in (*MEANINGS["search"], *_ADVANCED) if word in lowered]
    parts = urlsplit(url)
    found += _IN_URL.findall(LOOKALIKES.sub("", unquote(f"{parts.path}?{parts.query}").lower()))
    return tuple(sorted(set(found)))


def is_relevant(relevance: float | None) -> bool:
    """Return whether a page reaches the third stage, its forms; without a topic all pages do.

    >>> is_relevant(0.50), is_relevant(0.51), is_relevant(None)
    (False, True, True)
    """
    return relevance is None or relevance > LEAST_RELEVANCE
