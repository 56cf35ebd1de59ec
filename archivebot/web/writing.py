"""The requests that write: they need the token, and have a body in JSON."""

from __future__ import annotations

import json
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from archivebot.exceptions import Conflict, StorageError, UsageError
from archivebot.watch.rulebook import Rulebook
from archivebot.web.api import check_rate, json_answer
from archivebot.web.crawls import Crawls
from archivebot.web.token import Token

# Bytes of the body of a request: many seeds, and few enough to be kept in memory.
LARGEST = 64_000


async def start_crawl(request: Request) -> Response:
    """Start a crawl for a client with the token."""
    crawls: Crawls = request.app.state.crawls
    return json_answer(await run_in_threadpool(crawls.start, await _body(request)), {}, 202)


async def add_watch(request: Request) -> Response:
    """Add a rule to the rules file for a client with the token."""
    rule = _object(await _body(request))
    watches: Rulebook = request.app.state.watches
    try:
        await run_in_threadpool(watches.add, rule)
    except Conflict as error:
        raise HTTPException(409, str(error)) from error
    except StorageError as error:
        raise HTTPException(503, str(error)) from error
    return json_answer(rule, {}, 201)


async def _body(request: Request) -> bytes:
    """Return the body of a request; raises HTTPException if it may not write, or sends something else."""
    check_rate(request)
    token: Token = request.app.state.token
    token.check(request.headers.get("authorization", ""))
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "send the body as application/json")
    body = b""
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST:
                raise HTTPException(413, f"the body has more than {LARGEST} bytes: send less at once")
    except ClientDisconnect as error:  # it left, or was too slow
        raise HTTPException(408, "the body did not come to its end") from error
    return body


def _object(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body, parse_constant=_no_number)
        body.decode("utf-8")
        json.dumps(found, ensure_ascii=False).encode()  # raises for half of a surrogate pair
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the body is no JSON in UTF-8: {error}") from error
    if not isinstance(found, dict):
        raise UsageError('the body is no rule: write {"name": "prices", "match": "https://example.org/*"}')
    return found


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")
