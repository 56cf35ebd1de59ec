"""A row of the CDX index: its fields, and the names that they have at the Internet Archive."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from urllib.parse import quote

from archivebot.exceptions import UsageError
from archivebot.markup.contenttype import content_type, parse
from archivebot.models import Capture, Outcome
from archivebot.replay.address import EXACT, replay_path
from archivebot.timestamps import timestamp

FIELDS = ("urlkey", "timestamp", "url", "mime", "status", "digest", "length")
ORDINAL = "ordinal"  # the number of a row among the rows of its URL in its second, from 1; never written
PLACES = ("offset", "filename")  # in a WARC file: an archive has none, so they are "-"
ALIASES = {"original": "url", "mimetype": "mime", "statuscode": "status"}

# Of a revisit, where the bytes lie that it confirmed; of other rows "-".
RESOLVED = ("orig.length", "orig.offset", "orig.filename")

Row = dict[str, str]


def rows(captures: Iterable[Capture], brought: Callable[[Capture], Capture] | None = None) -> Iterator[Row]:
    """Yield captures as rows; ``brought`` returns the capture that fetched the bytes of a revisit.

    An archive has no WARC files. So the file of such bytes is the address of exactly these bytes on the
    server, where they begin at 0.
    """
    fetched: dict[tuple[str, str | None], Capture] = {}
    last, ordinal = ("", "", ""), 0
    for capture in captures:
        found = _row(capture)
        place = place_of(found)
        if place[0] != last[0]:
            fetched.clear()
        last, ordinal = place, ordinal + 1 if place == last else 1
        found[ORDINAL] = str(ordinal)
        if brought:
            found |= dict.fromkeys(RESOLVED, "-")
            key = capture.url, capture.digest
            if capture.outcome is Outcome.FETCHED:
                fetched[key] = capture
            elif capture.outcome is Outcome.NOT_MODIFIED:
                known = fetched.get(key)
                if known is None or known.captured_at > capture.captured_at:  # the rows run backwards
                    known = fetched[key] = brought(capture)
                address = replay_path(timestamp(known.captured_at), capture.url, EXACT)
                found |= zip(RESOLVED, (str(known.size), "0", address), strict=True)
        yield found


def field_of(name: str, *, resolved: bool = False) -> str:
    """Return the field of a name, which may be that of the Internet Archive; raises UsageError.

    >>> field_of("original"), field_of("orig.offset", resolved=True)
    ('url', 'orig.offset')
    """
    found = ALIASES.get(name, name)
    if found in RESOLVED and not resolved:
        raise UsageError(f"the field {name} needs resolveRevisits=true")
    if found not in (*FIELDS, *PLACES, *RESOLVED):
        raise UsageError(f"there is no field {name!r}: write {', '.join((*FIELDS, *PLACES, *ALIASES))}")
    return found


def place_of(row: Row) -> tuple[str, str, str]:
    """Return the place of a row in the index, which rows of one second may share."""
    return row["urlkey"], row["timestamp"], row["url"]


def key_of(row: Row, value: str | None = None) -> str:
    """Return the key that continues after a row; rows that have the ``value`` collapse with those before.

    >>> row = {"urlkey": "com,a)/", "timestamp": "2024", "url": "http://a.com/", "ordinal": "2"}
    >>> key_of(row), key_of(row | {"ordinal": "1"}, "text/html")
    ('com,a)/ 2024+2 http://a.com/', 'com,a)/ 2024=text%2Fhtml http://a.com/')
    """
    urlkey, time, url = place_of(row)
    ordinal = "" if row[ORDINAL] == "1" else f"+{row[ORDINAL]}"
    collapsed = "" if value is None else f"={quote(value, safe='')}"
    return f"{urlkey} {time}{ordinal}{collapsed} {url}"


def _row(capture: Capture) -> Row:
    """Return a capture as a row; a 304 brought no bytes, which ``warc/revisit`` says."""
    mime = _mime(content_type(capture.headers))
    return {
        "urlkey": capture.urlkey,
        "timestamp": timestamp(capture.captured_at),
        "url": capture.url,
        "mime": "warc/revisit" if capture.outcome is Outcome.NOT_MODIFIED else mime,
        "status": str(capture.status or "-"),
        "digest": capture.digest or "-",
        "length": str(capture.size),
        **dict.fromkeys(PLACES, "-"),
    }


@lru_cache(256)
def _mime(declared: str) -> str:
    return parse(declared).type or "unk"
