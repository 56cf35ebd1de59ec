"""The addresses of mementos, ``/web/<timestamp><modifier>/<url>``, as in other web archives."""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import UTC, datetime

ROOT = "/web/"

# What the tools of other archives write after the timestamp: the exact bytes; a page in a frame; images,
# scripts, style sheets, objects, the banner, service workers, and what pywb uses itself.
MODIFIERS = ("id_", "mp_", "if_", "fr_", "im_", "js_", "cs_", "oe_", "bn_", "sw_", "ir_")
EXACT = "id_"

# Month, day, hour, minute and second of a timestamp: the least and the greatest value of each.
_BOUNDS = ((1, 12), (1, 31), (0, 23), (0, 59), (0, 59))
_EARLIEST, _LATEST = "00000101000000", "99991231235959"

# The digits of a time; 17 have the milliseconds of CDXJ.
TIME = r"(\d{1,14}|\d{17})"
_ADDRESS = re.compile(rf"{TIME}({'|'.join(MODIFIERS)})?/(.+)", re.DOTALL)
# Browsers and proxies merge the two slashes in a path.
_MERGED = re.compile(r"(https?):/(?!/)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Address:
    """What an address asks for: 1 to 14 digits of a time, the modifier ("" for none) and the URL."""

    digits: str
    modifier: str
    url: str


def read_address(text: str) -> Address | None:
    """Read the part of an address after ``/web/``; None if no timestamp comes first.

    >>> read_address("20240101000000id_/http://a.example/?b=/c")
    Address(digits='20240101000000', modifier='id_', url='http://a.example/?b=/c')
    >>> read_address("2024/https:/a.example/").url, read_address("http://a.example/")
    ('https://a.example/', None)
    >>> read_address("20240101000000123/a.example").digits  # the milliseconds of CDXJ
    '20240101000000'
    >>> read_address("202401010000001/a.example")
    """
    found = _ADDRESS.fullmatch(text)
    return Address(found[1][:14], found[2] or "", whole_url(found[3])) if found else None


def whole_url(text: str) -> str:
    """Return a URL with the slashes that a proxy removed.

    >>> whole_url("http:/a.example//b"), whole_url("a.example/b")
    ('http://a.example//b', 'a.example/b')
    """
    return _MERGED.sub(r"\1://", text, count=1) if _MERGED.match(text) else text


def replay_path(digits: str, url: str, modifier: str = "") -> str:
    """Return the path of a memento.

    >>> replay_path("20240101000000", "http://a.example/?b", "im_")
    '/web/20240101000000im_/http://a.example/?b'
    """
    return f"{ROOT}{digits}{modifier}/{url}"


def padded(digits: str, *, end: bool = False) -> str:
    """Return 14 digits for 1 to 14, those of the begin or the ``end`` of the period that they name.

    >>> padded("2014"), padded("201", end=True), padded("20140105101112345")
    ('20140101000000', '20191231235959', '20140105101112')
    >>> padded("20141"), padded("20140", end=True), padded("2014022", end=True)
    ('20141001000000', '20140931235959', '20140229235959')
    """
    digits = digits[:14]
    place = (len(digits) - 5) // 2
    if len(digits) > 4 and len(digits) % 2:  # the first of two digits
        least, most = _BOUNDS[place]
        part = min(int(f"{digits[-1]}9"), most) if end else max(int(f"{digits[-1]}0"), least)
        digits = f"{digits[:-1]}{part:02}"
    return digits + (_LATEST if end else _EARLIEST)[len(digits) :]


def moment(digits: str) -> datetime:
    """Return the last moment of the period that digits name; a part beyond its bound has the bound.

    No capture is older than the web, so no year is before 1970.

    >>> moment("2024").isoformat(), moment("20230231").isoformat()
    ('2024-12-31T23:59:59+00:00', '2023-02-28T23:59:59+00:00')
    """
    whole = padded(digits, end=True)
    parts = [int(whole[:4]), *(int(whole[start : start + 2]) for start in range(4, 14, 2))]
    year, month = max(parts[0], 1970), min(max(parts[1], 1), 12)
    day = min(max(parts[2], 1), monthrange(year, month)[1])
    return datetime(year, month, day, min(parts[3], 23), min(parts[4], 59), min(parts[5], 59), tzinfo=UTC)
