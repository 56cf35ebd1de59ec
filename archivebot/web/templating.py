"""The templates of the interface, with everything from an archive escaped."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from itertools import chain
from typing import Any
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

from archivebot.models import Kind
from archivebot.records.frontier import ending
from archivebot.replay.address import moment, replay_path
from archivebot.terminal import harmless, program
from archivebot.timestamps import timestamp
from archivebot.units import amount, size
from archivebot.urls import host_of, host_of_key, urlkey
from archivebot.web.plots import EVENTS
from archivebot.web.safety import INTERFACE
from archivebot.web.timeline import MARKS

# The areas of the interface that its navigation names: their addresses and names.
AREAS = {
    "": "Sites",
    "changes": "Changes",
    "pages": "Pages",
    "alerts": "Alerts",
    "search": "Search",
    "frontier": "Crawl",
    "topic": "Topic",
    "duplicates": "Duplicates",
    "forms": "Forms",
}

# An edit in the reason of a change, as word_diff marks it.
_EDIT = re.compile(r"\[-(.+?)-\]|\{\+(.+?)\+\}")

_UNITS = ((31_557_600, "year"), (2_629_800, "month"), (86_400, "day"), (3600, "hour"), (60, "minute"))


def page(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """Return a page of the interface."""
    return HTMLResponse(rendered(template, **values), status, headers=INTERFACE)


def rendered(template: str, **values: Any) -> str:
    """Return a template filled with values."""
    return _environment().get_template(template).render(**values)


def address(path: str, **parameters: object) -> str:
    """Return the address of a page of the interface; parameters that are None are left out.

    >>> address("page", url="http://a.example/?b=c", year=None)
    '/page?url=http%3A%2F%2Fa.example%2F%3Fb%3Dc'
    """
    given = {name: value for name, value in parameters.items() if value is not None}
    return f"/{path}?{urlencode(given)}" if given else f"/{path}"


def between(one: datetime, other: datetime) -> str:
    """Return the time between two moments in words, "" if it is less than a second.

    >>> at = datetime(2026, 1, 31, tzinfo=UTC)
    >>> between(at, at), between(at.replace(day=1), at), between(at, at.replace(year=2028))
    ('', '30 days', '1 year')
    """
    seconds = abs(int((one - other).total_seconds()))
    for length, name in _UNITS:
        if count := seconds // length:
            return amount(count, name)
    return amount(seconds, "second") if seconds else ""


def site_of(host: str, crawl: Mapping[str, Any]) -> str:
    """Return a URL on a host of a crawl, with the port of the first URL on it that the crawl names.

    The hosts of a crawl have no ports, because it is polite to a host whatever its port.

    >>> crawl = {"arguments": {"seeds": ["http://a.example:8080/"]}, "next": [], "rejected": []}
    >>> site_of("a.example", crawl), site_of("b.example", crawl), site_of("::1", crawl)
    ('http://a.example:8080/', 'http://b.example/', 'http://[::1]/')
    """
    named = (each["url"] for each in (*crawl["next"], *crawl["rejected"]))
    urls = chain(crawl["arguments"].get("seeds") or (), named)
    other = f"http://[{host}]/" if ":" in host else f"http://{host}/"
    return next((url for url in urls if host_of(url) == host), other)


@cache
def _environment() -> Environment:
    found = Environment(
        loader=PackageLoader("archivebot.web"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
        auto_reload=False,
    )
    found.globals |= {
        "address": address,
        "marks": MARKS,
        "events": EVENTS,
        "areas": AREAS,
        "kinds": list(Kind),
        "replay_path": replay_path,
        "between": between,
        "program": program,
        "site_of": site_of,
    }
    found.filters |= {
        "digits": timestamp,
        "read": moment,
        "moment": _moment,
        "day": _day,
        "ago": _ago,
        "size": size,
        "number": "{:,}".format,
        "host": _host,
        "share": "{:.0%}".format,
        "edits": _edits,
        "ending": ending,
    }
    return found


def _shown(value: Any) -> Any:
    """Make a text harmless: characters that disguise what stands there are replaced."""
    return harmless(value) if type(value) is str else value


def _edits(reason: str) -> Markup:
    """Return the reason of a change with its edits marked.

    >>> str(_edits("was [-2 < 3-]{+9+}"))
    'was <del>2 &lt; 3</del><ins>9</ins>'
    """
    text = escape(harmless(reason))
    return Markup(_EDIT.sub(_marked, text))


def _marked(found: re.Match[str]) -> str:
    removed, added = found.groups()
    return f"<del>{removed}</del>" if removed is not None else f"<ins>{added}</ins>"


def _moment(when: datetime) -> str:
    return f"{when.astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def _host(url: str) -> str:
    """Return the host of a page, with its port if it has one."""
    return host_of_key(urlkey(url))


def _ago(when: datetime) -> str:
    """Return how long ago a moment was, "" if it is to come."""
    now = datetime.now(UTC)
    return f"{between(when, now) or '0 seconds'} ago" if when <= now else ""


def _day(when: datetime) -> str:
    return f"{when.astimezone(UTC):%Y-%m-%d}"
