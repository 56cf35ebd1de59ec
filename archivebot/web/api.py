"""The API: questions to the archive over HTTP, answered with the records of the commands as JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from time import monotonic
from typing import Any
from urllib.parse import parse_qs, urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from archivebot.archive import ArchiveReader
from archivebot.exceptions import UsageError
from archivebot.records.question import Given, Part, Question
from archivebot.terminal import commanded
from archivebot.web.limits import Buckets
from archivebot.web.long import LongAnswers
from archivebot.web.openapi import PROBLEM, description
from archivebot.web.readers import Readers
from archivebot.web.safety import INTERFACE, server_address

PREFIX = "/api/"

MOST_FIELDS = 50

# The header that says what an answer lacks.
NOTE = "X-Archive-Note"


async def asked(request: Request, question: Question, given: Given) -> Part:
    """Return the answer to a question as a part; a single record is a part by itself."""
    readers: Readers = request.app.state.readers
    if not question.reads_all:
        return _part(await readers.ask(question.answer, given), given)
    long: LongAnswers = request.app.state.long
    position = await readers.ask(ArchiveReader.position)
    whole = {
        name: value for name, value in given.items() if "skip" not in given or name not in ("skip", "limit")
    }
    key = (question.name, *whole.items())
    found = await long.ask(
        key,
        position,
        lambda reader: question.answer(reader, whole),
        passing=question.passing(given),
        reads_pages=question.reads_pages,
    )
    return _part(found, given)


def _part(answer: Any, given: Given) -> Part:
    if isinstance(answer, Part):
        return answer
    if not isinstance(answer, list):
        return Part([answer])
    skip, limit = given["skip"], given["limit"]
    return Part(answer[skip : skip + limit], {"skip": skip + limit} if len(answer) > skip + limit else None)


async def answer(question: Question, request: Request) -> Response:
    """Answer a request by a question."""
    return await answered(question, request, texts_of(request))


async def answered(question: Question, request: Request, texts: dict[str, list[str]]) -> Response:
    """Answer a request by a question, with the texts of its parameters."""
    check_rate(request)
    given = question.read(texts)
    part = await asked(request, question, given)
    headers = {}
    if part.following:
        following = urlencode(
            {**texts, **{name: [value] for name, value in part.following.items()}}, doseq=True
        )
        headers["Link"] = f'<{server_address(request)}{PREFIX}{question.name}?{following}>; rel="next"'
    if part.notes:
        headers[NOTE] = "; ".join(part.notes)
    return json_answer(
        list(part.records) if question.shape.get("type") == "array" else part.records[0], headers
    )


def texts_of(request: Request) -> dict[str, list[str]]:
    """Return the parameters of a request by name; raises UsageError if they cannot be read."""
    query = request.url.query
    try:
        return parse_qs(query, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise UsageError(f"the parameters cannot be read ({error}): write percent-encoded UTF-8") from error


async def describe(request: Request) -> Response:
    """Return the description of the API."""
    return json_answer(description(request.app.state.questions.values(), request.app.state.version), {})


def check_rate(request: Request) -> None:
    """Raise HTTPException with the status 429 if a client asks too often."""
    buckets: Buckets = request.app.state.buckets
    wait = buckets.wait(request.client.host if request.client else "", monotonic())
    if wait:
        raise HTTPException(
            429,
            f"too many requests: ask again in {wait} seconds, or set ARCHIVE_API_RATE",
            {"Retry-After": str(wait)},
        )


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None) -> Response:
    """Return an error as a program reads it (RFC 9457)."""
    title = HTTPStatus(status).phrase
    found = {"type": "about:blank", "title": title, "status": status, "detail": commanded(detail)}
    return json_answer(found, dict(headers or {}), status, PROBLEM)


def json_answer(
    found: Any, headers: dict[str, str], status: int = 200, type_: str = "application/json"
) -> Response:
    """Return a record, or records, as an answer."""
    text = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    # A lone surrogate, of an address that is no UTF-8, is no text.
    body = text.encode("utf-8", "replace")
    return Response(body, status, {**INTERFACE, **headers, "Content-Type": type_})
