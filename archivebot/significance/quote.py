"""The line that tells of a change, cut to where it changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher

# Characters of a line that a reason shows, and of it those before and after an edit.
SHOWN = 80
AROUND = 24

# Share of the words of two lines that are in both from which the second is the first one edited, and the
# lines that are looked through for the first: a page may have thousands.
LEAST_KEPT = 0.5
MOST_LINES = 200


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
    """Return the line that a new line was before its edit; "" where it is another one."""
    words = Counter(line.split())
    least, found = LEAST_KEPT, ""
    for old in gone:
        kept = Counter(old.split())
        share = 2 * (words & kept).total() / max(words.total() + kept.total(), 1)
        if share >= least and old != line:
            least, found = share, old
    return found


def _edit(before: str, after: str) -> str:
    """Mark the first words that differ, with a few characters around them."""
    old, new = before.split(), after.split()
    changes = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    at, change = next((at, change) for at, change in enumerate(changes) if change[0] != "equal")
    _, start, end, first, last = change
    behind = new[last : changes[at + 1][4]] if at + 1 < len(changes) else []
    marks = [
        f"{left}{cut(' '.join(words), SHOWN // 2)}{right}"
        for left, words, right in (("[-", old[start:end], "-]"), ("{+", new[first:last], "+}"))
        if words
    ]
    head, tail = " ".join(new[:first]), " ".join(behind)
    if len(head) > AROUND:
        head = f"…{head[-AROUND:].partition(' ')[2]}"
    if len(tail) > AROUND:
        tail = f"{tail[:AROUND].rpartition(' ')[0]}…"
    elif at + 2 < len(changes):
        tail += " …"
    return " ".join(filter(None, (head, "".join(marks), tail)))


def cut(text: str, most: int = SHOWN) -> str:
    """Cut a text to so many characters.

    >>> cut("A tern dives", 8)
    'A tern …'
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"
