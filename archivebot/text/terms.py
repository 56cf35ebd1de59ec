"""Terms: the meaningful words of a text, reduced to their stems."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files

from Stemmer import Stemmer

from archivebot.text import words

ENGLISH = Stemmer("english")
STOP_WORDS = frozenset(files(__package__).joinpath("stopwords.txt").read_text("utf-8").split())


def terms(text: str) -> list[str]:
    """Return the terms of a text in order: stems, without stop words and numbers.

    >>> terms("The lectures of CS 415: Operating Systems")
    ['lectur', 'cs', 'oper', 'system']
    >>> terms("北京大学"), terms("")
    (['北京', '京大', '大学'], [])
    """
    return list(filter(None, map(term, words(text))))


@lru_cache(maxsize=50_000)
def term(word: str) -> str:
    """Return the stem of a meaningful lower-case word; empty for a stop word or a number.

    >>> term("courses"), term("the"), term("42")
    ('cours', '', '')
    """
    return stem(word) if is_meaningful(word) else ""


def is_meaningful(word: str) -> bool:
    """Return whether a lower-case word is meaningful: not a stop word or a number.

    >>> is_meaningful("course"), is_meaningful("the"), is_meaningful("42")
    (True, False, False)
    """
    return word not in STOP_WORDS and not word.isdigit()


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the stem of an English word; other words are unchanged (Porter, "Snowball", 2001)."""
    return str(ENGLISH.stemWord(word)) if word.isascii() else word
