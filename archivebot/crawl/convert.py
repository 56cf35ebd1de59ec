"""The border between Scrapy and the archive: a response or a failure becomes a Page, HTML its links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from urllib.parse import urljoin

from lxml import etree
from scrapy import exceptions as scrapy_errors
from scrapy.http import Headers as ScrapyHeaders
from scrapy.http import HtmlResponse, Response
from scrapy.responsetypes import responsetypes
from twisted.internet import error as twisted_errors
from twisted.web._newclient import ParseError

from archivebot.exceptions import UsageError
from archivebot.models import Headers, Outcome, Page
from archivebot.outcome.status import outcome_of
from archivebot.urls import canonical_url

_ADDRESS = {"a": "href", "area": "href", "frame": "src", "iframe": "src"}
_RELATIONS = frozenset(("canonical", "alternate", "next", "prev"))
_OPAQUE = ("#", "javascript:", "mailto:", "tel:", "data:")
_NAMES_A_TARGET = frozenset((201, 300, 301, 302, 303, 307, 308))

# https://html.spec.whatwg.org/multipage/semantics.html#shared-declarative-refresh-steps
_REFRESH = re.compile(r"""\s* [\d.]+ \s* [;,] \s* (?:url \s* = \s*)? ["']? ([^"']*)""", re.I | re.X)

_FAILURES: tuple[tuple[type[BaseException], Outcome], ...] = (
    (scrapy_errors.DownloadTimeoutError, Outcome.TIMEOUT),
    (twisted_errors.TimeoutError, Outcome.TIMEOUT),
    (scrapy_errors.ResponseDataLossError, Outcome.INCOMPLETE),
    (EOFError, Outcome.INCOMPLETE),  # a compressed body that ends too early
    (scrapy_errors.DownloadCancelledError, Outcome.TOO_LARGE),
    (scrapy_errors.IgnoreRequest, Outcome.TOO_LARGE),  # a body that grows past the limit when unpacked
    (scrapy_errors.CannotResolveHostError, Outcome.UNREACHABLE),
    (scrapy_errors.DownloadConnectionRefusedError, Outcome.UNREACHABLE),
    (scrapy_errors.DownloadFailedError, Outcome.UNREACHABLE),
    (twisted_errors.ConnectError, Outcome.UNREACHABLE),
    (twisted_errors.ConnectionClosed, Outcome.UNREACHABLE),
    (OSError, Outcome.UNREACHABLE),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """What one HTML page tells a crawler: the canonical URLs it leads to, and its robots META tags."""

    links: tuple[str, ...] = ()
    robots: tuple[tuple[str, str], ...] = ()
    failed: bool = False


def read(response: Response, *, skip_nofollow: bool = True) -> Reading:
    """Give links (each once, http only) and robots META of an HTML response; any bytes are accepted.

    What is not HTML has neither. A page that lxml cannot read is marked as failed.
    """
    if not isinstance(response, HtmlResponse) or not response.body:
        return Reading()
    try:
        root = _parse(response)
        if root is None:
            return Reading(failed=True)
        base = _base(root, response.url)
        found = (resolve(href, base) for href in _references(root, skip_nofollow))
        return Reading(tuple(dict.fromkeys(url for url in found if url)), tuple(_robots(root)))
    except (etree.LxmlError, ValueError):
        return Reading(failed=True)


def resolve(href: str, base: str) -> str | None:
    """Give the canonical http URL of a reference, or None where it has none.

    >>> resolve(" /b#top", "http://a.example/x/")
    'http://a.example/b'
    >>> resolve("mailto:someone@a.example", "http://a.example/") is None
    True
    """
    href = href.strip()
    if not href or href.lower().startswith(_OPAQUE):
        return None
    if href[0] == "/" and href[1:2] != "/":
        base = base[: base.find("/", 8) + 1] or base
    return _canonical(href, base)


# Navigation repeats the same few hundred references on every page of a site: 64 Ki entries
# (about 20 MB) spare nine of ten canonicalisations on the loopback benchmark.
@lru_cache(maxsize=1 << 16)
def _canonical(href: str, base: str) -> str | None:
    try:
        url = canonical_url(href, base)
    except (UsageError, ValueError):
        return None
    return url if url.startswith(("http://", "https://")) else None


@lru_cache(maxsize=64)
def _parser(encoding: str) -> etree.HTMLParser:
    return etree.HTMLParser(encoding=encoding, remove_comments=True, remove_pis=True, huge_tree=True)


def _parse(response: HtmlResponse) -> etree._Element | None:
    body = response.body
    if b"\0" in body and not response.encoding.startswith("utf-16"):
        body = body.replace(b"\0", b"")
    try:
        parser = _parser(response.encoding)
    except LookupError:  # a charset that Python knows and libxml2 does not
        parser, body = _parser("utf-8"), response.text.encode("utf-8", "replace")
    return etree.fromstring(body, parser)


def _base(root: etree._Element, url: str) -> str:
    element = next(root.iter("base"), None)
    href = element.get("href") if element is not None else None
    return urljoin(url, href.strip()) if href else url


def _references(root: etree._Element, skip_nofollow: bool) -> Iterator[str]:
    for element in root.iter("a", "area", "frame", "iframe", "link", "meta"):
        href = _reference(element)
        if href and not (skip_nofollow and "nofollow" in (element.get("rel") or "").lower()):
            yield href


def _reference(element: etree._Element) -> str | None:
    tag = element.tag
    if tag in _ADDRESS:
        return _attribute(element, _ADDRESS[tag])
    if tag == "link":
        leads_on = _RELATIONS.intersection(_attribute(element, "rel").lower().split())
        return _attribute(element, "href") if leads_on else None
    refresh = _attribute(element, "http-equiv").strip().lower() == "refresh"
    return refresh_target(_attribute(element, "content")) if refresh else None


def _attribute(element: etree._Element, name: str) -> str:
    value: str | None = element.get(name)
    return value or ""


def refresh_target(content: str) -> str | None:
    """Give the address in the content of a META refresh, or None.

    >>> refresh_target("5; url='/next'"), refresh_target("0;URL=http://b.example/"), refresh_target("30")
    ('/next', 'http://b.example/', None)
    """
    found = _REFRESH.match(content)
    return found[1].strip() or None if found else None


def _robots(root: etree._Element) -> Iterator[tuple[str, str]]:
    for element in root.iter("meta"):
        name, content = element.get("name"), element.get("content")
        if name and content:
            yield name.strip().lower(), content


def stored_response(url: str, headers: Headers, body: bytes) -> Response:
    """Make a response of what the archive holds, as if it had just been fetched."""
    fields = ScrapyHeaders()
    for name, value in headers:
        fields.appendlist(name, value.encode("latin-1", "replace"))
    kind = responsetypes.from_args(headers=fields, url=url, body=body)
    return kind(url=url, headers=fields, body=body)


def outcome_of_response(response: Response) -> Outcome:
    """Give the outcome of an answer by its status and whether its body is whole."""
    if "dataloss" in response.flags:
        return Outcome.INCOMPLETE
    return outcome_of(response.status, response.body)


def outcome_of_failure(error: BaseException) -> Outcome:
    """Give the outcome of a fetch that brought no answer."""
    causes = getattr(error.__cause__, "reasons", ())
    if any(reason.check(ParseError) for reason in causes):
        return Outcome.PROTOCOL_ERROR
    return next((outcome for kind, outcome in _FAILURES if isinstance(error, kind)), Outcome.PROTOCOL_ERROR)


def reason_of(error: BaseException) -> str:
    """Say in one line why a fetch brought no answer."""
    reasons = getattr(error.__cause__, "reasons", None)
    text = reasons[0].getErrorMessage() if reasons else str(error)
    return " ".join(text.split()) or type(error).__name__


def headers_of(response: Response) -> Headers:
    """Give the headers as text pairs, repeated ones repeated."""
    return tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in response.headers.items()
        for value in values
    )


def location_of(response: Response) -> str | None:
    """Give the canonical URL that a redirect or a 201 points at, or None."""
    if response.status not in _NAMES_A_TARGET or "Location" not in response.headers:
        return None
    raw = response.headers["Location"] or b""
    return resolve(raw.decode("utf-8", "replace"), response.url)


def page_of(
    response: Response,
    url: str,
    when: datetime,
    outcome: Outcome,
    *,
    links: int = 0,
    level: int | None = None,
) -> Page:
    """Make the Page of an answer: its bytes after content decoding, and what came with them.

    A body that was cut short is kept with its reason; its outcome keeps it from passing for a change.
    """
    whole = outcome is not Outcome.INCOMPLETE
    return Page(
        url=url,
        captured_at=when,
        outcome=outcome,
        status=response.status,
        headers=headers_of(response),
        body=response.body,
        reason="" if whole else f"the body ended after {len(response.body)} bytes",
        location=location_of(response),
        links=links,
        level=level,
    )
