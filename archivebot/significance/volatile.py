"""The volatile parts of a page: relative times, clocks, counters, dates in the visitor's time zone."""

from __future__ import annotations

import re
from collections.abc import Sequence

# Relative times, in the languages of news sites: "5 hours ago", "vor 5 Std.", "5小时前".
_SINCE = r"""
    (?:\b(?:\d+|an?|one)\s*[^\W\d]+\.?(?:\s+\d+\s*[^\W\d]+\.?)?
        \s+(?:ago|geleden|fa|atrás|назад|temu|sedan|siden|sitten|önce)\b)
    |(?:\b(?:vor|il\s+y\s+a|hace|há)\s+(?:\d+|einer?|einem|une?|un[ao]?)\s*
        (?:s|m|h|se[ck]|min|std|hr|sekunde|minute|minuto|stunde|tag|woche|monat|seconde|heure|jour|semaine|mois
        |segundo|hora|d[ií]a|semana|mes|mês)(?:s|n|en|es)?(?!\w)\.?)
    |(?:\d+\s*(?:秒|分|分钟|分鐘|小时|小時|時間|天|日|周|週間|个月|個月|か月)前)
    |(?:\bjust\s+now\b)"""

# Words beside counters of the use of a site.
_USE = r"""(?:views?|visits?|visitors?|hits|downloads?|likes?|shares?|comments?|repl(?:y|ies)|votes?
    |followers?|subscribers?|reads?|reactions?|stars?|forks?|watchers?
    |aufrufe?|kommentare?|empfehlungen|besucher|antworten
    |vues?|commentaires?|partages?|abonnés?
    |visitas?|comentarios?|comentários?|visualizações|visualizzazioni|commenti)\b"""
_NUMBER = r"\d+(?:[.,]\d+)*\s?[km]?"
_COUNTER = rf"(?:{_NUMBER}\s*{_USE}|{_USE}\s?:?\s?\(?{_NUMBER}\)?)"
_CLOCK = r"\d{1,2}:\d\d(?::\d\d)?(?:\s?(?:[ap]\.?m\.?|uhr|h|utc|gmt))?"

_ELAPSED = re.compile(_SINCE, re.IGNORECASE | re.VERBOSE)
_ALONE = re.compile(
    rf"(?:[^\W\d]+[ /]?){{0,2}}:?\s?(?:{_SINCE})|{_COUNTER}(?:[\s,;|·•/]+{_COUNTER}){{0,3}}|{_CLOCK}",
    re.IGNORECASE | re.VERBOSE,
)
# Counters of a page's own use at the end of a line; stars, votes and downloads may be content. Of 1217 judged
# versions without a change of content 7 are called a change, 3 more if such counters are read.
_OWN_USE = r"""(?:views?|likes?|comments?|repl(?:y|ies)|aufrufe?|kommentare?|antworten|vues?|commentaires?
    |comentarios?|comentários?|visualizações|visualizzazioni|commenti)"""
_LAST_COUNTER = re.compile(rf"\s{_NUMBER}\s{_OWN_USE}$", re.IGNORECASE | re.VERBOSE)
# A time to the second is written by a program.
_STAMP = re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:\.\d+)?(?: ?(?:UTC|GMT|Z|[+-]\d\d:?\d\d))?\b")
_SPACING = re.compile(r"(?<![\d\s])\s+(?=[.,;:!?)])")
_NOTICE = re.compile(
    r"(?:copyright\s*)?(?:©|\(c\)|copyright)\s*(?:copyright\s*)?(?:19|20)\d\d(?:\s*[-–,]\s*(?:19|20)\d\d)*",
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?:[^\W\d]+,?\s)?\d{1,2}[^\W\d]{0,2}[./ -]+(?:\d\d?|[^\W\d]+)[./, -]+\d{4}|\d{4}-\d\d-\d\d"
)
_SHORT_DATE = re.compile(r"\d\d?([./])\d\d?\1\d\d")
_US_DATE = re.compile(r"(?:[^\W\d]+,?\s)?[^\W\d]+\.?\s\d{1,2}[^\W\d]{0,2},?\s\d{4}")
_TOKEN = re.compile(r"\d+|[^\W\d]+")

