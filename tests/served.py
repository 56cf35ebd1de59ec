"""An archive served by ``scrapy serve`` in a process of its own, and requests to it byte by byte."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from typing import Any
from urllib.parse import quote

from archivebot import Archive, ArchiveConfig, Page
from tests.commands import Started

WAIT = 60
MOST_PARTS = 100


@dataclass(frozen=True)
class Answer:
    """What the server answered."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        found = [value for key, value in self.headers if key.lower() == name.lower()]
        assert len(found) < 2, found
        return found[0] if found else None

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def links(self) -> list[tuple[str, str, dict[str, str]]]:
        """The links of the Link header, or of the body: address, relation, and the other parameters."""
        text = self.header("Link") or self.text
        found = re.findall(r'<([^>]*)>((?:; \w+="[^"]*")+)', text)
        read = [(address, dict(re.findall(r'; (\w+)="([^"]*)"', rest))) for address, rest in found]
        return [(address, given.pop("rel"), given) for address, given in read]


@dataclass(frozen=True)
class Served:
    """A server that answers at an address."""

    process: Started
    address: str

    @property
    def host(self) -> str:
        return self.address.removesuffix("/")

    @property
    def port(self) -> int:
        return int(self.host.rpartition(":")[2])

    def get(self, path: str, method: str = "GET", **headers: str) -> Answer:
        """Ask for a path exactly as it is written; ``accept_datetime`` is the header Accept-Datetime."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=WAIT)
        try:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, headers=named)
            answer: HTTPResponse = connection.getresponse()
            return Answer(answer.status, answer.getheaders(), answer.read())
        finally:
            connection.close()

    def end(self, number: int = signal.SIGINT) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(WAIT)


def by_key(server: Served, question: str) -> list[list[str]]:
    """Return all rows of a question to the CDX server, part by part, by the key at the end of each part."""
    found: list[list[str]] = []
    key = ""
    for _ in range(MOST_PARTS):
        resumed = f"&resumeKey={quote(key)}" if key else ""
        _, *rows = server.get(f"/cdx?{question}&output=json&showResumeKey=true{resumed}").json
        if len(rows) < 2 or rows[-2] != []:
            return found + rows
        found += rows[:-2]
        (key,) = rows[-1]
    raise AssertionError(f"{question} has no end")


@contextmanager
def serving(uri: str, *options: str, bound: bool = False) -> Iterator[Served]:
    """Serve an archive on a free port; if ``bound``, the rights of files apply to it, even to root."""
    with Started(["serve", "--port", "0", "-s", f"ARCHIVE_URI={uri}", *options], bound=bound) as process:
        address = process.stdout.readline().strip()
        if not address.startswith("http://"):
            process.kill()
            raise AssertionError(process.stderr.read())
        yield Served(process, address)


def archived(uri: str, pages: Iterable[Page]) -> str:
    """Store pages in an archive; return its URI."""
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        for page in pages:
            archive.add(archive.segment(page))
    return uri
