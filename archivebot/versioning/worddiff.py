"""The difference of two texts, word by word, in a readable form."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from difflib import SequenceMatcher

from archivebot.text import UNSPACED, composed

TOKEN = re.compile(rf"\n|[^\S\n]+|[{UNSPACED}]|(?:(?![{UNSPACED}])[^\W\d_])+|\d+|.", re.DOTALL)

EQUAL, REMOVED, ADDED = "equal", "removed", "added"

# Unchanged words kept on each side of a change; the rest is left out.
CONTEXT = 12

# SequenceMatcher may take cubic time. Texts with more words, or more pairs of equal words, are
# compared line by line, those with more lines or pairs of lines not at all. At these limits a
# comparison takes up to three seconds.
MOST_TOKENS = 4000
MOST_PAIRS = 200_000


def word_diff(before: str, after: str) -> str:
    """Mark removed words as [-so-] and added ones as {+so+}, with a few words around each change.

    >>> word_diff("open on Monday", "open on Friday")
    'open on [-Monday-]{+Friday+}'
    >>> word_diff("", "new line"), word_diff("same", "same")
    ('{+new line+}', 'same')
    """
    signs = {EQUAL: "{}", REMOVED: "[-{}-]", ADDED: "{{+{}+}}"}
    return "".join(signs[what].format(text) for what, text in word_changes(before, after))


def word_changes(before: str, after: str) -> list[tuple[str, str]]:
    """Return the pieces of both texts in order, each as ``equal``, ``removed`` or ``added``.

    Long equal pieces are shortened. The pieces are in NFC.

    >>> word_changes("open on Monday", "open on Friday")
    [('equal', 'open on '), ('removed', 'Monday'), ('added', 'Friday')]
    """
    before, after = composed(before), composed(after)
    old, new = TOKEN.findall(before), TOKEN.findall(after)
    head, old, new, tail = _ends(old, new)
    if not _comparable(old, new):
        head, old, new, tail = _ends(before.splitlines(keepends=True), after.splitlines(keepends=True))
    middle = len(old)
    opcodes: Iterable[tuple[str, int, int, int, int]] = [("replace", 0, middle, 0, len(new))]
    if _comparable(old, new):
        opcodes = SequenceMatcher(str.isspace, old, new, autojunk=False).get_opcodes()
    out = [(EQUAL, _shortened(head, first=True, last=not (old or new or tail)))]
    for operation, i, j, k, m in opcodes:
        if operation == "equal":
            equal = _shortened(old[i:j], first=not head and i == 0, last=not tail and j == middle)
            out.append((EQUAL, equal))
        else:
            out += (REMOVED, "".join(old[i:j])), (ADDED, "".join(new[k:m]))
    out.append((EQUAL, _shortened(tail, first=False, last=True)))
    return [(what, text) for what, text in out if text]


def _ends(old: list[str], new: list[str]) -> tuple[list[str], list[str], list[str], list[str]]:
    """Split off the common beginning and end: (beginning, rest of the old, rest of the new, end)."""
    least = min(len(old), len(new))
    head = next((index for index in range(least) if old[index] != new[index]), least)
    least -= head
    tail = next((index for index in range(least) if old[-1 - index] != new[-1 - index]), least)
    return old[:head], old[head : len(old) - tail], new[head : len(new) - tail], old[len(old) - tail :]


def _comparable(old: list[str], new: list[str]) -> bool:
    counts = Counter(new)
    pairs = sum(count * counts[token] for token, count in Counter(old).items() if not token.isspace())
    return max(len(old), len(new)) <= MOST_TOKENS and pairs <= MOST_PAIRS


def _shortened(tokens: list[str], first: bool, last: bool) -> str:
    keep = CONTEXT * 2
    if len(tokens) <= keep * 2 or (first and last):
        return "".join(tokens)
    start = "" if first else "".join(tokens[:keep])
    end = "" if last else "".join(tokens[-keep:])
    return f"{start} ... {end}"
