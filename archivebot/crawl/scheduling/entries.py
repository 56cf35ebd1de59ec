"""Converts requests into entries of the frontier, and leases into requests."""

from __future__ import annotations

import json

from scrapy import Request, Spider
from scrapy.utils.request import request_from_dict

from archivebot import models
from archivebot.crawl.scheduling import serializer
from archivebot.frontier import Entry, Lease
from archivebot.urls import canonical_url, host_of, with_method

# Keys of Request.meta that the frontier keeps in separate fields ...
SCORE = "archive_score"  # the score of the link that led to a request
DISTANCE = "archive_distance"  # the off-topic pages in a row before it
ORDER = "archive_order"  # the number of the fetch
SOURCE = "archive_source"  # the URL of the page with the link
PARTS = "archive_parts"  # the parts of the score
# The key of a request for a page requisite, whose SOURCE is the page that needs it. Its value is FRAME if the
# page also needs what the answer loads ...
REQUISITE = "archive_requisite"
FRAME = "frame"
# ... and keys that are never written to the frontier.
LINK = "archive_link"  # the evidence of a link, until it is scored
READING = "archive_reading"  # the data read from a page, while its links are scored
SITEMAPS = "archive_sitemaps"  # the URLs of sitemaps in the robots.txt of the host
# Marks requests that belong to no page: for a robots.txt, or to log in.
ROBOTS = "archive_robots"

_KEPT_APART = frozenset((SCORE, DISTANCE, ORDER, SOURCE, PARTS, LINK, READING, SITEMAPS))


def origin_of(request: Request) -> str:
    """Return the origin of the page that answers a request.

    >>> origin_of(Request("http://a.example/"))
    'crawl'
    """
    return models.REQUISITE if REQUISITE in request.meta else models.CRAWL


def key_of(request: Request) -> str:
    """Return the URL under which the answer to a request is stored; for a plain GET, the URL of the page.

    >>> key_of(Request("http://a.example/", method="POST", body="a=b", headers={"Content-Type": "text/csv"}))
    'http://a.example/?__wb_method=POST&__wb_post_data=YT1i'
    """
    kind = (request.headers.get("Content-Type") or b"").decode("latin-1")
    url = with_method(request.url, request.method, kind, request.body)
    return url if url == request.url else canonical_url(url)


def entry_of(request: Request, spider: Spider | None, reason: str = "") -> Entry:
    """Return the entry of a request; ``reason`` is why it is refused, if it is.

    Without a score, the priority of the request is the score.
    """
    meta = request.meta
    record = {name: getattr(request, name) for name in request.attributes}
    record |= {"callback": _name(request.callback, spider), "errback": _name(request.errback, spider)}
    record["meta"] = {name: value for name, value in meta.items() if name not in _KEPT_APART}
    return Entry(
        url=key_of(request),
        host=host_of(request.url),
        score=float(meta.get(SCORE, request.priority)),
        request=serializer.dumps(record),
        source=meta.get(SOURCE, ""),
        distance=meta.get(DISTANCE, 0),
        parts=json.dumps(meta[PARTS], ensure_ascii=False) if PARTS in meta else "",
        reason=reason,
    )


def _name(method: object, spider: Spider | None) -> str | None:
    """Return the name of a spider method; Request.to_dict would search all members, 0.2 ms for each."""
    if method is None:
        return None
    if spider is None or getattr(method, "__self__", None) is not spider:
        raise ValueError(f"{method} is no method of the spider, so no other process could call it")
    return str(method.__name__)  # type: ignore[attr-defined]  # a bound method has a name


def request_of(lease: Lease, spider: Spider | None) -> Request:
    """Return the request of a lease, with the data of the frontier in its meta."""
    entry = lease.entry
    request = request_from_dict(serializer.loads(entry.request), spider=spider)
    known = {SCORE: entry.score, DISTANCE: entry.distance, ORDER: lease.order, SOURCE: entry.source}
    request.meta.update(known)
    return request
