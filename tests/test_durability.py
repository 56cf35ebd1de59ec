"""Killed at any moment, an archive opens, is whole, and takes the rest when the work is done again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from tests.conftest import ROOT, Crawl
from tests.factories import html
from tests.mockserver import MockServer, Reply
from tests.test_ingest import Warc

pytestmark = pytest.mark.long

# Times that a process is killed; each costs about a second.
KILLS = int(os.environ.get("ARCHIVE_TEST_KILLS", "20"))
PAGES = 40
VERSIONS = 5


def text(page: int, version: int, paragraph: int) -> str:
    """Return a paragraph; one in five changes from version to version."""
    edition = version if paragraph % 5 == 0 else 0
    return f"Paragraph {paragraph} of page {page} in edition {edition} has these words to say. " * 4


def body(page: int, version: int) -> bytes:
    return html(*(text(page, version, paragraph) for paragraph in range(40)))


def verified(uri: str) -> Archive:
    """Open an archive that a killed process left, and check it whole."""
    archive = Archive.open(ArchiveConfig(uri=uri))
    _, damaged = archive.verify()
    assert damaged == []
    return archive


def killed(process: subprocess.Popen[str], after: float) -> bool:
    """Kill a process after some seconds; False where it had ended before."""
    time.sleep(after)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def test_an_ingest_killed_at_random_moments_is_completed_without_duplicates(tmp_path: Path) -> None:
    with Warc(tmp_path / "x.warc.gz") as warc:
        for version in range(VERSIONS):
            for page in range(PAGES):
                url = f"http://example.com/{page}"
                warc.response(f"20{10 + version}-01-01T00:00:00Z", body(page, version), url)
    command = [sys.executable, "-m", "scrapy", "ingest", str(warc.path)]
    rng = random.Random(1)
    kills = round_number = 0
    while kills < KILLS:
        round_number += 1
        uri = f"sqlite:///{tmp_path}/{round_number}.db"
        for _ in range(5):
            environment = {**os.environ, "ARCHIVE_URI": uri}
            process = subprocess.Popen(command, cwd=ROOT, env=environment, text=True, stderr=subprocess.PIPE)
            kills += killed(process, rng.uniform(0.5, 1.3))
            verified(uri).close()
        subprocess.run(command, cwd=ROOT, env=environment, check=True, capture_output=True)
        archive = verified(uri)
        totals = archive.totals()[""]
        assert (totals.captures, totals.versions, totals.urls) == (PAGES * VERSIONS, PAGES * VERSIONS, PAGES)
        for page in range(PAGES):
            captures = archive.captures(f"http://example.com/{page}")
            assert [archive.body(capture) for capture in captures] == [body(page, v) for v in range(VERSIONS)]
        archive.close()


@pytest.mark.usefixtures("site")
def test_a_crawl_killed_at_random_moments_is_completed_without_duplicate_versions(
    site: MockServer, crawl: Crawl
) -> None:
    pages = 60
    links = "".join(f'<a href="/{page}">page {page}</a> ' for page in range(pages))
    site.routes["/"] = Reply(html(links))
    for page in range(pages):
        site.routes[f"/{page}"] = Reply(body(page, 0), headers=(("ETag", f'"{page}"'),))
    rng = random.Random(2)
    kills = 0
    while kills < KILLS:
        kills += killed(crawl.start(seeds=site.url("/")), rng.uniform(0.8, 1.7))
        verified(crawl.uri).close()
    assert crawl(seeds=site.url("/")).code == 0
    archive = verified(crawl.uri)
    totals = archive.totals()[""]
    assert (totals.versions, totals.urls) == (pages + 1, pages + 1)
    for page in range(pages):
        captures = archive.captures(site.url(f"/{page}"))
        assert {archive.body(capture) for capture in captures if capture.digest} == {body(page, 0)}
        assert len({capture.captured_at for capture in captures}) == len(captures)
    archive.close()
