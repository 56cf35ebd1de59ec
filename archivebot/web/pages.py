"""The pages of the interface: the whole archive, one site, the time line of one page."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from itertools import islice
from operator import attrgetter
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from archivebot.archive import ArchiveReader
from archivebot.exceptions import UsageError
from archivebot.models import Capture, Kind
from archivebot.replay.address import moment
from archivebot.urls import host_of_key
from archivebot.web.readers import Readers
from archivebot.web.templating import page
from archivebot.web.timeline import TimeLines

View = Callable[[ArchiveReader, Request], Response]

# Pages on one page of a list, and pages of which the last visit is read for the list of changes.
LISTED, LOOKED_AT = 100, 1_000
CHANGES = 20
_CHANGED = frozenset((Kind.NEW, Kind.CHANGED, Kind.TOUCHED, Kind.GONE))


async def answer(view: View, request: Request) -> Response:
    """Answer a request by a view, in a thread with a reader."""
    readers: Readers = request.app.state.readers
    return await readers.ask(partial(_view, view, request))


def _view(view: View, request: Request, reader: ArchiveReader) -> Response:
    return view(reader, request)


def parameter(request: Request, name: str) -> str:
    """Return a parameter of a request; raises UsageError if it is missing."""
    value = request.query_params.get(name, "").strip()
    if not value:
        raise UsageError(f"{name} is missing: write {request.url.path}?{urlencode({name: '...'})}")
    return value


def time_of(request: Request) -> datetime | None:
    """Return the time that the parameter ``at`` names, None without it; raises UsageError."""
    digits = request.query_params.get("at", "")
    if digits and not (digits.isdecimal() and digits.isascii() and len(digits) <= 14):
        raise UsageError(f"at is {digits!r}: write 1 to 14 digits, as in 20260102030405")
    return moment(digits) if digits else None


def start(reader: ArchiveReader, request: Request) -> Response:
    """Show the sites of the archive, what changed lately, and what it stores."""
    totals = reader.totals()
    whole = totals.pop("", None)
    looked_at = [url for _, url in reader.pages(limit=LOOKED_AT + 1)]
    latest = filter(None, (_latest(reader, url) for url in looked_at[:LOOKED_AT]))
    changes = sorted(
        (each for each in latest if each.kind in _CHANGED), key=attrgetter("captured_at"), reverse=True
    )
    return page(
        "start.html",
        title="Archive",
        uri=reader.uri,
        whole=whole,
        sites=[(host_of_key(f"{host})/"), sums) for host, sums in totals.items()],
        changes=changes[:CHANGES],
        partly=LOOKED_AT if len(looked_at) > LOOKED_AT else 0,
    )


def site(reader: ArchiveReader, request: Request) -> Response:
    """Show the pages of a site with the last visit of each."""
    url = parameter(request, "url")
    after = request.query_params.get("after")
    urls = reader.site(url, after=after, limit=LISTED + 1)
    pages = [(each, reader.version_count(each), _latest(reader, each)) for each in urls[:LISTED]]
    return page(
        "site.html",
        title=url,
        url=url,
        pages=pages,
        following=urls[LISTED - 1] if len(urls) > LISTED else None,
        after=after,
    )


def time_line(reader: ArchiveReader, request: Request) -> Response:
    """Show every visit of a page: as a strip, as the calendar of a year, and as a list of one month."""
    url = reader.resolve(parameter(request, "url"))
    time_lines: TimeLines = request.app.state.time_lines
    line = time_lines.of(reader, url)
    given = request.query_params
    year, month = line.chosen(given.get("year", ""), given.get("month", ""))
    skipped = given.get("skip", "")
    skip = int(skipped) if skipped.isdecimal() and len(skipped) < 9 else 0
    visits = line.of_month(year, month)
    return page(
        "page.html",
        title=url,
        url=url,
        line=line,
        versions=reader.version_count(url),
        year=year,
        month=month,
        months=line.months(year),
        visits=visits[skip : skip + LISTED],
        following=skip + LISTED if len(visits) > skip + LISTED else None,
        first=line.visits[0].captured_at,
        last=line.visits[-1].captured_at,
    )


def _latest(reader: ArchiveReader, url: str) -> Capture | None:
    """Return the last visit of a page that a server answered."""
    return next(islice(reader.mementos.of(url, newest_first=True), 1), None)
