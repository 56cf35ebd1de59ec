"""The words of blocks and of searches as SQLite's full-text search reads them, in any script."""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from archivebot.exceptions import UsageError
from archivebot.text import LETTERS, UNSPACED, WORD, compatible

# The most characters of a search: a long sentence. SQLite reads it in less than a millisecond.
LONGEST = 500

# A character of a script without spaces is a word. A phrase of them is found wherever it begins, also in the
# middle of a word; the other scripts here are Thai, Lao, Burmese and Khmer.
_UNSPACED = f"{UNSPACED}\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff"
_ALONE = re.compile(f"([{_UNSPACED}])")

# What is left out of a word: accents, the points of Hebrew and Arabic, the stroke that lengthens an Arabic
# word, and the soft hyphen. The vowels of Indic scripts and of Thai, and the marks of kana, make other words.
_LEFT_OUT = (
    "[\u00ad\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f"
    "\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]"
)
# Beside these, the letters that Unicode does not take for others with an accent, but people do; and ß.
_PLAIN_LETTERS: dict[int, str | int] = {
    **{number: "" for number in range(0x700) if re.match(_LEFT_OUT, chr(number))},
    **str.maketrans("ıđĐøØłŁ", "idDoOlL"),
    ord("ß"): "ss",
    ord("ẞ"): "SS",
}

# Characters together that become one letter.
_MOST_JOINED = 30

# Quotes of many languages, as telephones type them and texts have them.
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»", '"'))
_PART = re.compile(r'"([^"]*)"?|([^\s"]+)')

# Characters around a found place that are shown.
_AROUND = 90

Piece = tuple[str, bool]


def spaced(text: str) -> str:
    """Return a text with its words apart, in compatible characters and without accents.

    >>> spaced("北京news"), spaced("ＡＢＣ"), spaced("plain text"), spaced("Νέα Straße")
    (' 北  京 news', 'ABC', 'plain text', 'Νεα Strasse')
    """
    return text if text.isascii() else _ALONE.sub(r" \1 ", _unaccented(compatible(text)))


def _unaccented(text: str) -> str:
    """Return a text without accents and points."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFD", text).translate(_PLAIN_LETTERS))


def expression(words: str) -> str:
    """Return the expression of FTS5 for a search: all words and all phrases in quotes are in the block.

    A word with a star at its end stands for all words with that beginning. Raises UsageError if there is no
    word, or if the search is too long.

    >>> expression('tide "high water" fish*')
    '"tide" "high water" "fish" *'
    >>> expression("AND (x OR"), expression('"a" -b:c'), expression("東京")
    ('"AND" "(x" "OR"', '"a" "-b:c"', '" 東  京 "')
    """
    parts = [f'"{text}" *' if is_prefix else f'"{text}"' for text, is_prefix in _parts(words)]
    return " ".join(parts)


def pieces(text: str, words: str) -> list[Piece]:
    """Return a text in pieces, each with whether it is a word or phrase of a search.

    Of a long text only the part around the first such piece is returned.

    >>> pieces("The high water of the tide", '"high water"')
    [('The ', False), ('high water', True), (' of the tide', False)]
    >>> pieces("The Café", "cafe")
    [('The ', False), ('Café', True)]
    """
    places = _found(text, re.compile("|".join(map(_pattern, _parts(words))), re.IGNORECASE))
    first = next(places, (0, 0))
    start = max(0, first[0] - _AROUND)
    if start and (blank := text.find(" ", start, start + _AROUND)) >= 0:
        start = blank + 1
    end = max(start, first[1]) + 2 * _AROUND
    found: list[Piece] = [("… ", False)] if start else []
    for begins, ends in chain((first,), places):
        if ends > end:
            break
        found += [(text[start:begins], False), (text[begins:ends], True)]
        start = ends
    rest = text[start:end] + (" …" if end < len(text) else "")
    return [piece for piece in (*found, (rest, False)) if piece[0]]


def _found(text: str, pattern: re.Pattern[str]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of a text in whose letters, as the index has them, an expression is found."""
    plain, places = _plain(text)
    for match in pattern.finditer(plain):
        last = places[match.end() - 1]
        yield places[match.start()], places[bisect_right(places, last)]


def _plain(text: str) -> tuple[str, Sequence[int]]:
    """Return a text in the letters of the index, and the place of each of these in the text, and its end.

    >>> _plain("Caf\xe9"), _plain("e\u0301\uff76\uff9e\ufb01")
    (('Cafe', [0, 1, 2, 3, 4]), ('eガfi', [0, 2, 4, 4, 5]))
    """
    if text.isascii():
        return text, range(len(text) + 1)
    known = {sign: _indexed(sign) for sign in set(text)}
    parts = [known[sign] for sign in text]
    if "".join(parts) != _indexed(text):
        parts = _joined(text, known)
    return "".join(parts), [*(at for at, letters in enumerate(parts) for _ in letters), len(text)]


def _joined(text: str, known: Mapping[str, str]) -> list[str]:
    """Return the letters of the index for each character; those of several together are at the first one."""
    parts: list[str] = []
    first, signs = 0, ""
    for at, sign in enumerate(text):
        if signs and not sign.isascii() and len(signs) < _MOST_JOINED:
            together = _indexed(signs + sign)
            if together != parts[first] + known[sign]:
                signs, parts[first] = signs + sign, together
                parts.append("")
                continue
        first, signs = at, sign
        parts.append(known[sign])
    return parts


def _indexed(text: str) -> str:
    """Return a text in the letters of the index."""
    return _unaccented(compatible(text))


def _parts(words: str) -> list[tuple[str, bool]]:
    """Return the words and phrases of a search, each with whether it is the beginning of a word."""
    if len(words) > LONGEST:
        raise UsageError(f"the search has {len(words)} characters: give at most {LONGEST}")
    # A full-width quote is a quote in NFKC, so it is read as one before the search is split.
    known = compatible(words.encode("utf-8", "replace").decode().replace("\0", " ")).translate(_QUOTES)
    found = [
        (spaced(phrase or word), bool(word) and word.endswith("*")) for phrase, word in _PART.findall(known)
    ]
    parts = [(text.rstrip("*"), is_prefix) for text, is_prefix in found if WORD.search(text)]
    if not parts:
        raise UsageError(f"{words!r} has no word to search for")
    return parts


def _pattern(part: tuple[str, bool]) -> str:
    """Return the regular expression that finds a word or a phrase in a plain text."""
    text, is_prefix = part
    words = re.findall(LETTERS, _ALONE.sub(r" \1 ", text))
    start, end = rf"(?:(?<![^\W_])|(?<=[{_UNSPACED}]))", rf"(?:(?![^\W_])|(?=[{_UNSPACED}]))"
    before = "" if _ALONE.match(words[0]) else start
    after = "" if _ALONE.match(words[-1]) else rf"[^\W_{_UNSPACED}]*" if is_prefix else end
    return before + r"[\W_]*".join(map(re.escape, words)) + after
