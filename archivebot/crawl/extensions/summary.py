"""The words at the end of a crawl: why it ended, what failed, and which commands come next."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from archivebot.crawl.arguments import Arguments
from archivebot.http.robotstxt import UNREACHABLE
from archivebot.models import Capture, Kind, Outcome
from archivebot.records.frontier import ending
from archivebot.units import amount, size

MOST_FAILURES = 5  # rows of failures in a summary
MOST_REASONS = 1_000  # reasons that are counted apart
WIDTH = 80  # columns of a summary

GOES_ON = "the same command goes on"


def end_of(reason: str, arguments: Arguments | None) -> tuple[str, str]:
    """Return why a crawl ended, from Scrapy's ``finish_reason``, and what goes on with it ("" for nothing).

    >>> end_of("pages", Arguments(("http://a.example/",), pages=300))[0]
    'stopped at your limit of 300 pages'
    >>> end_of("shutdown", None)
    ('interrupted', 'the same command goes on')
    """
    if reason == "pages" and arguments:
        again = "a higher limit goes on, the same command visits the pages again"
        return f"stopped at your limit of {amount(arguments.pages or 0, 'page')}", again
    if reason == "bytes" and arguments and arguments.bytes:
        return f"stopped at your limit of {size(arguments.bytes)}", GOES_ON
    if reason == "closespider_timeout" and arguments and arguments.time:
        return f"stopped at your limit of {amount(arguments.time, 'second')}", GOES_ON
    if reason == "finished":
        return reason, ""
    words = ending(reason)
    return (f"stopped ({reason})" if words == reason else words), GOES_ON


@dataclass(slots=True)
class Failures:
    """The URLs that failed, counted by outcome and reason, with the first URL of each."""

    _first: dict[tuple[str, str], str] = field(default_factory=dict)
    _counts: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, capture: Capture) -> None:
        """Count a capture, if it failed or was refused by robots.txt."""
        if capture.kind is not Kind.FAILED and capture.outcome is not Outcome.ROBOTS_DENIED:
            return
        reason = capture.reason or (f"status {capture.status}" if capture.status else "")
        key = _words(capture.outcome), reason
        if capture.outcome is Outcome.ROBOTS_DENIED and reason.startswith(UNREACHABLE):
            key = UNREACHABLE.removesuffix(": "), reason.removeprefix(UNREACHABLE)
        if key in self._counts or len(self._counts) < MOST_REASONS:
            self._first.setdefault(key, capture.url)
            self._counts[key] = self._counts.get(key, 0) + 1

    def lines(self) -> Iterator[str]:
        """Yield a line for each of the most frequent reasons, and one for the rest."""
        ranked = sorted(self._counts.items(), key=lambda each: -each[1])
        for (outcome, reason), count in ranked[:MOST_FAILURES]:
            more = f" and {count - 1} more" if count > 1 else ""
            why = f" ({reason})" if reason else ""
            word = "refused:" if outcome == _DENIED else "failed: "
            yield f"{word} {outcome}: {self._first[outcome, reason]}{more}{why}"
        if rest := sum(count for _, count in ranked[MOST_FAILURES:]):
            yield f"failed:  {rest} more for other reasons"


def _words(outcome: Outcome) -> str:
    return outcome.value.replace("_", " ")


_DENIED = _words(Outcome.ROBOTS_DENIED)


def filled(parts: Iterable[str], width: int = WIDTH - 2) -> list[str]:
    """Return parts joined by semicolons in lines of at most ``width`` columns, unless a part is longer.

    >>> filled(["one", "two", "three"], 9)
    ['one; two;', 'three']
    """
    lines: list[str] = []
    for part in parts:
        if lines and len(lines[-1]) + len(part) + 3 <= width:
            lines[-1] += f"; {part}"
        else:
            lines[-1:] = [f"{lines[-1]};", part] if lines else [part]
    return lines


def quoted(word: str) -> str:
    """Return a word of a proposed command as a shell reads it.

    >>> quoted("http://a.example/?a=1&b=2"), quoted("sqlite:///a.db")
    ("'http://a.example/?a=1&b=2'", 'sqlite:///a.db')
    """
    return shlex.quote(word)


def shortened(text: str, width: int) -> str:
    """Return a text cut in its middle to a width.

    >>> shortened("http://a.example/long/path", 16)
    'http://a…ng/path'
    """
    if len(text) <= width:
        return text
    left = width // 2
    return f"{text[:left]}…{text[len(text) - (width - left - 1) :]}"
