"""The occurrences of a term in a text."""

from __future__ import annotations

from archivebot.text import RUN, collapse, compatible, words

MOST_SHOWN = 160  # characters of an excerpt


def count(term: str, text: str) -> int:
    """Return how often a term occurs in a text: as words in a row, ignoring case.

    A term in a script without spaces, or without any word, is looked for as characters. Characters that are
    only another form of others (NFKC), such as half-width katakana, are equal to them.

    >>> count("Sold out", "SOLD OUT. Not resold, outside."), count("東京", "在東京都"), count("€", "5 €")
    (1, 1, 1)
    >>> count("テスト", "半角のﾃｽﾄ"), count("が", "これか\u3099")
    (1, 1)
    """
    tokens = words(term)
    if not tokens or RUN.search(compatible(term)):
        return _characters(text).count(_characters(term))
    # Each word has a space of its own on both sides, so that equal words in a row are all counted.
    return "  ".join(["", *words(text), ""]).count(f" {'  '.join(tokens)} ")


def _characters(text: str) -> str:
    return collapse(compatible(text)).casefold()


def excerpt(term: str, text: str) -> str:
    """Return the line of a text where a term occurs first, shortened around it.

    >>> excerpt("tern", "A gull\\nA tern   dives")
    'A tern dives'
    """
    line = next((line for line in text.splitlines() if count(term, line)), text)
    line = collapse(line)
    at = max(line.casefold().find(term.casefold()), 0)
    start = max(0, min(at - MOST_SHOWN // 2, len(line) - MOST_SHOWN))
    shown = line[start : start + MOST_SHOWN]
    return f"{'…' if start else ''}{shown}{'…' if start + MOST_SHOWN < len(line) else ''}"
