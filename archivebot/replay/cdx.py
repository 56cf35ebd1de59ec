"""The CDX server: questions to the index of captures, in the words of pywb and of the Internet Archive."""

from __future__ import annotations

import json
import re
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Self
from urllib.parse import unquote

import regex

from archivebot.exceptions import UsageError
from archivebot.models import Capture
from archivebot.replay.address import moment, padded
from archivebot.replay.cdxanswer import OUTPUTS, written
from archivebot.replay.cdxrow import FIELDS, ORDINAL, RESOLVED, Row, field_of, key_of, place_of, rows
from archivebot.timestamps import LATEST, end_of_second
from archivebot.urls import key_range

# Rows of one answer. Ten thousand take a second; the resume key leads to the next ones.
MOST = 10_000

# Seconds after which a part ends before it has its rows: a server gives an answer up after a minute. Rows of
# a few pages among a million captures would otherwise never come.
LONGEST_PART = 20.0

# Seconds after which an answer that has no parts is refused. Its process would be killed after a minute.
LONGEST_WHOLE = 40.0

# Seconds for one value: nested repetitions take longer than any archive lasts, others microseconds.
LONGEST_MATCH = 0.1

Rule = Callable[[Row], bool]

# The place after all rows.
_END = ("\U0010ffff", "", "")

_DIGITS = re.compile(r"\d{1,14}|\d{17}")
_WILD = re.compile(r"(https?://)?\*\.", re.IGNORECASE)
_KEY = re.compile(r"(.*?) (\d{14})(?:\+(\d{1,9}))?(?:=(\S*))? (.*)", re.DOTALL)
_FILTER = re.compile(r"(!?)([=~]?)([A-Za-z]+):(.*)", re.DOTALL)
_COLLAPSE = re.compile(r"([A-Za-z]+)(?::(\d{1,4}))?")


