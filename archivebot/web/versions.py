"""The pages on versions: one version, the delta of two, one block through time."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise

from starlette.requests import Request
from starlette.responses import Response

from archivebot.archive import ArchiveReader
from archivebot.exceptions import NotArchived, UsageError
from archivebot.markup.charset import is_wide
from archivebot.markup.contenttype import content_type
from archivebot.markup.media import XHTML, Media, media_of
from archivebot.markup.words import wordless
from archivebot.models import BlockChange, Capture, Change, Delta, Kind
from archivebot.replay.marks import STYLE, Mark, marked
from archivebot.replay.rewrite import Rewriter
from archivebot.storage.base import StoredVersion
from archivebot.timestamps import timestamp
from archivebot.versioning.worddiff import word_changes
from archivebot.web.pages import parameter, time_of
from archivebot.web.safety import replayed
from archivebot.web.templating import page
from archivebot.web.timeline import time_lines
from archivebot.wire import text_lines

# What is shown on which side of a delta.
_SIDES = {
    "before": frozenset((Change.REMOVED, Change.MODIFIED, Change.MOVED)),
    "after": frozenset((Change.ADDED, Change.MODIFIED, Change.MOVED)),
}


@dataclass(frozen=True, slots=True)
class Changed:
    """A changed block with the pieces of both texts, each ``equal``, ``removed`` or ``added``."""

    block: BlockChange
    pieces: list[tuple[str, str]]


def version(reader: ArchiveReader, request: Request) -> Response:
    """Show one version of a page: its fields, its blocks, its headers as received."""
    url = reader.resolve(parameter(request, "url"))
    number = request.query_params.get("number")
    if number:
        stored = reader.version(url, _number("number", number))
        capture = first_capture(reader, stored)
    else:
        capture = reader.at(url, time_of(request))
        stored = reader.seen(capture)
    brought = reader.brought(capture)
    lines = text_lines(brought.wire.received) if brought.wire else []
    body = reader.body(capture)
    media = media_of(body, content_type(brought.headers))
    return page(
        "version.html",
        title=f"Version {stored.number} of {url}" if stored.number else url,
        url=url,
        capture=capture,
        version=stored,
        versions=reader.version_count(url),
        media=media,
        fields=[(field.name, json.loads(field.data)) for field in reader.fields(stored)],
        headers=lines or [f"{name}: {value}" for name, value in brought.headers],
        is_as_received=bool(lines),
        blocks=[] if wordless(body, content_type(brought.headers)) else reader.blocks(stored),
    )


def delta(reader: ArchiveReader, request: Request) -> Response:
    """Show two versions side by side, the changed blocks marked in the pages, and their words below."""
    url, before, after = _two(reader, request)
    found = reader.delta(url, before, after)
    is_page = media_of_capture(reader, first_capture(reader, after)).is_page
    return page(
        "delta.html",
        title=f"Versions {before.number} and {after.number} of {url}",
        url=url,
        delta=found,
        before=first_capture(reader, before),
        after=first_capture(reader, after),
        versions=reader.version_count(url),
        changes=[
            Changed(each, word_changes(each.before or "", each.after or ""))
            for each in found.changes
            if each.change is not Change.UNCHANGED
        ],
        unchanged=sum(each.change is Change.UNCHANGED for each in found.changes),
        is_page=is_page,
        sides=("before", "after"),
    )


def side(reader: ArchiveReader, request: Request) -> Response:
    """Return one side of a delta: the replayed page with its changed blocks marked."""
    url, before, after = _two(reader, request)
    name = parameter(request, "side")
    if name not in _SIDES:
        raise UsageError(f"side is {name!r}: write before or after")
    shown = before if name == "before" else after
    capture = first_capture(reader, shown)
    body, media = reader.body(capture), media_of_capture(reader, capture)
    if media.is_page and not is_wide(media.charset):
        marks = _marks(reader, shown, reader.delta(url, before, after), name)
        body = marked(body, marks)
    if media.type == XHTML.type:  # it has no banner
        body = body.replace(b"</head>", STYLE.encode() + b"</head>", 1)
    rewriter = Rewriter(url, timestamp(capture.captured_at), "if_")
    text, type_ = rewriter.body(body, media, "if_", STYLE)
    response = Response(text)
    response.raw_headers += [
        (key.lower().encode(), value.encode("latin-1", "replace"))
        for key, value in (*replayed(request), ("Content-Type", type_))
    ]
    return response


def block(reader: ArchiveReader, request: Request) -> Response:
    """Show one block through all versions of its page."""
    url = reader.resolve(parameter(request, "url"))
    lineage = parameter(request, "lineage")
    try:
        states = reader.block_history(url, lineage)
    except NotArchived:  # its message names a command for a terminal
        message = f"{url} has no block {lineage!r}"
        return page("error.html", 404, title="Not in the archive", message=message, url=url)
    texts = [state.text or "" for state in states]
    changes = [word_changes("", texts[0]), *(word_changes(one, two) for one, two in pairwise(texts))]
    return page(
        "block.html",
        title=f"Block {lineage} of {url}",
        url=url,
        lineage=lineage,
        states=list(zip(states, changes, strict=True)),
    )


def _two(reader: ArchiveReader, request: Request) -> tuple[str, StoredVersion, StoredVersion]:
    """Return the page and the versions ``from`` and ``to``: the last two if they are not given."""
    url = reader.resolve(parameter(request, "url"))
    since, to = (request.query_params.get(name) for name in ("from", "to"))
    return url, *two_versions(
        reader, url, _number("from", since) if since else None, _number("to", to) if to else None
    )


def two_versions(
    reader: ArchiveReader, url: str, since: int | None, to: int | None
) -> tuple[StoredVersion, StoredVersion]:
    """Return two versions of a page by their numbers; raises NotArchived.

    By default the later is the version that the page showed last, and the earlier is the version that it
    showed before, without pruned versions.
    """
    if reader.version_count(url) < 2 and (since is None or to is None):
        raise NotArchived(f"{url} has no second version: there is nothing to compare")
    after = reader.seen(reader.at(url, None)) if to is None else reader.version(url, to)
    if since is not None:
        return reader.version(url, since), after
    visits = time_lines().of(reader, url).visits
    shown = [visit.number for visit in visits if visit.number and visit.kind is not Kind.FAILED]
    earlier = shown[: shown.index(to)] if to in shown else shown
    for number in dict.fromkeys(reversed(earlier)):
        before = reader.version(url, number)
        if before.number != after.number and not before.pruned:
            return before, after
    raise NotArchived(f"version {after.number} of {url} is the first: there is none before it")


def _number(name: str, text: str) -> int:
    if not text.isdecimal() or len(text) > 9:
        raise UsageError(f"{name} is {text!r}: write the number of a version")
    return int(text)


def first_capture(reader: ArchiveReader, stored: StoredVersion) -> Capture:
    """Return the first capture that saw a version."""
    when = time_lines().of(reader, stored.url).first_seen.get(stored.number or 0)
    for capture in reader.mementos.of(stored.url, when, when):
        if capture.sha256 == stored.digest:
            return capture
    raise NotArchived(f"no capture of {stored.url} shows its version {stored.number}")


def media_of_capture(reader: ArchiveReader, capture: Capture) -> Media:
    """Return the media of the body of a capture."""
    return media_of(*reader.document(capture))


def _marks(reader: ArchiveReader, shown: StoredVersion, found: Delta, name: str) -> list[Mark]:
    """Return the marks of one side of a delta, in the order of the page."""
    changes = {each.lineage: each.change for each in found.changes if each.change in _SIDES[name]}
    return [
        Mark(placed.start, placed.end, changes[placed.lineage].value.lower())
        for placed, _ in reader.blocks(shown)
        if placed.lineage in changes
    ]
