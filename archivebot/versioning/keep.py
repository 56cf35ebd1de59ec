"""Rules of retention: which versions of a page are kept."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from archivebot.exceptions import UsageError
from archivebot.models import Capture, Kind

# Periods, each with the strftime format that its captures share; weeks begin on Monday (ISO 8601).
PERIODS: Mapping[str, str] = {
    "hourly": "%Y%m%d%H",
    "daily": "%Y%m%d",
    "weekly": "%G%V",
    "monthly": "%Y%m",
    "yearly": "%Y",
}
DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}

_AGE = re.compile(r"([1-9][0-9]{0,4})([dwmy])")
_CHANGES = frozenset({Kind.NEW, Kind.CHANGED})

Rule = Callable[[Sequence[Capture], datetime], Iterable[Capture]]


@dataclass(frozen=True, slots=True)
class Keep:
    """A rule of several terms, of which each keeps versions; the first and the last version always stay.

    ``text`` is the rule as it was written: ``all``, ``ends`` (nothing else), ``changes`` (versions whose
    content changed), ``hourly`` to ``yearly`` (the last version of each period, in UTC), ``30d``, ``8w``,
    ``6m`` or ``2y`` (versions seen in the last days, weeks, months of 30 days or years of 365).
    """

    text: str
    terms: tuple[Rule, ...]

    @classmethod
    def parse(cls, text: str) -> Keep:
        """Read a rule such as ``changes,monthly,90d``; raises UsageError.

        >>> Keep.parse(" changes, 90d ").text
        'changes,90d'
        >>> Keep.parse("sometimes")
        Traceback (most recent call last):
        archivebot.exceptions.UsageError: 'sometimes' is no rule of retention: write changes, ends, all, \
hourly, daily, weekly, monthly, yearly, or an age such as 90d, joined by commas
        """
        words = [word.strip() for word in text.split(",")]
        return cls(",".join(words), tuple(map(_term, words)))

    def digests(self, captures: Sequence[Capture], now: datetime) -> set[str]:
        """Return the digests (64 hex digits) of the versions to keep, from all captures of a page in order.

        A body that came with an error, a redirect or a wall is no version of content and not judged here.
        """
        shown = [each for each in captures if each.number is not None and each.kind.has_content]
        kept = [*shown[:1], *shown[-1:], *(each for term in self.terms for each in term(shown, now))]
        return {capture.sha256 for capture in kept}


def _term(word: str) -> Rule:
    if word in PERIODS:
        return lambda captures, now: _last_of_each(captures, PERIODS[word])
    if age := _AGE.fullmatch(word):
        span = timedelta(days=int(age[1]) * DAYS[age[2]])
        return lambda captures, now: (each for each in captures if now - each.captured_at <= span)
    if word in _TERMS:
        return _TERMS[word]
    raise UsageError(
        f"{word!r} is no rule of retention: write changes, ends, all, {', '.join(PERIODS)},"
        " or an age such as 90d, joined by commas"
    )


def _last_of_each(captures: Sequence[Capture], period: str) -> Iterator[Capture]:
    last = {capture.captured_at.strftime(period): capture for capture in captures}
    yield from last.values()


_TERMS: dict[str, Rule] = {
    "all": lambda captures, now: captures,
    "ends": lambda captures, now: (),
    "changes": lambda captures, now: (each for each in captures if each.kind in _CHANGES),
}
