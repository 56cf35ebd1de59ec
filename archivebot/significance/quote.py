"""The quotation of a changed line, cut to the change."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from archivebot.text import UNSPACED, words

# Maximum of characters of a line in a reason, and of those the characters before and after an edit.
SHOWN = 80
AROUND = 24

# Minimum share of common words of a line and its edited version, and maximum of lines searched for the
# earlier line: a page may have thousands.
LEAST_KEPT = 0.5
MOST_LINES = 200

# Maximum of words and blanks compared after the first difference of two lines: SequenceMatcher may take cubic
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
    """Return the longest new line, else the longest removed line; of an edited line, only the edit.

    ``edits`` maps the new line to the old line if it is known to be edited in place.

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
    """Return the earlier line of which a new line is an edit; "" if there is none."""
    bag = Counter(words(line))
    least, found = LEAST_KEPT, ""
    for old in gone:
        kept = Counter(words(old))
        share = 2 * (bag & kept).total() / max(bag.total() + kept.total(), 1)
        if share >= least and old != line:
            least, found = share, old
    return found


def _edit(before: str, after: str) -> str:
    """Return the first words that differ, marked, with a few characters around them."""
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
    """Return a text cut to ``most`` characters.

    >>> cut("A tern dives", 8)
    'A tern …'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"
