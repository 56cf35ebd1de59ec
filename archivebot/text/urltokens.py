"""The words inside a URL, which describe a page before it is fetched."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import chain
from urllib.parse import unquote

from archivebot.text import words
from archivebot.text.terms import STOP_WORDS, stem

# Words in most URLs that do not describe the page: schemes, common endings of hosts and files.
_COMMON = frozenset(
    """http https www ftp com org net html htm shtml xhtml php asp aspx jsp jspx cgi cfm do index default
    utf""".split()
)

# HomePage, CSDept, cs415, 2019fall: capitals and digits separate words if nothing else does.
_BORDER = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[a-zA-Z])(?=\d)|(?<=\d)(?=[a-zA-Z])")


def url_tokens(url: str) -> list[str]:
    """Return the words of a URL in order, as stems, with numbers but without stop words.

    Escapes are decoded first, so that the words of a query can be read.

    >>> url_tokens("http://bj.58.com/job.shtml")
    ['bj', '58', 'job']
    >>> url_tokens("https://www.cs.example.edu/~smith/cs415/LectureNotes.html")
    ['cs', 'exampl', 'edu', 'smith', 'cs', '415', 'lectur', 'note']
    >>> url_tokens("http://a.example/?q=%E5%8C%97%E4%BA%AC+the"), url_tokens("")
    (['exampl', 'q', '北京'], [])
    """
    return list(chain.from_iterable(map(_tokens, unquote(url).split("/"))))


# Hosts and folders recur in the URLs of a site: all parts but the last come from this cache.
@lru_cache(maxsize=1 << 14)
def _tokens(part: str) -> tuple[str, ...]:
    found = words(_BORDER.sub(" ", part))
    return tuple(stem(word) for word in found if word not in _COMMON and word not in STOP_WORDS)
