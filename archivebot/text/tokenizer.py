"""Words of a text, for topics, comparison and search, in any script."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from itertools import chain, pairwise

# Scripts written without spaces: Chinese characters and Japanese kana. Hangul is spaced.
UNSPACED = (
    "\u3005-\u3007\u3040-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Signs that belong to the letter before them: accents, vowels of Indic, Thai, Lao, Tibetan, Burmese,
# points of Hebrew and Arabic.
MARKS = (
    "\u0300-\u036f\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963\u0966-\u0dff"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u0f71-\u0f84\u102b-\u103e"
)
LETTERS = rf"(?:[^\W_]++|[{MARKS}]++)++"
WORD = re.compile(rf"{LETTERS}(?:['’]{LETTERS})*")
RUN = re.compile(rf"([{UNSPACED}]+)")

# A word of ASCII consists of letters, digits and the apostrophes between them: all other characters are made
# blanks. To split such a text takes a fifth of the time in which an expression finds the words.
_SPACED_ASCII = str.maketrans(
    {char: char.lower() if char.isalnum() or char == "'" else " " for char in map(chr, range(128))}
)
_QUOTE = re.compile("'(?:(?<![a-z0-9]')|(?![a-z0-9]))")

# Combining marks in a row that are kept, as in the Stream-Safe Text Format (UAX #15). Python sorts a run in
# quadratic time. The expression finds runs that may be longer: marks are no letters, but for two of katakana.
MOST_MARKS = 30
_MARK_RUN = re.compile(rf"(?:[^\w\x00-\x7f]|[\uff9e\uff9f]){{{MOST_MARKS + 1},}}")
_FOREIGN_RUN = re.compile(rf"[^\x00-\x7f]{{{MOST_MARKS + 1}}}")  # in each of these, and found faster

# Blanks that Python takes for characters: the optional word break, and the byte-order mark.
NO_WIDTH = "\u200b\ufeff"


def words(text: str) -> list[str]:
    """Split a text into lower-case words; scripts without spaces yield character bigrams.

    >>> words("Don't PANIC: 42 cafés")
    ["don't", 'panic', '42', 'cafés']
    >>> words("'Rock 'n' roll', it's")
    ['rock', 'n', 'roll', "it's"]
    >>> words("北京大学 news 東"), words("한국 신문")
    (['北京', '京大', '大学', 'news', '東'], ['한국', '신문'])
    >>> words("हिन्दी"), words("İstanbul") == ["i̇stanbul"], words("")
    (['हिन्दी'], True, [])
    """
    if text.isascii():
        return _QUOTE.sub(" ", text.translate(_SPACED_ASCII)).split()
    text = compatible(text).casefold()
    if not RUN.search(text):
        return WORD.findall(text)
    return list(chain.from_iterable(map(_run, RUN.split(text))))


def compatible(text: str) -> str:
    """Return a text in NFKC; of a run of combining marks, those after the first 30 are left out.

    >>> compatible("\\uff21\\ufb01"), len(compatible("x" + 99 * "\\u0315"))
    ('Afi', 31)
    """
    return text if text.isascii() else unicodedata.normalize("NFKC", _bounded(text))


def composed(text: str) -> str:
    """Return a text in NFC, in which the same letters are the same characters; see :func:`compatible`.

    >>> composed("a\u0308") == "\u00e4", composed("\uff21")
    (True, 'Ａ')
    """
    return text if text.isascii() else unicodedata.normalize("NFC", _bounded(text))


def _bounded(text: str) -> str:
    """Return a text without the combining marks of a run after the first 30."""
    return _MARK_RUN.sub(_cut_marks, text) if _FOREIGN_RUN.search(text) else text


def _cut_marks(run: re.Match[str]) -> str:
    kept: list[str] = []
    count = 0
    for sign in run[0]:
        # Some signs are marks only once they are decomposed.
        count = count + 1 if unicodedata.combining(unicodedata.normalize("NFKD", sign)[0]) else 0
        if count <= MOST_MARKS:
            kept.append(sign)
    return "".join(kept)


def is_unspaced(text: str) -> bool:
    """Return whether a text begins in a script that is written without spaces.

    >>> is_unspaced("北京"), is_unspaced("reef"), is_unspaced("")
    (True, False, False)
    """
    return bool(RUN.match(text))


def _run(text: str) -> Iterable[str]:
    if not RUN.match(text):
        return WORD.findall(text)
    return map("".join, pairwise(text)) if len(text) > 1 else text


def pieces(text: str) -> list[str]:
    """Split a text at its blanks: white space, and the zero-width U+200B and U+FEFF.

    >>> pieces("\\ufeff a\\u200bb\\xa0\\u3000c ")
    ['a', 'b', 'c']
    """
    return _spaced(text).split()


def collapse(text: str) -> str:
    """Return a text on one line, with every run of blanks as one space.

    >>> collapse("  a\\t b \\r\\n\\u200bc\\x0c")
    'a b c'
    """
    return " ".join(_spaced(text).split())


def normalise(text: str) -> str:
    """Collapse blanks inside lines and drop blank lines.

    >>> normalise("  a\\t b \\n \\u200b\\n c\\xa0d ")
    'a b\\nc d'
    """
    return "\n".join(line for line in (" ".join(raw.split()) for raw in _spaced(text).splitlines()) if line)


def _spaced(text: str) -> str:
    if not text.isascii():
        for blank in NO_WIDTH:
            text = text.replace(blank, " ")
    return text
