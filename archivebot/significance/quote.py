"""The line that tells of a change, cut to where it changed."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from archivebot.text import UNSPACED, words

# Characters of a line that a reason shows, and of it those before and after an edit.
SHOWN = 80
AROUND = 24

# Share of the words of two lines that are in both from which the second is the first one edited, and the
# lines that are looked through for the first: a page may have thousands.
LEAST_KEPT = 0.5
MOST_LINES = 200

# Words and blanks that are compared from where two lines begin to differ: SequenceMatcher may take cubic
# time.
MOST_WORDS = 100

# A word, a character of a language that is written without spaces, or the blanks between words.
_WORD = re.compile(rf"\s+|[{UNSPACED}]|(?:(?![{UNSPACED}])\S)+")


def quoted(
    before: Sequence[str],
    removed: Sequence[int],
    after: Sequence[str],
    added: Sequence[int],
    edits: Mapping[int, int],
) -> str:
    """Quote the longest line that is new, else the longest that is gone; of an edited line, the edit.

    ``edits`` gives the line before by the line after where these are known to be one line edited in place.

    >>> quoted([], [], ["A tern"], [0], {}), quoted(["A tern"], [0], [], [], {})
    ('+ A tern', '- A tern')
    >>> quoted(["Open from March on 5 days a week"], [0], ["Open from March on 6 days a week"], [0], {})
    'Open from March on [-5-]{+6+} days a week'
    >>> quoted(["In stock"], [0], ["Sold out"], [0], {0: 0})
    '[-In stock-]{+Sold out+}'
    """
    if not added:
        return f"- {cut(max((before[index] for index in removed), key=len))}"
    longest = max(added, key=lambda index: len(after[index]))
    line = after[longest]
    known = before[edits[longest]] if longest in edits else ""
    known = known or _edited([before[index] for index in removed[:MOST_LINES]], line)
    return _edit(known, line) if known else f"+ {cut(line)}"


def _edited(gone: Sequence[str], line: str) -> str:
    """Return the line that a new line was before its edit; "" if it is another one."""
    bag = Counter(words(line))
    least, found = LEAST_KEPT, ""
    for old in gone:
        kept = Counter(words(old))
        share = 2 * (bag & kept).total() / max(bag.total() + kept.total(), 1)
        if share >= least and old != line:
            least, found = share, old
    return found


def _edit(before: str, after: str) -> str:
    """Mark the first words that differ, with a few characters around them."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    same = next(at for at, (then, now) in enumerate(zip_longest(old, new)) if then != now)
    head, old, new = "".join(new[:same]), old[same:], new[same:]
    compared = SequenceMatcher(str.isspace, old[:MOST_WORDS], new[:MOST_WORDS], autojunk=False)
    (_, _, end, _, last), *others = compared.get_opcodes()
    tail = "".join(new[last : others[0][4]]) if others else ""
    marks = [
        f"{left}{cut(text, SHOWN // 2)}{right}"
        for left, text, right in (("[-", "".join(old[:end]), "-]"), ("{+", "".join(new[:last]), "+}"))
        if text
    ]
    if len(head) > AROUND:
        nearest = head[-AROUND:]
        head = f"…{nearest.partition(' ')[2] or nearest}"
    if len(tail) > AROUND:
        tail = f"{tail[:AROUND].rpartition(' ')[0] or tail[:AROUND]}…"
    elif len(others) > 1:
        tail += "…"
    return f"{head}{''.join(marks)}{tail}"


def cut(text: str, most: int = SHOWN) -> str:
    """Cut a text to so many characters.

    >>> cut("A tern dives", 8)
    'A tern …'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"
