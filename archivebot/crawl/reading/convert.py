"""Converts Scrapy's objects: a response or a failure becomes a Page, HTML becomes a Hypertext."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from scrapy import exceptions as scrapy_errors
from scrapy.http import Headers as ScrapyHeaders
from scrapy.http import Response
from twisted.internet import error as twisted_errors

from archivebot.archive import PageReading
from archivebot.crawl.compat.parser import ParseError
from archivebot.crawl.exchange import WIRE
from archivebot.crawl.reading.pages import read_any, shortened
from archivebot.http.status import outcome_of
from archivebot.hypertext import Hypertext, resolve
from archivebot.markup.contenttype import content_type
from archivebot.markup.media import Media, media_of
from archivebot.models import CRAWL, Headers, Link, Outcome, Page
from archivebot.urls import joined
from archivebot.wire import Wire

REDIRECTS = frozenset((301, 302, 303, 307, 308))
_NAMES_A_TARGET = REDIRECTS | {201, 300}

_CODING = "content-encoding"

_OUTCOMES = frozenset(Outcome)

_FAILURES: tuple[tuple[type[BaseException], Outcome], ...] = (
    (scrapy_errors.DownloadTimeoutError, Outcome.TIMEOUT),
    (twisted_errors.TimeoutError, Outcome.TIMEOUT),
    (scrapy_errors.ResponseDataLossError, Outcome.INCOMPLETE),
    (scrapy_errors.DownloadCancelledError, Outcome.TOO_LARGE),
    (scrapy_errors.IgnoreRequest, Outcome.TOO_LARGE),  # Scrapy's own decoder, if it is switched on
    (scrapy_errors.CannotResolveHostError, Outcome.UNREACHABLE),
    (scrapy_errors.DownloadConnectionRefusedError, Outcome.UNREACHABLE),
    (scrapy_errors.DownloadFailedError, Outcome.UNREACHABLE),
    (twisted_errors.ConnectError, Outcome.UNREACHABLE),
    (twisted_errors.ConnectionClosed, Outcome.UNREACHABLE),
    (OSError, Outcome.UNREACHABLE),
)


def read(response: Response, *, requisites: bool = False, **asked: bool) -> Hypertext:
    """Read a page; a plain text only for its beginning, if context is wanted; other bodies are empty.

    What is ``asked`` for is as in :func:`~archivebot.crawl.reading.pages.read_page`.
    """
    wanted = requisites and media_of_response(response).is_page
    reading = PageReading(shortened(response.body), content_type_of(response))
    return read_any(reading, response.url, requisites=wanted, **asked)


def media_of_response(response: Response) -> Media:
    """Return the media kind of a response, whatever class Scrapy chose for it by other rules."""
    return media_of(response.body, content_type_of(response))


def content_type_of(response: Response) -> str:
    """Return the values of the Content-Type headers of a response."""
    return content_type(headers_of(response))


def flagged(response: Response, outcome: Outcome, reason: str) -> Response:
    """Return an answer that carries an outcome and a reason, which override its status."""
    return response.replace(flags=[*response.flags, f"{outcome.value}: {reason}"])


def outcome_of_response(response: Response) -> Outcome:
    """Return the outcome of an answer by its status and whether its body is complete."""
    return stated_outcome(response)[0] or outcome_of(response.status, response.body)


def stated_outcome(response: Response) -> tuple[Outcome | None, str]:
    """Return the outcome that an answer carries, or None, and its reason."""
    for flag in response.flags:
        name, colon, reason = flag.partition(": ")
        if colon and name in _OUTCOMES:
            return Outcome(name), reason
    if "dataloss" in response.flags:
        return Outcome.INCOMPLETE, f"the body ended after {len(response.body)} bytes"
    return None, ""


def outcome_of_failure(error: BaseException) -> Outcome:
    """Return the outcome of a fetch without an answer."""
    causes = getattr(error.__cause__, "reasons", ())
    if any(reason.check(ParseError) for reason in causes):
        return Outcome.PROTOCOL_ERROR
    return next((outcome for kind, outcome in _FAILURES if isinstance(error, kind)), Outcome.PROTOCOL_ERROR)


def reason_of(error: BaseException) -> str:
    """Return in one line why a fetch has no answer."""
    reasons = getattr(error.__cause__, "reasons", None)
    return " ".join(_words_of(reasons[0].value if reasons else error).split()) or type(error).__name__


def _words_of(error: BaseException) -> str:
    match error.args:
        case (str(what), bytes(line)):  # of Twisted's parser of answers
            return f"{what}: {line.decode('latin-1')}" if line else what
        case ([(_, _, str(what)), *_],):  # of OpenSSL
            return f"TLS: {what}"
        case ("",) if isinstance(error, scrapy_errors.DownloadCancelledError):
            return "more bytes came than a body may have"
    return str(error)


def wire_of(response: Response) -> Wire | None:
    """Return the facts of the exchange that brought an answer, None if they are not known."""
    wire: Wire | None = response.request.meta.get(WIRE) if response.request else None
    if wire is None:
        return None
    codings = [value for name, value in wire.headers if name.lower() == _CODING]
    left = [value.decode("latin-1").strip() for value in response.headers.getlist(_CODING)]
    return wire if codings == left else replace(wire, decoded=True)


def headers_of(response: Response, wire: Wire | None = None) -> Headers:
    """Return the headers as pairs of text, as received, with repetitions."""
    return wire.headers if wire else pairs(response.headers)


def pairs(headers: ScrapyHeaders) -> Headers:
    """Return Scrapy's headers as pairs of text, with repetitions."""
    return tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in headers.items()
        for value in values
    )


def location_of(response: Response) -> str | None:
    """Return the canonical URL that a redirect or a 201 points to, or None."""
    if response.status not in _NAMES_A_TARGET or "Location" not in response.headers:
        return None
    return resolve(_location(response), response.url)


def address_after(response: Response) -> str | None:
    """Return the address to which a redirect leads, as a browser requests it; None for other answers."""
    reference = _location(response) if response.status in REDIRECTS else ""
    return joined(response.url, reference) if reference else None


def _location(response: Response) -> str:
    # w3lib names the handler: a byte that is no UTF-8 is requested as it is, escaped, as browsers do it.
    return (response.headers.get("Location") or b"").decode("utf-8", "percentencode")


def page_of(
    response: Response,
    url: str,
    when: datetime,
    outcome: Outcome,
    *,
    links: tuple[Link, ...] = (),
    level: int | None = None,
    origin: str = CRAWL,
) -> Page:
    """Return the Page of an answer: its bytes after content decoding, its headers and other data.

    The time of the capture is the begin of its exchange, as WARC-Date asks for; if there was no exchange, it
    is ``when``. A body that was cut short or cannot be decoded is kept as received, with the reason. Because
    of its outcome it never counts as a change.
    """
    wire = wire_of(response)
    return Page(
        url=url,
        captured_at=(wire and wire.started) or when,
        outcome=outcome,
        status=response.status,
        headers=headers_of(response, wire),
        body=response.body,
        reason=stated_outcome(response)[1],
        location=location_of(response),
        links=links,
        level=level,
        origin=origin,
        wire=wire,
    )
