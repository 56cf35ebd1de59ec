"""The limits of a crawl on what it stores: the types, the size and the dates of bodies."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase

from archivebot.exceptions import UsageError
from archivebot.http.date import read_date
from archivebot.markup.contenttype import content_type, parse
from archivebot.markup.formats import MediaKind
from archivebot.markup.media import Media, declared_kind
from archivebot.models import Headers, first_header
from archivebot.timestamps import parse_time

# The types that a request accepts for each media kind. Servers that negotiate choose among them.
ACCEPT = {
    MediaKind.PAGE: "text/html, application/xhtml+xml",
    MediaKind.XML: "application/xml, text/xml, application/rss+xml, application/atom+xml",
    MediaKind.TEXT: "text/*",
    MediaKind.DATA: "application/json",
    MediaKind.DOCUMENT: "application/pdf",
    MediaKind.IMAGE: "image/*",
    MediaKind.SOUND: "audio/*",
    MediaKind.VIDEO: "video/*",
    MediaKind.ARCHIVE: "application/zip",
    MediaKind.FONT: "font/*",
    MediaKind.BINARY: "application/octet-stream",
}
# Pages lead to bodies of the other types; a server must not answer 406.
REST = "text/html;q=0.9, */*;q=0.1"

_DAY = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?")
_TYPE = re.compile(r"[\w.+-]+/(?:\*|[\w.+-]+)")


@dataclass(frozen=True, slots=True)
class Unwanted:
    """Why a body is not stored: the name of the limit, and the reason in words."""

    limit: str
    reason: str


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits on the bodies of a crawl; empty or None means no limit.

    ``types`` are media kinds and MIME types (``image/*``), ``size`` a number of bytes, ``since`` and
    ``until`` the first and the last day. The date of a page is the day of publication that it states, else
    its Last-Modified; a page without a date has no limit.
    """

    types: tuple[str, ...] = ()
    size: int | None = None
    since: date | None = None
    until: date | None = None

    @property
    def dated(self) -> bool:
        """Whether the date of a page matters."""
        return self.since is not None or self.until is not None

    @property
    def accept(self) -> str:
        """The Accept header of a request; empty without a limit of types.

        >>> Limits(("document", "image/png")).accept
        'application/pdf, image/png, text/html;q=0.9, */*;q=0.1'
        """
        wanted = [ACCEPT[MediaKind(each)] if "/" not in each else each for each in self.types]
        return ", ".join([*wanted, REST]) if wanted else ""

    def of_head(self, headers: Headers) -> Unwanted | None:
        """Return why a body need not be received, by the headers of its answer.

        A page is received in any case, for its links, unless it is too old. A body whose type the header
        leaves open is received, too.

        >>> limits = Limits(("page",), since=date(2020, 5, 1))
        >>> limits.of_head((("Content-Type", "image/png"),)).reason
        'its type is image/png'
        >>> limits.of_head((("Last-Modified", "Sat, 02 Jan 2010 03:04:05 GMT"),)).reason
        'last modified on 2010-01-02'
        >>> limits.of_head((("Content-Type", "application/octet-stream"),)) is None
        True
        >>> limits.of_head((("Content-Type", "image/png"), ("Content-Type", "text/html"))) is None
        True
        """
        declared = parse(content_type(headers)).type
        kind = declared_kind(declared)
        if kind not in (None, MediaKind.PAGE) and not self._takes(kind, declared):
            return Unwanted("types", f"its type is {declared}")
        modified = last_modified(headers)
        too_old = modified and self.since and modified < self.since
        return Unwanted("since", f"last modified on {modified}") if too_old else None

    def of_media(self, media: Media) -> Unwanted | None:
        """Return why a body is not stored, by its media."""
        return None if self._takes(media.kind, media.type) else Unwanted("types", f"it is {media.name}")

    def of_date(self, headers: Headers, published: date | None) -> Unwanted | None:
        """Return why a page is not stored, by its date.

        >>> limits = Limits(since=date(2020, 5, 1), until=date(2021, 12, 31))
        >>> limits.of_date((), date(2022, 1, 1)).reason, limits.of_date((), None)
        ('published on 2022-01-01', None)
        """
        day = published or last_modified(headers)
        reason = f"{'published' if published else 'last modified'} on {day}"
        if day and self.since and day < self.since:
            return Unwanted("since", reason)
        return Unwanted("until", reason) if day and self.until and day > self.until else None

    def _takes(self, kind: str | None, type_: str) -> bool:
        return not self.types or kind in self.types or any(fnmatchcase(type_, each) for each in self.types)


def last_modified(headers: Headers) -> date | None:
    """Return the day of the Last-Modified header; None if there is none, or if it is no date.

    >>> last_modified([("last-modified", "Sat, 02 Jan 2010 03:04:05 GMT")])
    datetime.date(2010, 1, 2)
    >>> last_modified([("Last-Modified", "yesterday")]) is None
    True
    """
    found = read_date(first_header(headers, "last-modified") or "")
    return found.date() if found else None


def read_types(value: str) -> tuple[str, ...]:
    """Return media kinds and MIME types from a list. Raises UsageError for other words.

    >>> read_types("page, Application/PDF,image/*")
    ('page', 'application/pdf', 'image/*')
    """
    types = tuple(dict.fromkeys(filter(None, (each.strip().lower() for each in value.split(",")))))
    wrong = [each for each in types if each not in set(MediaKind) and not _TYPE.fullmatch(each)]
    if wrong or not types:
        kinds = ", ".join(MediaKind)
        raise UsageError(f"types is {value!r}: give MIME types such as application/pdf, or any of {kinds}")
    return types


def read_day(name: str, *, last: bool = False) -> Callable[[str], str]:
    """Return a reader of a year, a month or a day, which returns its first or its ``last`` day.

    >>> read_day("since")("2024-02"), read_day("until", last=True)("2024-02")
    ('2024-02-01', '2024-02-29')
    """

    def read(value: str) -> str:
        try:
            year, month, day = _DAY.fullmatch(value).groups()  # type: ignore[union-attr]  # see except
            first = date(int(year), int(month or 1), int(day or 1))
            return (parse_time(value).date() if last else first).isoformat()
        except (AttributeError, ValueError, UsageError) as error:
            raise UsageError(f"{name} is {value!r}: give a day, for example 2024-05-31 or 2024") from error

    return read
