"""The description of the API in OpenAPI 3.1, made from the questions that it answers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from archivebot.records.question import Parameter, Question
from archivebot.records.shapes import SHAPES, ref

PROBLEM = "application/problem+json"

_ERRORS = {
    "400": "A parameter is missing or wrong; the detail says what to write",
    "404": "The archive does not hold it",
    "429": "Too many requests; the header Retry-After says when to ask again",
    "503": "The answer is still computed, or the archive cannot be read; see Retry-After",
}
_CRAWL_ERRORS = {
    "400": "The body is wrong; the detail says what to write",
    "401": "The token is missing or wrong",
    "403": "The server only reads",
    "408": "The body did not come to its end",
    "413": "The body is too large",
    "415": "The body is not sent as application/json",
    "429": _ERRORS["429"],
    "502": "scrapyd does not answer, or refuses the crawl",
    "503": "No scrapyd is set",
}
_WATCH_ERRORS = {
    status: _CRAWL_ERRORS[status] for status in ("400", "401", "403", "408", "413", "415", "429")
} | {
    "409": "Another rule has this name",
    "503": "No rules file is set, or it cannot be read or written",
}
_CRAWL = {
    "type": "object",
    "properties": {
        "spider": {"type": "string", "pattern": "^[A-Za-z][A-Za-z0-9_]{0,39}$", "examples": ["site"]},
        "arguments": {"type": "object", "additionalProperties": {"type": "string"}},
    },
    "required": ["spider"],
    "additionalProperties": False,
}


def description(questions: Iterable[Question], version: str) -> dict[str, Any]:
    """Return the description of an API that answers questions; ``version`` is that of archivebot."""
    paths: dict[str, Any] = {f"/api/{each.name}": {"get": _operation(each)} for each in questions}
    start = {
        "operationId": "startCrawl",
        "summary": "Start a crawl by the scrapyd of the server; needs the token",
        "security": [{"token": []}],
        "requestBody": {"required": True, "content": {"application/json": {"schema": _CRAWL}}},
        "responses": {"202": _answer("The job of scrapyd", ref("Job")), **_problems(_CRAWL_ERRORS)},
    }
    paths["/api/crawls"] = {"post": start}
    paths.setdefault("/api/watches", {})["post"] = {
        "operationId": "addWatch",
        "summary": "Add a rule to the rules file of the server; needs the token",
        "security": [{"token": []}],
        "requestBody": {"required": True, "content": {"application/json": {"schema": ref("WatchRule")}}},
        "responses": {"201": _answer("The rule", ref("WatchRule")), **_problems(_WATCH_ERRORS)},
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "archivebot",
            "version": version,
            "summary": "What an archive holds, as JSON",
            "license": {"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"},
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": SHAPES,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(question: Question) -> dict[str, Any]:
    good = _answer("The answer", question.shape)
    if question.shape.get("type") == "array":
        link = "the next part, with rel=next, if there is one"
        good["headers"] = {"Link": {"description": link, "schema": {"type": "string"}}}
    return {
        "operationId": question.name,
        "summary": question.summary,
        "parameters": list(map(_parameter, question.parameters)),
        "responses": {"200": good, **_problems(_ERRORS)},
    }


def _parameter(parameter: Parameter) -> dict[str, Any]:
    return {
        "name": parameter.name,
        "in": "query",
        "description": parameter.description,
        "required": parameter.is_required,
        "schema": parameter.schema,
    }


def _answer(text: str, shape: dict[str, Any]) -> dict[str, Any]:
    return {"description": text, "content": {"application/json": {"schema": shape}}}


def _problems(errors: dict[str, str]) -> dict[str, Any]:
    content = {PROBLEM: {"schema": ref("Problem")}}
    return {status: {"description": text, "content": content} for status, text in errors.items()}
