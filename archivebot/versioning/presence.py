"""Whether a page existed and is gone, by its captures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import takewhile

from archivebot.models import Capture, Kind, Outcome
from archivebot.versioning.policy import GONE

_UNTOLD = frozenset({Kind.FAILED, Kind.EXCLUDED})  # such a visit does not show whether the page exists


def placed(captures: Iterable[Capture], there: Callable[[], bool] = bool) -> Iterator[Capture]:
    """Yield captures of a page, oldest first; a 404 or 410 is ``gone`` only after content.

    ``there`` returns whether captures before them brought content; it is only called for such an answer.

    The stored kind may be outdated: a file with older captures may have been ingested later, and older
    versions of archivebot called every 404 ``gone``.
    """
    was_there: bool | None = None
    for capture in captures:
        if is_content(capture):
            was_there = True
        if capture.outcome in GONE:
            was_there = there() if was_there is None else was_there
            capture = replace(capture, kind=Kind.GONE if was_there else Kind.NOT_FOUND)
        yield capture


def gone_since(captures: Sequence[Capture]) -> datetime | None:
    """Return the time of the first capture of a gone page; None if the page exists, or never did.

    The captures come from :func:`placed`. A fetch that failed or was refused changes nothing.
    """
    counting = [capture for capture in reversed(captures) if capture.kind not in _UNTOLD]
    gone = list(takewhile(lambda capture: capture.kind is Kind.GONE, counting))
    return gone[-1].captured_at if gone else None


def redirect(captures: Iterable[Capture]) -> Capture | None:
    """Return the last capture of a page if it leads elsewhere, else None; the captures come newest first.

    A fetch that failed or was refused changes nothing.
    """
    last = next((capture for capture in captures if capture.kind not in _UNTOLD), None)
    return last if last and last.kind is Kind.REDIRECT else None


def is_content(capture: Capture) -> bool:
    """Return whether a visit brought the page itself, not a wall or an error in its place."""
    return capture.outcome is Outcome.FETCHED and capture.quality is None and capture.kind is not Kind.FAILED
