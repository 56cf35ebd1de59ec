"""Lines of a CDXJ index."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby

from archivebot.export.files import Place
from archivebot.export.record import EMPTY
from archivebot.markup.contenttype import content_type, parse
from archivebot.models import Capture
from archivebot.timestamps import timestamp

REVISIT = "warc/revisit"


def cdxj_line(capture: Capture, place: Place | None, *, revisit: bool = False) -> str:
    """Return the line of a capture, without a line end; without a ``place`` it names no file.

    Numbers are strings, as all tools write them. https://specs.webrecorder.net/cdxj/0.1.0/
    """
    values = {
        "url": capture.url,
        "mime": REVISIT if revisit else parse(content_type(capture.headers)).type or "unk",
        "status": str(capture.status or "-"),
        "digest": capture.digest or EMPTY,
        "length": str(place.length if place else capture.size),
    }
    if place:
        values |= {"offset": str(place.offset), "filename": place.file}
    return f"{capture.urlkey} {timestamp(capture.captured_at)} {json.dumps(values, ensure_ascii=False)}"


def in_order(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines that come by key and second in the order of their bytes.

    >>> list(in_order(["a 1 {b}", "a 1 {a}", "b 1 {a}"]))
    ['a 1 {a}', 'a 1 {b}', 'b 1 {a}']
    """
    for _, same in groupby(lines, key=lambda line: line.split(" ", 2)[:2]):
        yield from sorted(same, key=str.encode)
