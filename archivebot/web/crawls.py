"""Starting crawls: a request with the token becomes a job of scrapyd."""

from __future__ import annotations

import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException as BrokenAnswer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

from starlette.exceptions import HTTPException

from archivebot.exceptions import UsageError

PROJECT = "archivebot"
TIMEOUT = 10.0

# Characters of a token: fewer can be guessed.
SHORTEST = 16

# Fields of scrapyd's schedule.json that are no arguments of a spider. ``setting`` could write any file.
_RESERVED = frozenset(("project", "spider", "setting", "jobid", "priority", "version", "_version"))
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")


def read_token(path: Path | None) -> str:
    """Return the token in the first line of a file, "" without a file; raises UsageError."""
    if path is None:
        return ""
    try:
        token = path.read_text("utf-8").partition("\n")[0].strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"the token file {path} cannot be read: {reason}") from error
    if len(token) < SHORTEST:
        raise UsageError(
            f"the token in {path} is too short: write at least {SHORTEST} characters in its first line"
        )
    return token


@dataclass(frozen=True, slots=True)
class Crawls:
    """The scrapyd that runs crawls for the archive at ``uri``, and the token that a client needs."""

    token: str = field(default="", repr=False)
    scrapyd: str = ""
    uri: str = ""

    def check(self, authorization: str) -> None:
        """Raise HTTPException unless the value of an Authorization header has the token."""
        if not self.token:
            raise HTTPException(
                403, "this server only reads: start it with --token-file to let clients start crawls"
            )
        scheme, _, given = authorization.partition(" ")
        right = hmac.compare_digest(given.strip().encode(), self.token.encode())
        if scheme.lower() != "bearer" or not right:
            raise HTTPException(
                401,
                "send the token of the server: Authorization: Bearer TOKEN",
                {"WWW-Authenticate": "Bearer"},
            )

    def start(self, body: bytes) -> dict[str, str]:
        """Start the crawl that a JSON text describes; return its job. Raises HTTPException and UsageError."""
        spider, arguments = _read(body)
        if not self.scrapyd:
            raise HTTPException(
                503, "no scrapyd runs crawls for this server: set ARCHIVE_SCRAPYD, as http://localhost:6800/"
            )
        fields = {"project": PROJECT, "spider": spider, "setting": f"ARCHIVE_URI={self.uri}", **arguments}
        answer = self._scheduled(fields)
        if answer.get("status") != "ok":
            raise HTTPException(
                502, f"scrapyd refused the crawl: {answer.get('message', 'without a reason')}"
            )
        return {"job": str(answer.get("jobid", "")), "spider": spider, "project": PROJECT}

    def _scheduled(self, fields: Mapping[str, str]) -> dict[str, Any]:
        address = f"{self.scrapyd.rstrip('/')}/schedule.json"
        try:
            with urlopen(address, urlencode(fields).encode(), timeout=TIMEOUT) as answer:
                found = json.load(answer)
        except (OSError, BrokenAnswer, ValueError) as error:
            raise HTTPException(
                502,
                f"scrapyd at {self.scrapyd} does not answer ({getattr(error, 'reason', error)}): start it",
            ) from error
        return found if isinstance(found, dict) else {}


def _read(body: bytes) -> tuple[str, dict[str, str]]:
    """Read the spider and the arguments of a request; raises UsageError."""
    try:
        given = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the body is no JSON: {error}") from error
    form = '{"spider": "site", "arguments": {"seeds": "https://example.org/"}}'
    if not isinstance(given, dict) or not given.keys() <= {"spider", "arguments"}:
        raise UsageError(f"the body has other fields: write {form}")
    spider, arguments = given.get("spider"), given.get("arguments", {})
    if not isinstance(spider, str) or not _NAME.fullmatch(spider) or not isinstance(arguments, dict):
        raise UsageError(f"the body names no spider and arguments: write {form}")
    for name, value in arguments.items():
        if not _NAME.fullmatch(name) or name in _RESERVED:
            raise UsageError(f"{name[:40]!r} is no argument of a spider")
        if not isinstance(value, str) or value.startswith("@"):
            raise UsageError(
                f"the argument {name} is no text, or names a file of the server: write its value"
            )
    return spider, arguments
