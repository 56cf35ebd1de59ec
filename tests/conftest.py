"""Fixtures: a local site, and crawls of it as a user starts them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from tests.commands import run_scrapy
from tests.mockserver import MockServer

ROOT = Path(__file__).parents[1]
MONGO = {"mongo_server", "mongo_uri"}


@dataclass(frozen=True)
class Crawled:
    """What one crawl left: its exit code, what it said, and the records of its feed."""

    code: int
    log: str
    records: list[dict[str, Any]]

    def of(self, url: str) -> dict[str, Any]:
        """The one record of a URL."""
        (record,) = [record for record in self.records if record["url"] == url]
        return record

    def stat(self, name: str) -> float:
        """A number from Scrapy's stats; 0 where it was never counted."""
        found = re.search(rf"'{re.escape(name)}': ([\d.]+)", self.log)
        return float(found[1]) if found else 0


@dataclass(frozen=True)
class Crawl:
    """Start ``scrapy crawl`` on an archive of its own in a fresh folder."""

    folder: Path
    spider: str = "site"

    @property
    def uri(self) -> str:
        return f"sqlite:///{self.folder}/archive.db"

    def words(self, *options: str, **arguments: object) -> list[str]:
        """Return the words of the command after ``scrapy``."""
        given = [f"-a{name}={value}" for name, value in arguments.items()]
        quick = ["-v", "-s", f"ARCHIVE_URI={self.uri}", "-s", "ARCHIVE_RETRY_BASE=0.05"]
        feed = ["-O", f"{self.folder}/out.jsonl"]
        return ["crawl", self.spider, *given, *quick, *feed, *options]

    def command(self, *options: str, **arguments: object) -> list[str]:
        """Return the command, for a process of its own."""
        return [sys.executable, "-m", "scrapy", *self.words(*options, **arguments)]

    def ask(self, *command: str) -> Any:
        """Return what a command on the archive prints with --json."""
        answer = run_scrapy((*command, "--json", "-s", f"ARCHIVE_URI={self.uri}"))
        assert not answer.returncode, answer.stderr
        return json.loads(answer.stdout)

    def start(self, *options: str, **arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.command(*options, **arguments), cwd=ROOT, text=True, stderr=subprocess.PIPE
        )

    def __call__(self, *options: str, **arguments: object) -> Crawled:
        done = run_scrapy(self.words(*options, **arguments))
        return self._crawled(done.returncode, done.stderr)

    def finish(self, process: subprocess.Popen[str]) -> Crawled:
        _, log = process.communicate(timeout=60)
        return self._crawled(process.returncode, log)

    def _crawled(self, code: int, log: str) -> Crawled:
        feed = self.folder / "out.jsonl"
        lines = feed.read_text("utf-8").splitlines() if feed.exists() else []
        return Crawled(code, log, [json.loads(line) for line in lines])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests on MongoDB long: they need a server, and repeat on it what is tested on SQLite."""
    for item in items:
        if not MONGO.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.long)


@pytest.fixture
def archive(tmp_path: Path) -> Iterator[Archive]:
    """An archive of its own, empty and open for writing."""
    archive = Archive.open(ArchiveConfig(uri=f"sqlite:///{tmp_path}/a.db"))
    yield archive
    archive.close()


@pytest.fixture
def site() -> Iterator[MockServer]:
    with MockServer() as server:
        yield server


@pytest.fixture
def crawl(tmp_path: Path) -> Crawl:
    return Crawl(tmp_path)
