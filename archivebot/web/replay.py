"""Mementos over HTTP: replay, TimeGates and TimeMaps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial
from itertools import islice
from urllib.parse import quote, unquote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from archivebot.archive import ArchiveReader
from archivebot.exceptions import NotArchived, UsageError
from archivebot.markup.contenttype import content_type
from archivebot.markup.media import HTML, Media, media_of
from archivebot.models import Capture, Headers, Outcome
from archivebot.replay.address import (
    EXACT,
    MODIFIERS,
    ROOT,
    TIME,
    Address,
    moment,
    read_address,
    replay_path,
    whole_url,
)
from archivebot.replay.rewrite import Rewriter
from archivebot.replay.timemap import TYPES, Neighbours, Part, Places, http_date, link_header, timemap
from archivebot.timestamps import end_of_second, timestamp
from archivebot.urls import urlkey
from archivebot.web.kept import Answer
from archivebot.web.missing import missing
from archivebot.web.ranges import cut
from archivebot.web.readers import answer, keeping
from archivebot.web.safety import clean, original, replayed, server_address
from archivebot.web.templating import address as page_address
from archivebot.web.templating import rendered

# Mementos of one part of a TimeMap; each takes 150 bytes as a link.
PART = 5_000

# Redirects that a browser follows, one after the other.
MOST_REDIRECTS = 20

_TIMEMAP = re.compile(rf"timemap/({'|'.join(TYPES)})/(?:(\d{{14}})/)?(.+)", re.DOTALL)
_CALENDAR = re.compile(rf"{TIME}?(?:-{TIME})?\*/(.+)", re.DOTALL)
_CHANGES = re.compile(r"changes/(.+)", re.DOTALL)
_DIFF = re.compile(rf"diff/{TIME}/{TIME}/(.+)", re.DOTALL)
_MODIFIER = re.compile(rf"{TIME}([a-z]{{2}}_)/.*", re.DOTALL)
_FORM = re.compile(r"timemap/([^/:]*)/.*", re.DOTALL)
_WITHOUT_URL = re.compile(rf"(?:\d{{4,17}}(?:[a-z]{{2}}_)?|timegate|timemap/(?:{'|'.join(TYPES)}))/?")
_ENCODED = re.compile(r"https?%3a", re.IGNORECASE)

# What a reader may prefer (the proposal "Prefer" of the Memento authors), with the modifier that it means.
_PREFERENCES = {"raw": EXACT, "rewritten": "if_", "banner-only": "bn_"}
_PAGES = ("", "mp_", "bn_")
_REWRITTEN = ("", "mp_", "bn_", "if_", "fr_", "cs_")  # others are rarely pages or style sheets
_FRAMES = {"fr_": "if_", "oe_": "if_"}  # a link in them stays in the frame
_WITHOUT_BODY = (204, 205, 304)
_NAMING = "content-disposition"  # it says that a file is to be saved, and its name
_OF_REQUESTS = (206, 304)  # they answer a header of the crawler, which the reader has not sent


async def replay(request: Request) -> Response:
    """Answer all requests below ``/web/``."""
    rest = _asked(request)
    if found := _TIMEMAP.fullmatch(rest):
        form, start, url = found.groups()
        return await answer(partial(_timemap, form=form, start=start, url=_url(url)), request)
    if rest.startswith("timegate/") and rest != "timegate/":
        return await answer(partial(_timegate, url=_url(rest.removeprefix("timegate/"))), request)
    if found := _CALENDAR.fullmatch(rest):
        return RedirectResponse(_calendar(found[1] or "", found[2] or "", _url(found[3])), 302)
    if found := _CHANGES.fullmatch(rest):
        return RedirectResponse(page_address("page", url=_url(found[1])), 302)
    if found := _DIFF.fullmatch(rest):
        since, to, url = found.groups()
        return await answer(partial(_diff, since=since, to=to, url=_url(url)), request)
    address = read_address(rest)
    if address is None:
        _check(rest)
        return await answer(partial(_timegate, url=_url(rest)), request)
    address = Address(address.digits, address.modifier, _url(address.url))
    return await answer(partial(_memento, address=address), request)


def _check(rest: str) -> None:
    """Raise UsageError if the rest of an address is neither the address of a memento nor a URL."""
    if _WITHOUT_URL.fullmatch(rest):
        raise UsageError(f"a URL is missing after {ROOT}{rest}: write one, as http://example.com/")
    if found := _FORM.fullmatch(rest):
        raise UsageError(f"there is no TimeMap {found[1]!r}: write {', '.join(TYPES)}")
    if found := _MODIFIER.fullmatch(rest):
        raise UsageError(f"there is no modifier {found[2]!r}: write none, or {', '.join(MODIFIERS)}")


def _asked(request: Request) -> str:
    """Return what follows ``/web/`` as it was sent, with the query, which belongs to the archived URL."""
    raw: bytes = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    query: bytes = request.scope["query_string"]
    rest = raw.partition(b"?")[0][len(ROOT) :] + (b"?" + query if query else b"")
    return rest.decode("utf-8", "replace")


def _url(text: str) -> str:
    return whole_url(unquote(text) if _ENCODED.match(text) else text)


def _calendar(since: str, until: str, url: str) -> str:
    """Return the address of a time line, in the years that are named, or of a list by the prefix of a URL."""
    if url.endswith("*"):
        prefix = url[:-1]
        return page_address(
            "site", url=prefix, prefix="yes" if urlkey(prefix).partition(")")[2] != "/" else None
        )
    years = "-".join(each[:4] for each in (since, until) if len(each) >= 4)
    return page_address("page", url=url, year=years or None)


def _diff(reader: ArchiveReader, _: Request, *, since: str, to: str, url: str) -> Response:
    """Lead to the delta of the versions at two times."""
    page = reader.resolve(url)
    before, after = (reader.seen(reader.at(page, end_of_second(moment(each)))).number for each in (since, to))
    if before is None or after is None:
        raise NotArchived(f"{page} had no content at one of these times")
    return RedirectResponse(page_address("delta", **{"url": page, "from": before, "to": after}), 302)


def _places(request: Request, url: str) -> Places:
    return Places(server_address(request), url)


def _timegate(reader: ArchiveReader, request: Request, *, url: str) -> Response:
    """Lead to the memento nearest to Accept-Datetime; without it to the last.

    A person who follows a link to a page without naming a TimeGate is led to the last page that was shown.
    """
    asked = request.headers.get("accept-datetime")
    when = _http_time(asked) if asked else None
    is_named = request.url.path.startswith(f"{ROOT}timegate/")
    try:
        page = reader.resolve(url)
        capture = _asked_of(reader, page, when) if asked or is_named else reader.mementos.nearest(page, None)
    except (NotArchived, UsageError) as error:
        return missing(request, reader, url, error)
    places = _places(request, capture.url)
    headers = {"Vary": "accept-datetime", "Link": link_header(places)}
    return Response(status_code=302, headers=headers | {"Location": places.memento(capture.captured_at)})


def _asked_of(reader: ArchiveReader, page: str, when: datetime | None) -> Capture:
    """Return the memento of a time as RFC 7089 does: beyond the ends the first or the last, even an error."""
    first, last = reader.mementos.ends(page)
    if when is None or when >= last.captured_at:
        return last
    return first if when <= first.captured_at else reader.mementos.nearest(page, when)


def _http_time(text: str) -> datetime:
    """Read an HTTP date, which is always GMT; raises UsageError."""
    try:
        if not text.strip().endswith("GMT"):
            raise ValueError(text)
        return parsedate_to_datetime(text).astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise UsageError(
            f"Accept-Datetime is {text!r}: write it like Mon, 01 Jan 2024 00:00:00 GMT"
        ) from error


def _timemap(reader: ArchiveReader, request: Request, *, form: str, start: str | None, url: str) -> Response:
    """Return the TimeMap of a page, or the part of it that begins at a time."""
    try:
        page = reader.resolve(url)
        places = _places(request, page)
        found = keeping(request).of(
            (places, form, start, reader.mementos.state(page)),
            lambda: Answer(timemap(places, form, _part(reader, page, start)).encode(), TYPES[form]),
        )
    except (NotArchived, UsageError) as error:
        return missing(request, reader, url, error)
    return Response(found.body, media_type=found.type)


def _part(reader: ArchiveReader, page: str, start: str | None) -> Part:
    """Return a part of a TimeMap: what begins at ``start``, or at the first memento; raises NotArchived."""
    first, last = reader.mementos.ends(page)
    since = moment(start) if start else first.captured_at
    captures = reader.mementos.of(page, since=since, brief=True)
    times = _seconds(capture.captured_at for capture in captures)
    part = list(islice(times, PART))
    if not part:
        raise NotArchived(f"{page} has no memento from {start} on")
    following = list(islice(times, PART))
    more = (following[0], following[-1]) if following else None
    return Part(part, _second(first.captured_at), _second(last.captured_at), more)


def _seconds(times: Iterable[datetime]) -> Iterator[datetime]:
    """Yield each second once: the mementos of a second have one address."""
    before = None
    for when in times:
        if (second := _second(when)) != before:
            yield second
        before = second


def _second(when: datetime) -> datetime:
    return when.replace(microsecond=0)


@dataclass(frozen=True, slots=True)
class _Shown:
    """A memento that was found: for what it was asked, and as which of its forms it is shown."""

    asked: Address
    capture: Capture
    brought: Capture
    modifier: str

    @property
    def when(self) -> datetime:
        """The time asked for; a capture in the period that a shortened time names has no other."""
        digits, own = self.asked.digits, timestamp(self.capture.captured_at)
        return moment(own if own.startswith(digits) else digits)

    @property
    def status(self) -> int:
        status = self.brought.status or 200
        return status if 200 <= status < 600 and status not in _OF_REQUESTS else 200


def _memento(reader: ArchiveReader, request: Request, *, address: Address) -> Response:
    """Return what was archived, as the address or the header Prefer wants it."""
    try:
        capture = reader.mementos.nearest(reader.resolve(address.url), moment(address.digits))
    except (NotArchived, UsageError) as error:
        return missing(request, reader, address.url, error, address.digits)
    is_revisit = capture.outcome is Outcome.NOT_MODIFIED
    preferred = "" if address.modifier else _preferred(request)
    modifier = _PREFERENCES.get(preferred, address.modifier)
    shown = _Shown(address, capture, reader.brought(capture) if is_revisit else capture, modifier)
    target = _target(reader, shown)
    if target is None:
        notice = (
            f"{capture.url} led to itself, into a circle of redirects, or to another form of itself, which"
            " was not captured"
        )
        return missing(request, reader, address.url, NotArchived(notice), address.digits)
    around = _around(reader, capture)
    body, type_ = (b"", "") if target else _body(request, reader, shown, around)
    headers = _headers(request, shown, around)
    if preferred:
        headers += (("Preference-Applied", preferred),)
    if target:
        headers += (("Location", server_address(request) + target),)
    if type_:
        headers += (("Content-Type", clean(type_)),)
    status = shown.status
    if status == 200:
        status, body, more = cut(request, body)
        headers += more
    response = Response(b"" if status in _WITHOUT_BODY else body, status_code=status)
    response.raw_headers += [(name.lower().encode(), _value(value)) for name, value in headers]
    return response


def _value(value: str) -> bytes:
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode()  # the bytes as they were received


def _preferred(request: Request) -> str:
    asked = [each.strip() for each in re.split("[,;]", request.headers.get("prefer", "").lower())]
    return next((name for name in _PREFERENCES if name in asked), "")


def _target(reader: ArchiveReader, shown: _Shown) -> str | None:
    """Return the path of the page that a redirect leads to, "" for no redirect, None for a circle."""
    first = found = shown.capture
    if first.outcome is not Outcome.REDIRECT or not first.location:
        return ""
    passed: set[tuple[str, datetime]] = set()
    while found.outcome is Outcome.REDIRECT and found.location and len(passed) < MOST_REDIRECTS:
        if (place := (found.url, found.captured_at)) in passed:
            return None
        passed.add(place)
        try:
            found = reader.mementos.nearest(reader.resolve(found.location), moment(shown.asked.digits))
        except (NotArchived, UsageError):
            break
    return replay_path(shown.asked.digits, first.location, shown.asked.modifier)


def _around(reader: ArchiveReader, capture: Capture) -> Neighbours:
    """Return the times of the mementos around a memento."""
    before = reader.mementos.before(capture.url, capture.captured_at)
    after = reader.mementos.after(capture.url, capture.captured_at)
    first, last = reader.mementos.ends(capture.url) if before or after else (capture, capture)
    return Neighbours(
        first=_second(first.captured_at),
        previous=_second(before.captured_at) if before else None,
        next=_second(after.captured_at) if after else None,
        last=_second(last.captured_at),
    )


def _body(request: Request, reader: ArchiveReader, shown: _Shown, around: Neighbours) -> tuple[bytes, str]:
    """Return the body of a memento and its Content-Type, as its modifier wants it."""
    declared = content_type(shown.brought.headers)

    def made() -> Answer:
        body = reader.body(shown.capture) if shown.capture.digest else b""
        if shown.modifier == EXACT:
            return Answer(body, declared)
        # In place of an error without a body a browser shows one of its own, as if this server failed.
        is_bare = not body and shown.status >= 400 and shown.modifier in _PAGES
        media = media_of(body, HTML.type if is_bare else declared)
        banner = _banner(shown, around) if media.is_page else ""
        return Answer(*_rewritten(shown, body, media, banner))

    # Of an answer that is kept the body, from which a part would be cut, is not here.
    if shown.modifier not in _REWRITTEN or "range" in request.headers:
        found = made()
    else:
        capture = shown.capture
        place = (capture.url, capture.captured_at, shown.asked.digits, shown.modifier)
        found = keeping(request).of((*place, capture.digest, declared, around), made)
    return found.body, found.type


def _banner(shown: _Shown, around: Neighbours) -> str:
    if shown.modifier not in _PAGES:
        return ""
    return rendered("_banner.html", capture=shown.capture, around=around, asked=shown.when)


def _rewritten(shown: _Shown, body: bytes, media: Media, banner: str) -> tuple[bytes, str]:
    modifier = _FRAMES.get(shown.modifier, shown.modifier)
    rewriter = Rewriter(shown.capture.url, shown.asked.digits, modifier, links=modifier != "bn_")
    return rewriter.body(body, media, modifier, banner)


def _headers(request: Request, shown: _Shown, around: Neighbours) -> Headers:
    capture = shown.capture
    when = _second(capture.captured_at)
    places = _places(request, capture.url)
    exact = replay_path(timestamp(when), capture.url, shown.asked.modifier)
    return (
        ("Memento-Datetime", http_date(when)),
        ("Content-Location", places.host + exact),
        ("Link", link_header(places, around, when)),
        ("Vary", "Prefer"),
        *((name, clean(value)) for name, value in shown.brought.headers if name.lower() == _NAMING),
        *original(shown.brought.headers),
        *replayed(request),
    )
