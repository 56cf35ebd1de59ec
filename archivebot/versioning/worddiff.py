"""The difference of two texts, word by word, as people read it."""

from __future__ import annotations

import re
from difflib import SequenceMatcher

TOKEN = re.compile(r"\n|[^\S\n]+|[^\W\d_]+|\d+|.", re.DOTALL)

# Unchanged words kept on each side of a change; the rest is left out.
CONTEXT = 12

# SequenceMatcher may take quadratic time; longer texts are compared line by line.
MOST_TOKENS = 4000


def word_diff(before: str, after: str) -> str:
    """Mark removed words as [-so-] and added ones as {+so+}, with a few words around each change.

    >>> word_diff("open on Monday", "open on Friday")
    'open on [-Monday-]{+Friday+}'
    >>> word_diff("", "new line"), word_diff("same", "same")
    ('{+new line+}', 'same')
    """
    old, new = TOKEN.findall(before), TOKEN.findall(after)
    if len(old) > MOST_TOKENS or len(new) > MOST_TOKENS:
        old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    out: list[str] = []
    for operation, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if operation == "equal":
            out.append(_shortened(old[i:j], first=i == 0, last=j == len(old)))
        else:
            out.extend(f"[-{text}-]" for text in ["".join(old[i:j])] if text)
            out.extend(f"{{+{text}+}}" for text in ["".join(new[k:m])] if text)
    return "".join(out)


def _shortened(tokens: list[str], first: bool, last: bool) -> str:
    keep = CONTEXT * 2
    if len(tokens) <= keep * 2 or (first and last):
        return "".join(tokens)
    start = "" if first else "".join(tokens[:keep])
    end = "" if last else "".join(tokens[-keep:])
    return f"{start} ... {end}"
