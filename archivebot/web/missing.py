"""The answer for what was not captured, with the captured pages nearest to it."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from archivebot.archive import ArchiveReader
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
        return PlainTextResponse(f"{error}\n", status, headers=dict(INTERFACE))
    return page(
        "missing.html",
        status,
        title="Not captured" if isinstance(error, NotArchived) else "Not a URL",
        url=url,
        digits=digits,
        message=commanded(str(error)),
        nearest=_nearest(reader, url),
    )


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