@dataclass(frozen=True, slots=True)
class CdxQuery:
    """A question to the index: which captures, in which order, and how they are written."""

    url: str
    match: str
    start: str
    end: str
    limit: int
    skipped: int
    filters: tuple[Rule, ...]
    needs_headers: bool
    collapse: tuple[str, int | None] | None
    fields: tuple[str, ...]
    output: str
    order: str
    closest: str
    shows_resume: bool
    resume: tuple[str, str, str]
    passed: int
    collapsed: str | None
    page: int | None
    page_size: int
    counts_pages: bool
    resolves: bool
    packs: bool

    @classmethod
    def read(cls, given: Mapping[str, Sequence[str]]) -> Self:
        """Read the parameters of a request, each with its values; raises UsageError."""

        def one(name: str, default: str = "") -> str:
            return given[name][-1] if given.get(name) else default

        def switch(name: str, default: str = "") -> bool:
            return _is_on(name, one(name) or default)

        url, match = _place(one("url").strip(), one("matchType"))
        output = one("output", "cdxj")
        if output not in OUTPUTS:
            raise UsageError(f"output is {output!r}: write one of {', '.join(OUTPUTS)}")
        order = one("sort", "closest" if one("closest") else "")
        if order not in ("", "reverse", "closest"):
            raise UsageError(f"sort is {order!r}: write reverse or closest")
        if order == "closest" and not one("closest"):
            raise UsageError("sort=closest needs closest=TIMESTAMP")
        if order and match != "exact":
            raise UsageError(f"sort={order} is for one URL: leave out matchType and the asterisk")
        page, page_size = _page(one("page")), _page_size(one("pageSize"))
        if page is not None and (one("limit") or one("offset") or one("resumeKey")):
            raise UsageError("page stands for limit and offset: leave out limit, offset and resumeKey")
        latest, resolves = switch("fastLatest"), switch("resolveRevisits")
        if latest and (match != "exact" or order or page is not None):
            raise UsageError(
                "fastLatest=true is for the last rows of one URL: leave out sort, page and matchType"
            )
        if output == "link" and match != "exact":
            raise UsageError("output=link is the TimeMap of one URL: leave out matchType and the asterisk")
        resume, passed, collapsed = _resumed(one("resumeKey"))
        collapse, rules = _collapse(one("collapse")), [_rule(text) for text in given.get("filter", ())]
        return cls(
            url=url,
            match=match,
            start=padded(_digits("from", one("from"))),
            end=padded(_digits("to", one("to")), end=True),
            limit=_limit(one("limit"), latest=latest) if page is None else page_size,
            skipped=_skipped(one("offset")) if page is None else page * page_size,
            filters=tuple(rule for _, rule in rules),
            needs_headers="mime" in (*(name for name, _ in rules), collapse and collapse[0]),
            collapse=collapse,
            fields=tuple(filter(None, one("fl", one("fields")).split(",")))
            or (FIELDS + RESOLVED if resolves else FIELDS),
            output=output,
            order=order,
            closest=_digits("closest", one("closest")),
            shows_resume=switch("showResumeKey"),
            resume=resume,
            passed=passed,
            collapsed=collapsed,
            page=page,
            page_size=page_size,
            counts_pages=switch("showNumPages"),
            resolves=resolves,
            packs=switch("gzip", "true"),
        ).checked()

    def checked(self) -> Self:
        """Return the question; raises UsageError if it names a field that there is not."""
        for name in self.fields:
            field_of(name, resolved=self.resolves)
        return self

    @property
    def range(self) -> tuple[str, str]:
        """The range of urlkeys, from the resume key on."""
        start, end = key_range(self.url, self.match)
        return max(start, self.resume[0]), end

    @property
    def times(self) -> tuple[datetime | None, datetime | None]:
        """The first and the last time of the captures that are asked for; None for no bound."""
        resumed = self.resume[1] if self.match == "exact" else ""
        start = max(self.start, resumed if _DIGITS.fullmatch(resumed) else "")
        end = end_of_second(moment(self.end)) if self.end < LATEST else None
        return moment(start) if start > "1970" else None, end

    @property
    def resumed_at(self) -> datetime | None:
        """The time of the row to resume at, if its page is the first: nothing before it is asked for."""
        return moment(self.resume[1]) if self.resume[0] == self.range[0] and self.resume[1] > "1970" else None

    @property
    def reads_backwards(self) -> bool:
        """Whether only the last rows are asked for, so that the captures are read from the last one on."""
        if self.order == "reverse":
            return self._is_ordered
        is_whole = not self.order and not self.skipped and self.collapse is None
        # The ordinals of the rows of a second count from its first row.
        return self.limit < 0 and is_whole and (self.match == "exact" or not self.passed)

    @property
    def reads_around(self) -> datetime | None:
        """The time from which on the captures are read in both directions; None if they are not."""
        return moment(self.closest) if self.order == "closest" and self._is_ordered else None

    @property
    def _is_ordered(self) -> bool:
        """Whether captures that come in the order of the answer are enough, without those after its rows."""
        return self.limit > 0 and self.collapse is None and not self.passed and not self.resolves

    @property
    def skips(self) -> bool:
        """Whether rows are left out first that :meth:`after` finds faster: it needs no headers."""
        return self.skipped > 0 and not self.order and self.limit > 0 and not self.needs_headers

    def after(self, captures: Iterable[Capture]) -> Self:
        """Return the question that begins after the rows to leave out, by captures without headers."""
        last = next(islice(_Reading(self, rows(captures), may_end=False), self.skipped - 1, None), None)
        if last is None:
            return replace(self, skipped=0, resume=_END)
        value, passed = self.value_of(last), int(last[ORDINAL])
        return replace(self, skipped=0, resume=place_of(last), passed=passed, collapsed=value)

    def rows(
        self, captures: Iterable[Capture], brought: Callable[[Capture], Capture]
    ) -> tuple[list[Row], str]:
        """Return the rows of captures that come in the order of the index, and the key to resume at.

        The captures come from the last on if the question ``reads_backwards``, and the nearest first if it
        ``reads_around`` a time. ``brought`` returns the
        capture that fetched the bytes of a revisit. The key is "" if there are no more rows. Raises
        UsageError if the part that is asked for has no rows, unless it is the first.
        """
        may_end = self.limit > 0 and not (self.order or self.skipped) and self.page is None
        reading = _Reading(self, rows(captures, brought if self.resolves else None), may_end=may_end)
        found, resume = self._limited(iter(reading))
        if self.page and not found:
            raise UsageError(f"page is {self.page}, beyond the last page: showNumPages=true counts the pages")
        return found, resume or reading.resume

    def pages(self, captures: Iterable[Capture]) -> str:
        """Return the number of parts as pywb does, in JSON; a block is a row, a page is a part."""
        count = sum(1 for _ in _Reading(self, rows(captures), may_end=False))
        pages = -(-count // self.page_size)
        return json.dumps({"blocks": count, "pages": pages, "pageSize": self.page_size}) + "\n"

    def written(self, found: Sequence[Row], resume: str) -> str:
        """Return the answer in each output but ``link``."""
        return written(self.output, self.fields, found, resume if self.shows_resume else "")

    def has(self, row: Row) -> bool:
        """Return whether a row is asked for, wherever a part begins."""
        in_time = self.start <= row["timestamp"] <= self.end
        return in_time and all(rule(row) for rule in self.filters)

    def follows(self, row: Row) -> bool:
        """Return whether a row comes after the one to resume at."""
        return (place_of(row), int(row[ORDINAL])) > (self.resume, self.passed)

    def value_of(self, row: Row) -> str | None:
        """Return the value by which a row collapses with the next; None if no rows collapse."""
        if self.collapse is None:
            return None
        name, length = self.collapse
        return row[name][:length]

    def _limited(self, found: Iterator[Row]) -> tuple[list[Row], str]:
        if self.order and (self.reads_backwards or self.reads_around):
            return list(islice(found, self.skipped, self.skipped + self.limit)), ""
        if self.reads_backwards:
            return list(islice(found, -self.limit))[::-1], ""
        if self.limit < 0 and not self.order:  # of all rows only the last are in memory
            return list(deque(islice(found, self.skipped, None), -self.limit)), ""
        if self.order:
            whole = list(found)
            if self.order == "reverse":
                whole.reverse()
            elif self.order == "closest":
                whole.sort(key=self._distance)
            whole = whole[self.skipped :]
            limited = whole[self.limit :] if self.limit < 0 else whole[: self.limit]
            return limited[-MOST:], ""
        part = list(islice(found, self.skipped, self.skipped + self.limit + 1))
        more = len(part) > self.limit
        part = part[: self.limit]
        return part, key_of(part[-1], self.value_of(part[-1])) if more and part else ""

    def _distance(self, row: Row) -> float:
        return abs((moment(row["timestamp"]) - moment(self.closest)).total_seconds())


class _Reading:
    """The rows of a question among all; if it ``may_end``, these are read for at most LONGEST_PART seconds.

    Otherwise it raises UsageError after LONGEST_WHOLE seconds.

    Of adjacent rows that collapse there is the first. ``resume`` is the key at which a reading that ended
    continues, "" if all rows were read.
    """

    def __init__(self, query: CdxQuery, every: Iterable[Row], *, may_end: bool) -> None:
        self._query, self._every, self._may_end = query, every, may_end
        self.resume = ""

    def __iter__(self) -> Iterator[Row]:
        begun = time.monotonic()
        value = self._query.collapsed
        for row in filter(self._query.follows, self._every):
            if self._query.has(row):
                before, value = value, self._query.value_of(row)
                if value is None or value != before:
                    yield row
            taken = time.monotonic() - begun
            if self._may_end and taken > LONGEST_PART:
                self.resume = key_of(row, value)
                return
            if taken > LONGEST_WHOLE:
                raise UsageError(
                    "there are too many rows for one answer: leave out sort, page, showNumPages, offset and a"
                    " negative limit, and the answer comes in parts, each with a Link to the next"
                )


def _place(url: str, match: str) -> tuple[str, str]:
    """Return the URL and the type of match, which an asterisk may also name."""
    if not url:
        raise UsageError("url is missing: write /cdx?url=example.com/page")
    if wild := _WILD.match(url):
        url, match = url[wild.end() :].removesuffix("*"), match or "domain"
    elif url.endswith("*"):
        url, match = url[:-1], match or "prefix"
    key, _ = key_range(url, match or "exact")  # raises UsageError for other types
    if key.startswith((")", ":")):
        raise UsageError("url has no host: write /cdx?url=example.com/page, or *.com for all pages below com")
    return url, match or "exact"


def _limit(text: str, *, latest: bool) -> int:
    """Return the limit; it is negative if it counts from the last row, as that of the ``latest`` rows."""
    if not text:
        return -1 if latest else MOST
    if not re.fullmatch(r"-?0{0,99}[1-9]\d{0,8}", text):
        raise UsageError(f"limit is {text!r}: write a number, or a negative one for the last rows")
    number = max(-MOST, min(MOST, int(text)))
    return -abs(number) if latest else number


def _page(text: str) -> int | None:
    if text and not re.fullmatch(r"[0-9]{1,9}", text):
        raise UsageError(f"page is {text!r}: write a number from 0")
    return int(text) if text else None


def _page_size(text: str) -> int:
    if text and not (re.fullmatch(r"[0-9]{1,9}", text) and int(text)):
        raise UsageError(f"pageSize is {text!r}: write the number of rows of a page, at most {MOST}")
    return min(MOST, int(text)) if text else MOST


def _is_on(name: str, text: str) -> bool:
    if text.lower() not in ("true", "1", "yes", "false", "0", "no", ""):
        raise UsageError(f"{name} is {text!r}: write true or false")
    return text.lower() in ("true", "1", "yes")


def _skipped(text: str) -> int:
    if text and not re.fullmatch(r"[0-9]{1,9}", text):
        raise UsageError(f"offset is {text!r}: write the number of rows to leave out")
    return int(text or 0)


def _digits(name: str, text: str) -> str:
    if text and not _DIGITS.fullmatch(text):
        raise UsageError(f"{name} is {text!r}: write 1 to 14 digits, or 17, as in 20260102030405")
    return text


def _rule(text: str) -> tuple[str, Rule]:
    """Return the field and the condition of a filter.

    With ``=`` the value must be equal, with ``~`` the expression must match from its start. Without a sign
    the value must hold the expression, as in pywb, or match it as a whole, as at the Internet Archive.
    """
    found = _FILTER.fullmatch(text)
    if not found:
        raise UsageError(f"filter is {text!r}: write it like status:200, !=status:200 or ~mime:.*html")
    negated, sign, name, expression = found.groups()
    field = field_of(name)
    if sign == "=":
        return field, lambda row: (row[field] == expression) is not bool(negated)
    try:
        pattern = regex.compile(expression)
    except (regex.error, RecursionError) as error:
        raise UsageError(f"filter is {text!r}: {expression!r} is no regular expression: {error}") from error
    matches = pattern.match if sign == "~" else pattern.fullmatch

    def holds(row: Row) -> bool:
        value = row[field]
        try:
            found = (not sign and expression in value) or bool(matches(value, timeout=LONGEST_MATCH))
        except TimeoutError as error:
            raise UsageError(f"filter is {text!r}: matching {value[:60]!r} takes too long") from error
        return found is not bool(negated)

    return field, holds


def _collapse(text: str) -> tuple[str, int | None] | None:
    if not text:
        return None
    found = _COLLAPSE.fullmatch(text)
    if not found:
        raise UsageError(f"collapse is {text!r}: write it like digest or timestamp:10")
    return field_of(found[1]), int(found[2]) if found[2] else None


def _resumed(key: str) -> tuple[tuple[str, str, str], int, str | None]:
    """Return the place of the last row of the part before, its ordinal there, and its collapsing value."""
    if not key:
        return ("", "", ""), 0, None
    found = _KEY.fullmatch(key)
    if not found:
        raise UsageError(f"resumeKey is {key!r}: write the key that an answer ended with")
    value = None if found[4] is None else unquote(found[4])
    return (found[1], found[2], found[5]), int(found[3] or 1), value