# Maximum of characters of a line that is only one of these, and of a line in which a relative time belongs to
# the line; a longer line is prose.
MOST_ALONE = 60
MOST_WITHIN = 200

# Minimum of dates that move by a day, all in the same direction, in a change of the time zone.
LEAST_DATES = 2


def is_volatile(line: str) -> bool:
    """Return whether a line is only a relative time, a time of day, a counter or a copyright notice.

    >>> [is_volatile(line) for line in ("3 hours ago", "Updated: vor 5 Min.", "1.301 Aufrufe", "23:47")]
    [True, True, True, True]
    >>> [is_volatile(line) for line in ("3 hours", "$ 1,301", "1 May 2024", "12", "2 shares of Example Inc.")]
    [False, False, False, False, False]
    >>> is_volatile("© 2024 Example Inc."), is_volatile("Copyright law changed in 2024.")
    (True, False)
    """
    if len(line) <= MOST_WITHIN and _NOTICE.match(line):
        return True
    return len(line) <= MOST_ALONE and _ALONE.fullmatch(line) is not None


def lasting(line: str) -> str:
    """Return a line without its volatile parts, and without spaces before a full stop.

    The volatile parts are times to the second and the years of a copyright notice. In a line that is not a
    long paragraph they are also relative times, and a counter of its use at the end.

    >>> [lasting(line) for line in ("Ann, 2 hours ago", "By Ann 31 comments", "Ask us .", "Open 2 hours")]
    ['Ann, ', 'By Ann', 'Ask us.', 'Open 2 hours']
    >>> lasting("Copyright © 1997-2025 Example Inc.")
    ' Example Inc.'
    """
    if len(line) <= MOST_WITHIN:
        line = _LAST_COUNTER.sub("", _ELAPSED.sub("", line))
    return _SPACING.sub("", _NOTICE.sub("", _STAMP.sub("", line)))


def is_date(line: str) -> bool:
    """Return whether a line is a date and nothing else.

    >>> [is_date(line) for line in ("24 févr. 2022", "Feb 4, 2022", "2022-02-24", "24.2.22", "Mai 2022")]
    [True, True, True, True, False]
    """
    line = line.strip()
    if _SHORT_DATE.fullmatch(line):
        return True
    if len(line) > MOST_ALONE or not (line[-4:].isdigit() or line[:4].isdigit()):
        return False
    return (_DATE.fullmatch(line.replace(". ", " ")) or _US_DATE.fullmatch(line)) is not None


def in_another_zone(before: Sequence[str], after: Sequence[str]) -> bool:
    """Return whether all dates moved a day later, or all a day earlier.

    Servers write dates in their own time zone or the visitor's, so that a list of dates may move by a day
    between visits. One date alone proves nothing: it may be the date from which a text is valid.

    >>> in_another_zone(["30 nov. 2019", "24 févr. 2022"], ["1 déc. 2019", "25 févr. 2022"])
    True
    >>> in_another_zone(["1 May 2024"], ["2 May 2024"]), in_another_zone(["1.5.2024"] * 2, ["3.5.2024"] * 2)
    (False, False)
    """
    if len(before) != len(after) or len(before) < LEAST_DATES:
        return False
    steps = {_days(old, new) for old, new in zip(before, after, strict=True)}
    return steps in ({1}, {-1})


def _days(before: str, after: str) -> int:
    """Return 1 or -1 for dates a day apart, 0 for all others; names of months are not understood."""
    old, new = _TOKEN.findall(before), _TOKEN.findall(after)
    if len(old) != len(new):
        return 0
    other = [pair for pair in zip(old, new, strict=True) if pair[0] != pair[1]]
    days = [
        (int(a), int(b)) for a, b in other if len(a) < 3 and len(b) < 3 and a.isdecimal() and b.isdecimal()
    ]
    if len(other) == 1 and len(days) == 1 and abs(days[0][1] - days[0][0]) == 1:
        return days[0][1] - days[0][0]
    if any(a >= 28 and b == 1 for a, b in days):
        return 1
    return -1 if any(a == 1 and b >= 28 for a, b in days) else 0
