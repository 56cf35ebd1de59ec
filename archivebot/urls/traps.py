"""Crawler traps: addresses that a site generates endlessly and that lead to nothing new."""

from __future__ import annotations

import re
from collections import Counter
from datetime import UTC, date, datetime

# How rare honest links of such shape are: the 160,507 distinct links of 1,562 pages of the WCXB, Formasaurus
# and Kreuzer corpora. A lower maximum refuses real pages, a higher one fetches more of a trap before it ends.
MAX_LENGTH = 2083  # no link was longer; Scrapy's URLLENGTH_LIMIT, once the limit of Internet Explorer
MAX_SEGMENTS = 17  # one link was deeper (38, the fields of a search form); 12 was the next depth
MAX_SAME_SEGMENT = 3  # the same link; 12 links to a source tree have a segment three times
MAX_PARAMETERS = 30  # one link had more, to scripts joined in one file; facets of shops reach 21

# A judgement, not measured: events and bookings are announced a year or two ahead, and calendars on
# the Web hold little from before about 2005. A date in the path alone is how blogs and newspapers
# keep their archives, so the past counts only if the URL mentions a calendar.
YEARS_AHEAD = 3
YEARS_BEHIND = 20

# Two or more segments, three times in a row: what a relative link in a page of any depth builds up.
_REPEATED = re.compile(r"((?:/[^/]+){2,}?)\1\1(?=/|$)")

_YEAR, _MONTH, _DAY = r"((?:19|20|21)\d\d)", r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_DATE = rf"{_YEAR}[/-]{_MONTH}(?:[/-]{_DAY})?"
_LISTED_DATE = re.compile(rf"/{_DATE}/?$")  # an article has words after its date
_QUERY_DATE = re.compile(rf"={_DATE}(?=&|$)")
_QUERY_YEAR = re.compile(rf"(?:^|[&_-])(?:year|yr|jahr|annee)={_YEAR}(?=&|$)", re.IGNORECASE)
_QUERY_MONTH = re.compile(r"(?:^|[&_-])(?:month|mon|monat|mois)=(?:0?[1-9]|1[0-2])(?=&|$)", re.IGNORECASE)
_CALENDAR = re.compile(r"[ck]alend[ae]r|calendrier|agenda|\bevents?\b|\btermine\b|\btribe\b", re.IGNORECASE)


def trap(url: str, today: date | None = None) -> str | None:
    """Return the name of the trap that a canonical URL resembles, or None for an honest URL.

    Reasons are ``too_long``, ``too_deep``, ``repeated_segment``, ``too_many_parameters`` and ``calendar``: a
    listing by date more than three years after ``today`` (by default the current day in UTC), or in a
    calendar more than twenty years before.

    >>> trap("http://example.com/a/b/a/b"), trap("http://example.com/a/b/a/b/a/b")
    (None, 'repeated_segment')
    >>> trap("http://example.com/-/-/x/-"), trap("http://example.com/-/-/-/x/-")
    (None, 'repeated_segment')
    >>> now = date(2026, 7, 1)
    >>> trap("http://example.com/2029/12/", now), trap("http://example.com/2030/01/", now)
    (None, 'calendar')
    >>> trap("http://example.com/1923/05/", now), trap("http://example.com/events/1923-05", now)
    (None, 'calendar')
    >>> trap("http://example.com/2030/01/cars", now), trap("http://example.com/?month=1&year=1950", now)
    (None, 'calendar')
    """
    if len(url) > MAX_LENGTH:
        return "too_long"
    address, _, query = url.partition("?")
    path = "/" + address.partition("://")[2].partition("/")[2]
    if reason := _path_trap(path):
        return reason
    if query.count("&") >= MAX_PARAMETERS:
        return "too_many_parameters"
    return "calendar" if _is_far_calendar(path, query, today) else None


def _path_trap(path: str) -> str | None:
    segments = [each for each in path.split("/") if each]
    if len(segments) > MAX_SEGMENTS:
        return "too_deep"
    if len(segments) <= MAX_SAME_SEGMENT:
        return None
    often = max(Counter(segments).values()) > MAX_SAME_SEGMENT
    return "repeated_segment" if often or _REPEATED.search(path) else None


def _is_far_calendar(path: str, query: str, today: date | None) -> bool:
    fields = _QUERY_YEAR.search(query) if _QUERY_MONTH.search(query) else None
    found = fields or _LISTED_DATE.search(path) or _QUERY_DATE.search(query)
    if not found:
        return False
    ahead = int(found[1]) - (today or datetime.now(UTC).date()).year
    if ahead < -YEARS_BEHIND:
        return bool(fields or _CALENDAR.search(f"{path}?{query}"))
    return ahead > YEARS_AHEAD
