"""The time line of a page, and what the pages on a site and on the whole archive read of it."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import datetime
from itertools import islice
from operator import attrgetter
from typing import Any
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from archivebot.archive import ArchiveReader
from archivebot.exceptions import CorruptObject, UsageError
from archivebot.models import Capture, Kind
from archivebot.replay.address import moment
from archivebot.timestamps import end_of_second
from archivebot.web.kept import Answer
from archivebot.web.readers import keeping
from archivebot.web.safety import INTERFACE
from archivebot.web.templating import page
from archivebot.web.timeline import TimeLine, time_lines

# Pages in one part of a list, and pages of which the last visit is read for the list of changes.
LISTED, LOOKED_AT = 100, 1_000
CHANGES = 20
_CHANGED = frozenset((Kind.NEW, Kind.CHANGED, Kind.TOUCHED, Kind.GONE))


def parameter(request: Request, name: str) -> str:
    """Return a parameter of a request; raises UsageError if it is missing."""
    value = request.query_params.get(name, "").strip()
    if not value:
        raise UsageError(f"{name} is missing: write {request.url.path}?{urlencode({name: '...'})}")
    return value


def time_of(request: Request) -> datetime | None:
    """Return the end of the period that the parameter ``at`` names, None without it; raises UsageError."""
    digits = request.query_params.get("at", "")
    if digits and not re.fullmatch(r"[0-9]{1,14}|[0-9]{17}", digits):
        raise UsageError(f"at is {digits!r}: write 1 to 14 digits, or 17, as in 20260102030405")
    return end_of_second(moment(digits)) if digits else None


def number_of(request: Request, name: str) -> int:
    """Return a parameter that counts, 0 without it or if it is no number."""
    text = request.query_params.get(name, "")
    return int(text) if text.isdecimal() and len(text) < 9 else 0


def latest_changes(reader: ArchiveReader) -> tuple[list[Capture], int]:
    """Return the pages that changed last, by their last visits.

    The number of pages that were looked at comes with them if there are more, else 0.
    """
    looked_at = list(islice(reader.visits.pages(), LOOKED_AT + 1))
    latest = filter(None, (_latest(reader, url) for url in looked_at[:LOOKED_AT]))
    changes = sorted(
        (each for each in latest if each.kind in _CHANGED), key=attrgetter("captured_at"), reverse=True
    )
    return changes[:CHANGES], LOOKED_AT if len(looked_at) > LOOKED_AT else 0


def site_pages(reader: ArchiveReader, url: str, after: str | None, match: str) -> dict[str, Any]:
    """Return the pages of a site, or those below a URL, and where the next begin.

    Each page has the number of its versions and its last visit.
    """
    urls = reader.site(url, after=after, limit=LISTED + 1, match=match)
    return {
        "pages": [(each, reader.version_count(each), _latest(reader, each)) for each in urls[:LISTED]],
        "following": urls[LISTED - 1] if len(urls) > LISTED else None,
    }


def time_line(reader: ArchiveReader, request: Request) -> Response:
    """Show every visit of a page: as a strip, as the calendar of a year, and as a list of one month."""
    url = reader.resolve(parameter(request, "url"))
    given = request.query_params
    skip = number_of(request, "skip")

    def made() -> Answer:
        line = time_lines().of(reader, url)  # not for an answer that is kept: each process would read it
        year, month = line.chosen(given.get("year", ""), given.get("month", ""))
        shown = _time_line(reader, url, line, year, month, skip)
        return Answer(bytes(shown.body), shown.headers["Content-Type"])

    found = keeping(request).of((url, reader.mementos.state(url)), made)
    return Response(found.body, headers=INTERFACE | {"Content-Type": found.type})


def _time_line(reader: ArchiveReader, url: str, line: TimeLine, year: int, month: int, skip: int) -> Response:
    visits = line.of_month(year, month)
    return page(
        "page.html",
        title=f"Time line of {url}",
        url=url,
        line=line,
        versions=reader.version_count(url),
        has_memento=any(visit.is_memento for visit in line.visits),
        year=year,
        month=month,
        months=line.months(year),
        visits=visits[skip : skip + LISTED],
        following=skip + LISTED if len(visits) > skip + LISTED else None,
        first=line.visits[0].captured_at,
        last=line.visits[-1].captured_at,
    )


def _latest(reader: ArchiveReader, url: str) -> Capture | None:
    """Return the last visit of a page that a server answered, without headers; None if it cannot be read."""
    with suppress(CorruptObject):
        return next(reader.mementos.of(url, newest_first=True, brief=True), None)
    return None
