"""The topic of a block: a short phrase found in it or extracted from it.

Method: Song, Wang, Bao, Shen, "Collecting and Storing Web Archive Based on Page Block", Journal of
Software 19(2), 2008, TopicGenerator. The same content always has the same topic.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain, islice

from archivebot.markup.dom import PLAIN, highlights, read
from archivebot.text import RUN, normalise, words
from archivebot.text.terms import STOP_WORDS, term

# The paper's theta and delta. Six words fit one column of a table of blocks; in a text below twelve words,
# counting is no better than taking the first words.
MOST_WORDS = 6
COUNTED_FROM = 12
MOST_CHARACTERS = 60

# Maximum of characters whose words are counted; the most frequent words of a longer text are at its start.
MOST_TEXT = 50_000

# Number of blocks whose topics are remembered, and the most bytes of each: pages of a site have menus in
# common, and a visit asks for the topics of a version twice, when it is stored and when it is compared.
REMEMBERED = 1 << 11
MOST_REMEMBERED = 4096


def topic(markup: bytes, charset: str) -> str:
    """Return the topic of a block in at most six words.

    A heading or another prominent text is the topic. If there is none, it is the first words of a short text,
    or the most frequent words of a long text.

    >>> topic(b"<h2>Opening hours</h2><p>We are open all days.", "utf-8")
    'Opening hours'
    >>> topic(b"<p>Call the office on Monday", "utf-8")
    'Call office Monday'
    >>> topic("<h3>北京大学图书馆</h3><p>开放时间".encode(), "utf-8")
    '北京大学图书馆'
    >>> topic(b"<img src=a.png>", "utf-8")
    ''
    """
    return (_remembered if len(markup) <= MOST_REMEMBERED else _found)(markup, charset)


def _found(markup: bytes, charset: str) -> str:
    element = read(markup, charset)
    for text in highlights(element):
        short = 0 < _length(words(text)) <= MOST_WORDS
        phrase = text[:MOST_CHARACTERS].rstrip() if short else _trimmed(text)
        if phrase:
            return phrase
    text = normalise(element.to_text(PLAIN)[:MOST_TEXT])
    lines = [words(line) for line in text.splitlines()]
    return _trimmed(text) if _length(chain.from_iterable(lines)) < COUNTED_FROM else _extracted(lines)


_remembered = lru_cache(maxsize=REMEMBERED)(_found)


def _length(found: Iterable[str]) -> float:
    """Return the number of words, up to a maximum; two characters of a script without spaces count as one."""
    first = list(islice(found, 2 * COUNTED_FROM))
    halves = (
        [] if "".join(first).isascii() else [word for word in first if len(word) == 2 and RUN.match(word)]
    )
    return len(first) - len(halves) / 2


def _trimmed(text: str) -> str:
    kept: dict[str, str] = {}
    for token in text.split():
        token = token.strip("\"'.,:;!?()[]{}<>|*•·–—-«»“”‘’。，、；：！？（）「」『』《》")
        key = token.casefold()
        if any(map(str.isalnum, token)) and key not in STOP_WORDS and key not in kept:
            kept[key] = token
        if len(kept) == MOST_WORDS:
            break
    return " ".join(kept.values())[:MOST_CHARACTERS].rstrip()


def _extracted(lines: Sequence[Sequence[str]]) -> str:
    """Return the best terms by their frequency times the number of lines that contain them."""
    found = list(chain.from_iterable(lines))
    terms_of = [list(map(term, line)) for line in lines]
    terms = list(chain.from_iterable(terms_of))
    frequency = Counter(terms)
    del frequency[""]
    spread = Counter(chain.from_iterable(map(set, terms_of)))
    weight = {one: -count * spread[one] for one, count in frequency.items()}
    best = sorted(weight, key=weight.__getitem__)[:MOST_WORDS]
    forms = (found[terms.index(one)] for one in best)  # each as it is written first
    return " ".join(forms)[:MOST_CHARACTERS].rstrip()
