"""The agreement of a text with its title: a sign that the right part of a page was chosen."""

from __future__ import annotations

from archivebot.text import words
from archivebot.text.terms import terms


def agreement(title: str, text: str) -> float | None:
    """Return the share (0..1) of the terms of a title that occur in a text; None for a title without words.

    Terms are stems without stop words; a title of stop words and numbers alone is taken word by word. Scripts
    without spaces yield bigrams, as single characters of a title occur in any text. A line that repeats the
    title does not count, unless it is the only line: a title always agrees with itself.

    It is a weak sign. On 241 pages of the WCXB corpus the mean is 0.866 for our main text and 0.862 for
    the annotated one; of the 22 pages below 0.5 the main text is wrong (word F1 below 0.5) on 18 %, of
    those at 1 on 7 %.

    >>> agreement("The ferry runs again", "A ferry, running all year.")
    1.0
    >>> agreement("Ferry timetable", "Ferry timetable\\nIt leaves at noon"), agreement("Ferry", "ferry")
    (0.0, 1.0)
    >>> agreement("北京大学", "我在北京上大学"), agreement("About us: 1984", "1984 is about this")
    (0.6666666666666666, 0.6666666666666666)
    >>> agreement(" | ", "text"), agreement("Title", "")
    (None, 0.0)
    """
    read = terms if terms(title) else words
    wanted = read(title)
    if not wanted:
        return None
    lines = [read(line) for line in text.splitlines()]
    others = [line for line in lines if line != wanted] or lines
    named, present = set(wanted), {term for line in others for term in line}
    return len(named & present) / len(named)
