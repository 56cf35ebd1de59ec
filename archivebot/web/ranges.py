"""Parts of an answer, which players ask for when one jumps in a sound or a video (RFC 9110, section 14)."""

from __future__ import annotations

import re

from starlette.requests import Request

from archivebot.models import Headers

_ONE = re.compile(r"bytes=(?:(\d{1,18})-(\d{1,18})?|-(\d{1,18}))", re.ASCII)


def part(asked: str, size: int) -> range | None:
    """Return the places of the bytes that a Range header asks for, None for all bytes.

    Several parts, and what cannot be read, are all bytes. A part that begins beyond the end is empty.

    >>> part("bytes=2-5", 9), part("bytes=7-", 9), part("bytes=-4", 9), part("bytes=9-", 9)
    (range(2, 6), range(7, 9), range(5, 9), range(9, 9))
    >>> part("", 9), part("bytes=5-2", 9), part("bytes=0-1,3-4", 9)
    (None, None, None)
    """
    found = _ONE.fullmatch(asked)
    if not found:
        return None
    first, last, length = (int(group) if group else None for group in found.groups())
    if first is None:
        return range(max(size - (length or 0), 0), size)
    if last is not None and last < first:
        return None
    return range(min(first, size), size if last is None else min(last + 1, size))


def cut(request: Request, body: bytes) -> tuple[int, bytes, Headers]:
    """Return status, body and headers of an answer: the part that is asked for, else the whole body."""
    whole = request.method != "GET" or "if-range" in request.headers
    found = None if whole else part(request.headers.get("range", ""), len(body))
    if found is None:
        return 200, body, (("Accept-Ranges", "bytes"),)
    if not found:
        return 416, b"", (("Content-Range", f"bytes */{len(body)}"),)
    place = f"bytes {found.start}-{found.stop - 1}/{len(body)}"
    return 206, body[found.start : found.stop], (("Accept-Ranges", "bytes"), ("Content-Range", place))
