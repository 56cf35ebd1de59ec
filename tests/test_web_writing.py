"""Requests that write: clients that leave, tokens that no header carries, secrets that stay in a file."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.routing import Route

from archivebot.exceptions import StorageError, UsageError
from archivebot.watch.rulebook import Rulebook
from archivebot.web.limits import Buckets
from archivebot.web.token import Token
from archivebot.web.writing import add_watch

TOKEN = "a-token-that-nobody-guesses"


def answered(rules: Path, messages: list[dict[str, Any]], authorization: str = f"Bearer {TOKEN}") -> int:
    """Return the status of the answer to a request whose body comes in messages."""
    app = Starlette(routes=[Route("/api/watches", add_watch, methods=["POST"])])
    app.state.token, app.state.buckets, app.state.watches = Token(TOKEN), Buckets(0), Rulebook(str(rules))
    sent: list[Any] = []
    waiting = iter(messages)

    async def receive() -> dict[str, Any]:
        return next(waiting)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [
        (b"content-type", b"application/json"),
        (b"authorization", authorization.encode("latin-1")),
    ]
    scope = {
        "type": "http",
        "method": "POST",
        "path": "/api/watches",
        "query_string": b"",
        "headers": headers,
    }
    asyncio.run(app(scope, receive, send))
    return int(sent[0]["status"])


def part(body: bytes, more: bool = False) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_client_that_leaves_in_the_middle_of_its_request_is_no_failure(tmp_path: Path) -> None:
    rules = tmp_path / "rules.toml"
    begun = b'{"name": "prices"'
    assert answered(rules, [part(begun, more=True), {"type": "http.disconnect"}]) == 408
    assert not rules.exists()
    assert answered(rules, [part(begun, more=True), part(b"}")]) == 201


@pytest.mark.parametrize(
    "authorization", ["", "Bearer", "Bearer \xe9\xff", f"Basic {TOKEN}", f"Bearer {TOKEN} x"]
)
def test_what_is_not_the_token_is_refused(tmp_path: Path, authorization: str) -> None:
    assert answered(tmp_path / "rules.toml", [], authorization) == 401


def test_a_token_that_no_header_carries_is_refused_at_the_start(tmp_path: Path) -> None:
    path, token = tmp_path / "token", "schlüssel-den-niemand-errät"
    path.write_text(token, "utf-8")
    with pytest.raises(UsageError, match="not ASCII: write another token"):
        Token.read(path)
    with pytest.raises(HTTPException, match="401"):  # as a client sends it, in UTF-8
        Token(token).check(f"Bearer {token.encode().decode('latin-1')}")


SECRETS = """
[[rule]]
name = "prices"
send = ["hook", "mail"]

[output.hook]
webhook = "https://hooks.example/SECRET"
headers = {X-Key = "SECRET"}

[output.mail]
mail = "a@example.org"
server = "smtps://me:SECRET@mail.example"
"""


def test_rules_are_shown_without_the_secrets_of_their_outputs(tmp_path: Path) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(SECRETS)
    assert Rulebook(str(path)).rules() == [{"name": "prices", "send": ["hook", "mail"]}]


@pytest.mark.parametrize(
    "broken", ["]", "x = SECRET\n", "rule = 'SECRET'\n", "x = 'SECRET\n", "[[output.hook]]"]
)
def test_the_error_of_a_broken_rules_file_shows_no_secret(tmp_path: Path, broken: str) -> None:
    path = tmp_path / "rules.toml"
    path.write_text(SECRETS.replace("[[rule]]", broken, 1))
    with pytest.raises(StorageError, match="mend the file") as raised:
        Rulebook(str(path)).rules()
    assert "SECRET" not in str(raised.value)
