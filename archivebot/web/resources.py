"""The resources that a replayed page loads: which were captured, and how far from the time of the page."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from html import unescape
from itertools import islice

from starlette.requests import Request
from starlette.responses import Response

from archivebot.archive import ArchiveReader
from archivebot.exceptions import NotArchived, UsageError
from archivebot.markup.media import media_of
from archivebot.replay.rewrite import Rewriter
from archivebot.timestamps import timestamp
from archivebot.web.pages import parameter, time_of
from archivebot.web.templating import page

_USES = {"im_": "image", "cs_": "style sheet", "oe_": "medium", "if_": "frame or object"}

# Each takes a millisecond to look up.
MOST = 200


@dataclass(frozen=True, slots=True)
class Resource:
    """A resource of a page, and when it was captured: the nearest time to the page, None for never."""

    use: str
    url: str
    captured_at: datetime | None


def resources(reader: ArchiveReader, request: Request) -> Response:
    """Show the resources that the elements of a page load."""
    url = reader.resolve(parameter(request, "url"))
    capture = reader.at(url, time_of(request))
    body, declared = reader.document(capture)
    own = timestamp(capture.captured_at)
    text, _ = Rewriter(url, own).body(body, media_of(body, declared))
    # An address in a srcset may be followed by a comma that does not belong to it.
    pattern = re.compile(rf"/web/{own}({'|'.join(_USES)})/([^\s\"'<>]+?)(?:,*\s|[\"'<>])")
    found = dict.fromkeys(
        (use, unescape(address)) for use, address in pattern.findall(text.decode("utf-8", "replace"))
    )
    listed = [
        Resource(_USES[use], address, _nearest(reader, address, capture.captured_at))
        for use, address in islice(found, MOST)
    ]
    return page(
        "resources.html",
        title=f"Resources of {url}",
        url=url,
        capture=capture,
        resources=listed,
        missing=sum(each.captured_at is None for each in listed),
        others=max(len(found) - MOST, 0),
    )


def _nearest(reader: ArchiveReader, url: str, when: datetime) -> datetime | None:
    try:
        return reader.mementos.nearest(reader.resolve(url), when).captured_at
    except (NotArchived, UsageError):
        return None
