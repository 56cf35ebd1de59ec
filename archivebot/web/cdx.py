"""The CDX server over HTTP."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import parse_qs, urlencode

from starlette.requests import Request
from starlette.responses import Response

from archivebot.archive import ArchiveReader
from archivebot.exceptions import NotArchived
from archivebot.models import Capture
from archivebot.replay.cdx import CdxQuery
from archivebot.replay.cdxanswer import OUTPUTS, written_links
from archivebot.replay.timemap import Places
from archivebot.urls import parse_seed
from archivebot.web.kept import Answer
from archivebot.web.readers import keeping
from archivebot.web.safety import INTERFACE, server_address

# Bytes from which an answer is packed, and the level. Level 1 makes the rows of the captures of history-dev
# 3.6 times smaller in 8 ms for a megabyte, level 6 makes them 4.0 times smaller in 36 ms.
LEAST_PACKED, LEVEL = 1_000, 1


def cdx(reader: ArchiveReader, request: Request) -> Response:
    """Answer a question to the index of captures."""
    given = parse_qs(request.url.query, keep_blank_values=True)
    query = CdxQuery.read(given)

    def made() -> Answer:
        if query.counts_pages:
            counted = captures_of(reader, query, brief=not query.needs_headers)
            return Answer(query.pages(counted).encode(), OUTPUTS["json"])
        begun = query.after(captures_of(reader, query, brief=True)) if query.skips else query
        rows, resume = begun.rows(captures_of(reader, begun), reader.brought)
        if query.output == "link":
            following = _following(request, given, query, resume)
            own = f"{server_address(request)}{request.url.path}?{request.url.query}"
            places = Places(server_address(request), _original(reader, query.url))
            text = written_links(places, own, following, rows)
        else:
            text = query.written(rows, resume)
        return Answer(text.encode(), OUTPUTS[query.output], resume)

    if query.match == "exact":
        state = server_address(request), reader.mementos.keyed_state(*query.range)
        found = keeping(request).of(state, made)
    else:  # the state of many pages takes as long as their rows
        found = made()
    headers = {**INTERFACE, "Content-Type": found.type, "Vary": "Accept-Encoding"}
    if following := _following(request, given, query, found.resume):
        headers["Link"] = f'<{following}>; rel="next"'
    return _packed(request, query, found.body, headers)


def captures_of(reader: ArchiveReader, query: CdxQuery, *, brief: bool = False) -> Iterator[Capture]:
    """Return the captures that a question reads, in its order."""
    if when := query.reads_around:
        return reader.mementos.keyed_around(when, *query.range, *query.times)
    if query.reads_backwards:
        return reader.mementos.keyed_latest(*query.range, *query.times)
    return reader.mementos.keyed(*query.range, *query.times, query.resumed_at, brief)


def _original(reader: ArchiveReader, url: str) -> str:
    """Return the archived URL that a TimeMap is about, or the URL that was never captured."""
    try:
        return reader.resolve(url)
    except NotArchived:
        return parse_seed(url)


def _packed(request: Request, query: CdxQuery, body: bytes, headers: dict[str, str]) -> Response:
    """Return the answer, packed if the client can unpack it and does not refuse it by ``gzip=false``."""
    accepted = request.headers.get("accept-encoding", "")
    if query.packs and _accepts_gzip(accepted) and len(body) >= LEAST_PACKED:
        return Response(gzip.compress(body, LEVEL), headers=headers | {"Content-Encoding": "gzip"})
    return Response(body, headers=headers)


def _accepts_gzip(header: str) -> bool:
    """Return whether an Accept-Encoding header names gzip with a weight above 0.

    >>> _accepts_gzip("br, gzip"), _accepts_gzip("gzip;q=0, br"), _accepts_gzip("*")
    (True, False, False)
    """
    for coding in header.lower().split(","):
        name, _, weight = coding.partition(";")
        if name.strip() in ("gzip", "x-gzip"):
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight)
    return False


def _following(request: Request, given: Mapping[str, Sequence[str]], query: CdxQuery, resume: str) -> str:
    """Return the address of the rows after an answer, "" if there are none."""
    if not resume:
        return ""
    place = (
        {"page": [str(query.page + 1)]}
        if query.page is not None
        else {"offset": ["0"], "resumeKey": [resume]}
    )
    return f"{server_address(request)}{request.url.path}?{urlencode({**given, **place}, doseq=True)}"
