"""The answer for what was not captured, with the captured pages nearest to it."""

from __future__ import annotations

import re

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from archivebot.archive import ArchiveReader
from archivebot.config import without_password
from archivebot.exceptions import ArchiveError, NotArchived, TooLarge, UsageError
from archivebot.terminal import commanded
from archivebot.web.safety import INTERFACE
from archivebot.web.templating import page

NEAREST = 10

# What asks for a resource of a page: nobody reads the answer.
_RESOURCES = frozenset("audio embed font frame iframe image object script style track video".split())


def missing(
    request: Request, reader: ArchiveReader, url: str, error: ArchiveError, digits: str = ""
) -> Response:
    """Return the page for a URL that was not captured, or cannot be one."""
    status = error_status(error)
    if request.headers.get("sec-fetch-dest") in _RESOURCES:
        return PlainTextResponse(f"{told(error, reader.uri)}\n", status, headers=INTERFACE)
    return page(
        "missing.html",
        status,
        title="Not captured" if isinstance(error, NotArchived) else "Not a URL",
        url=url,
        digits=digits,
        message=told(error, reader.uri),
        nearest=_nearest(reader, url),
    )


def told(error: ArchiveError, uri: str) -> str:
    """Return the message of an error for a client of the server of the archive at a URI.

    Its commands are those of the program that runs. A file is named without its folder, which is no concern
    of a client.

    >>> told(NotArchived("http://a.example/srv/ is not in sqlite:////srv/a.db"), "sqlite:////srv/a.db")
    'http://a.example/srv/ is not in a.db'
    >>> told(NotArchived("not allowed: '/srv/a.db' (/srv/a.lock)"), "sqlite:////srv/a.db")
    "not allowed: 'a.db' (a.lock)"
    """
    folder = without_password(uri).rpartition("/")[0] + "/"
    path = folder.removeprefix("sqlite:///")
    known = [re.escape(each) for each in (folder, path) if len(each) > 1]
    places = "|".join((*known, r"sqlite:///(?:\S*/)?"))
    return commanded(re.sub(rf"(?<![^\s\"'(])(?:{places})", "", str(error)))


def error_status(error: ArchiveError) -> int:
    """Return the HTTP status of an error."""
    if isinstance(error, UsageError):
        return 400
    if isinstance(error, TooLarge):
        return 422
    return 404 if isinstance(error, NotArchived) else 503


def _nearest(reader: ArchiveReader, url: str) -> list[str]:
    """Return captured pages of the same host, those that follow in the order of addresses first."""
    try:
        found = reader.site(url, after=url, limit=NEAREST)
        return found + [each for each in reader.site(url, limit=NEAREST) if each not in found][: NEAREST // 2]
    except ArchiveError:
        return []
