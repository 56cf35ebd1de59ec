"""The links between the mementos of a page: Link headers and TimeMaps of RFC 7089."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from email.utils import format_datetime

from archivebot.replay.address import ROOT, replay_path
from archivebot.timestamps import iso_time, timestamp

LINK_FORMAT = "application/link-format"
TYPES = {"link": LINK_FORMAT, "json": "application/json", "cdxj": "application/cdxj+ors"}


@dataclass(frozen=True, slots=True)
class Neighbours:
    """The times of the mementos around one; ``previous`` and ``next`` are None at the ends."""

    first: datetime
    previous: datetime | None
    next: datetime | None
    last: datetime


@dataclass(frozen=True, slots=True)
class Places:
    """The addresses that belong to an archived URL on a server, whose address is ``host``."""

    host: str
    url: str

    @property
    def timegate(self) -> str:
        """The address of the TimeGate."""
        return f"{self.host}{ROOT}{self.url}"

    def timemap(self, form: str = "link", start: datetime | None = None) -> str:
        """Return the address of a TimeMap, of the part of it that begins at ``start``."""
        part = f"{timestamp(start)}/" if start else ""
        return f"{self.host}{ROOT}timemap/{form}/{part}{self.url}"

    def memento(self, when: datetime) -> str:
        """Return the address of the memento of a time."""
        return self.host + replay_path(timestamp(when), self.url)


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a TimeMap: the times of its mementos, and of the first and the last memento of all.

    ``more`` are the times of the first and the last memento of the next part, None if this is the last part.
    """

    times: Sequence[datetime]
    first: datetime
    last: datetime
    more: tuple[datetime, datetime] | None = None


def http_date(when: datetime) -> str:
    """Return a time as an HTTP date.

    >>> http_date(datetime(2024, 1, 1, tzinfo=UTC))
    'Mon, 01 Jan 2024 00:00:00 GMT'
    """
    return format_datetime(when.astimezone(UTC), usegmt=True)


def link_header(places: Places, around: Neighbours | None = None, current: datetime | None = None) -> str:
    """Return the Link header of a memento; without ``around``, of the answer of a TimeGate."""
    links = [_link(places.url, "original")]
    if around is not None:
        links.append(_link(places.timegate, "timegate"))
    links.append(_link(places.timemap(), "timemap", type=LINK_FORMAT))
    if around is not None:
        ends = (around.first, around.last)
        if current is not None and current not in ends:
            links.append(_memento(places, "memento", current))
        if timestamp(around.first) == timestamp(around.last):
            links.append(_memento(places, "first last memento", around.first))
        else:
            links += _memento(places, "first memento", ends[0]), _memento(places, "last memento", ends[1])
        if around.previous:
            links.append(_memento(places, "prev memento", around.previous))
        if around.next:
            links.append(_memento(places, "next memento", around.next))
    return ", ".join(links)


def timemap(places: Places, form: str, part: Part) -> str:
    """Return one part of the TimeMap of a page, as ``link``, ``json`` or ``cdxj``."""
    return {"link": _as_links, "json": _as_json, "cdxj": _as_cdxj}[form](places, part)


def linked(places: Places, own: str, following: str, mementos: Sequence[tuple[str, datetime]]) -> str:
    """Return a TimeMap in link-format with mementos in a given order, each as its URL and its time.

    ``own`` is the address of this TimeMap, ``following`` that of its next part or "".
    """
    times = [when for _, when in mementos]
    first, last = (min(times), max(times)) if times else (None, None)
    links = [
        _link(own, "self", LINK_FORMAT, first, last),
        _link(places.timegate, "timegate"),
        _link(places.url, "original"),
    ]
    if following:
        links.append(_link(following, "timemap", LINK_FORMAT))
    links += (_memento(replace(places, url=url), "memento", when) for url, when in mementos)
    return ",\n".join(links) + "\n"


def _as_links(places: Places, part: Part) -> str:
    start = None if part.times[0] == part.first else part.times[0]
    links = [
        _link(places.timemap("link", start), "self", LINK_FORMAT, part.times[0], part.times[-1]),
        _link(places.timegate, "timegate"),
        _link(places.url, "original"),
    ]
    if part.more:
        links.append(_link(places.timemap("link", part.more[0]), "timemap", LINK_FORMAT, *part.more))
    links += (_memento(places, relation, when) for when, relation in _relations(part))
    return ",\n".join(links) + "\n"


def _as_json(places: Places, part: Part) -> str:
    document = {
        "original_uri": places.url,
        "timegate_uri": places.timegate,
        "timemap_uri": {f"{form}_format": places.timemap(form) for form in TYPES},
        "mementos": {
            "list": [{"datetime": iso_time(when), "uri": places.memento(when)} for when in part.times],
            "first": {"datetime": iso_time(part.first), "uri": places.memento(part.first)},
            "last": {"datetime": iso_time(part.last), "uri": places.memento(part.last)},
        },
    }
    if part.more:
        document["next"] = places.timemap("json", part.more[0])
    return json.dumps(document, ensure_ascii=False, indent=1) + "\n"


def _as_cdxj(places: Places, part: Part) -> str:
    heads = [
        ("!context", ["http://tools.ietf.org/html/rfc7089"]),
        ("!id", {"uri": places.timemap("cdxj")}),
        ("!keys", ["memento_datetime_YYYYMMDDhhmmss"]),
        ("!meta", {"original_uri": places.url}),
        ("!meta", {"timegate_uri": places.timegate}),
        ("!meta", {"timemap_uri": {f"{form}_format": places.timemap(form) for form in TYPES}}),
    ]
    if part.more:
        heads.append(("!meta", {"next": places.timemap("cdxj", part.more[0])}))
    rows = (
        (timestamp(when), {"uri": places.memento(when), "rel": relation, "datetime": http_date(when)})
        for when, relation in _relations(part)
    )
    return "".join(f"{key} {json.dumps(value, ensure_ascii=False)}\n" for key, value in (*heads, *rows))


def _relations(part: Part) -> Iterator[tuple[datetime, str]]:
    for when in part.times:
        ends = ["first"] * (when == part.first) + ["last"] * (when == part.last)
        yield when, " ".join((*ends, "memento"))


def _memento(places: Places, relation: str, when: datetime) -> str:
    return f'{_link(places.memento(when), relation)}; datetime="{http_date(when)}"'


def _link(
    address: str,
    relation: str,
    type: str = "",  # noqa: A002 - it is written so
    start: datetime | None = None,
    end: datetime | None = None,
) -> str:
    """Return a link; a bracket in an address would end it."""
    parts = [f'<{address.replace("<", "%3C").replace(">", "%3E")}>; rel="{relation}"']
    if type:
        parts.append(f'type="{type}"')
    if start and end:
        parts += f'from="{http_date(start)}"', f'until="{http_date(end)}"'
    return "; ".join(parts)
