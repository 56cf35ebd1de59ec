"""Starting crawls: a request becomes a job of scrapyd."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from starlette.exceptions import HTTPException

from archivebot.exceptions import UsageError
from archivebot.net import post

PROJECT = "archivebot"
# Seconds in which scrapyd has to answer, and the most bytes of its answer.
TIMEOUT, LARGEST = 10.0, 1 << 16

# Fields of scrapyd's schedule.json that are no arguments of a spider. ``setting`` could write any file.
_RESERVED = frozenset(("project", "spider", "setting", "jobid", "priority", "version", "_version"))
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True)
class Crawls:
    """The scrapyd that runs crawls for the archive at ``uri``."""

    scrapyd: str = ""
    uri: str = ""

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
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        try:
            address = f"{self.scrapyd.rstrip('/')}/schedule.json"
            answer = post(address, urlencode(fields).encode(), headers, TIMEOUT, LARGEST)
            found = json.loads(answer.body)
        except (OSError, ValueError) as error:
            raise HTTPException(
                502, f"scrapyd at {self.scrapyd} does not answer ({error}): start it"
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
