"""The application: which address is answered by whom, and what an error looks like."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Receive, Scope, Send

from archivebot.exceptions import ArchiveError
from archivebot.records.question import Question
from archivebot.watch.rulebook import Rulebook
from archivebot.web import api, pages, surveys, versions, writing
from archivebot.web.cdx import cdx
from archivebot.web.crawls import Crawls
from archivebot.web.limits import Buckets
from archivebot.web.long import LongAnswers
from archivebot.web.missing import error_status, told
from archivebot.web.questions import questions as own_questions
from archivebot.web.readers import Readers, answers
from archivebot.web.replay import replay
from archivebot.web.resources import resources
from archivebot.web.safety import INTERFACE, is_known
from archivebot.web.search import search
from archivebot.web.templating import page
from archivebot.web.token import Token

_STATIC = Path(__file__).with_name("static")


def application(readers: Readers, long: LongAnswers, desk: Desk, bound: str) -> ASGIApp:
    """Return the application over the readers of one archive, for a server bound to an address."""
    questions = {each.name: each for each in (*own_questions(), *desk.questions)}
    routes = [
        Route("/openapi.json", api.describe),
        Route(f"{api.PREFIX}crawls", writing.start_crawl, methods=["POST"]),
        Route(f"{api.PREFIX}watches", writing.add_watch, methods=["POST"]),
        *(Route(api.PREFIX + name, partial(api.answer, each)) for name, each in questions.items()),
        Route("/", surveys.start),
        Route("/site", surveys.site),
        Route("/topic", surveys.topic),
        Route("/duplicates", surveys.duplicates),
        Route("/changes", surveys.changes),
        *(Route(f"/{name}", partial(surveys.survey, name)) for name in surveys.TITLES),
        Route("/page", answers(pages.time_line, by_page=True)),  # it keeps the time lines that it read
        Route("/version", answers(versions.version)),
        Route("/delta", answers(versions.delta)),
        Route("/marked", answers(versions.side)),
        Route("/block", answers(versions.block)),
        Route("/search", search),
        Route("/resources", answers(resources)),
        Route("/web/cdx", answers(cdx)),
        Route("/web/{rest:path}", replay),
        Route("/cdx", answers(cdx)),
        Route("/cdx/search/cdx", answers(cdx)),
        Mount("/static", StaticFiles(directory=_STATIC)),
    ]
    app = Starlette(
        routes=routes,
        exception_handlers={ArchiveError: _failed, HTTPException: _refused},
    )
    app.state.readers, app.state.long = readers, long
    app.state.version = desk.version
    app.state.token, app.state.watches = desk.token, desk.watches
    app.state.questions, app.state.crawls, app.state.buckets = questions, desk.crawls, Buckets(desk.rate)
    return KnownHosts(app, bound, desk.address)


@dataclass(frozen=True, slots=True)
class Desk:
    """What a server offers beside its pages: further questions, and what clients with the token may do.

    Each client may send ``rate`` requests a second; ``processes`` read the archive. ``address`` is the URL
    at which other computers reach the server.
    """

    questions: tuple[Question, ...]
    token: Token
    crawls: Crawls
    watches: Rulebook
    rate: float
    version: str
    processes: int
    address: str


class KnownHosts:
    """Refuses requests that name another server; see :func:`~archivebot.web.safety.is_known`."""

    def __init__(self, app: ASGIApp, bound: str, address: str) -> None:
        self._app, self._bound, self._address = app, bound, address

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "http":
            host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
            if host and not is_known(host, self._bound, self._address):
                refused = PlainTextResponse(f"this is not {host}\n", 421, headers=INTERFACE)
                await refused(scope, receive, send)
                return
        await self._app(scope, receive, send)


async def _failed(request: Request, error: Exception) -> Response:
    assert isinstance(error, ArchiveError)
    status, message = error_status(error), told(error, request.app.state.crawls.uri)
    if is_api(request):
        return api.problem(status, message)
    if request.url.path.startswith(("/cdx", "/web/timemap")) or "accept-datetime" in request.headers:
        return PlainTextResponse(f"{message}\n", status, headers=INTERFACE)
    title = {400: "The address cannot be read", 404: "Not in the archive"}.get(status, "Error")
    return page("error.html", status, title=title, message=message)


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 405:
        allowed = (error.headers or {}).get("Allow", "")
        message = (
            f"{request.url.path} takes {allowed}, not {request.method}"
            if is_api(request)
            else "an archive is only read: no form can be sent to a page of the past"
        )
    elif error.status_code == 404:
        message = f"there is no page {request.url.path}"
    else:
        message = error.detail
    if is_api(request):
        return api.problem(error.status_code, message, error.headers)
    title = "Not ready yet" if error.status_code == 503 else "Error"
    answer = page("error.html", error.status_code, title=title, message=message)
    answer.headers.update(error.headers or {})
    return answer


def is_api(request: Request) -> bool:
    """Return whether a request asks for JSON, so that an error is JSON as well."""
    return request.url.path.startswith(api.PREFIX) or request.query_params.get("format") == "json"
