"""The project's egg in a real scrapyd: deployed, scheduled with arguments, and what the job leaves."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.models import Kind
from tests.mockserver import MockServer, Reply
from tests.servers import free_port
from tests.test_packaging import copy_of_checkout

pytestmark = pytest.mark.long

EGG_NAME = "from-the-egg"  # tells the deployed project from the one that is installed
PATIENCE = 45.0  # seconds until a job has to be over
CONF = """
[scrapyd]
bind_address = 127.0.0.1
http_port = {port}
poll_interval = 0.2
max_proc = 1
items_dir =
"""
FRONT = """<html><head><title>News</title></head><body>
<div><h1>Garden news</h1><p>The roses in the garden bloom, and the roses smell. Roses need water.</p></div>
<div><h2>Weather</h2><p>Rain and more rain: the rain goes on until Friday.</p></div>
<ul><li><a href="/roses.html">All about roses</a></li></ul></body></html>"""
ROSES = "<html><body><h1>Roses</h1><p>Roses are shrubs.</p></body></html>"


@dataclass(frozen=True)
class Scrapyd:
    """A running scrapyd and the folder that it works in."""

    url: str
    folder: Path

    def get(self, command: str, **query: str) -> dict[str, Any]:
        return self._answer(f"{self.url}{command}.json?{urlencode(query)}")

    def post(self, command: str, *fields: tuple[str, str]) -> dict[str, Any]:
        return self._answer(f"{self.url}{command}.json", urlencode(fields).encode())

    def _answer(self, url: str, data: bytes | None = None) -> dict[str, Any]:
        with urlopen(url, data, timeout=20) as answer:
            found: dict[str, Any] = json.load(answer)
        assert found["status"] == "ok", found
        return found

    def finish(self, job: str) -> None:
        """Wait until a job is over."""

        def over() -> bool:
            return job in [entry["id"] for entry in self.get("listjobs", project="archivebot")["finished"]]

        wait_for(over, PATIENCE, f"job {job} is not over")


def wait_for(condition: Callable[[], object], seconds: float, otherwise: str) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.1)


@pytest.fixture(scope="module")
def scrapyd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scrapyd]:
    # scrapyd cannot choose a port itself: port 0 is none to it.
    folder, port = tmp_path_factory.mktemp("scrapyd"), free_port()
    (folder / "scrapyd.conf").write_text(CONF.format(port=port))
    log = folder / "scrapyd.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "scrapyd", "--nodaemon", "--pidfile="],
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,  # its jobs are in its group and end with it
            env=os.environ | {"PYTHONPATH": ""},  # the egg, not the checkout
        )
    try:
        wait_for(lambda: process.poll() is not None or b"Site starting" in log.read_bytes(), 20, "no scrapyd")
        assert process.poll() is None, log.read_text()
        yield Scrapyd(f"http://127.0.0.1:{port}/", folder)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait(20)


@pytest.fixture(scope="module")
def deployed(scrapyd: Scrapyd) -> Scrapyd:
    """The project as scrapyd-deploy puts it there."""
    checkout = copy_of_checkout(scrapyd.folder / "checkout")
    cfg = checkout / "scrapy.cfg"
    cfg.write_text(re.sub(r"(?m)^url = .*$", f"url = {scrapyd.url}", cfg.read_text()))
    settings = checkout / "archivebot" / "settings.py"
    settings.write_text(re.sub(r"(?m)^BOT_NAME = .*$", f'BOT_NAME = "{EGG_NAME}"', settings.read_text()))
    done = subprocess.run(
        [sys.executable, "-m", "scrapyd_client.deploy", "--version", "1", "--debug"],
        cwd=checkout,
        text=True,
        capture_output=True,
        timeout=PATIENCE,
        env=os.environ | {"TMPDIR": str(scrapyd.folder)},  # --debug keeps the egg
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return scrapyd


def test_the_egg_is_listed_with_its_spider(deployed: Scrapyd) -> None:
    assert deployed.get("listversions", project="archivebot")["versions"] == ["1"]
    assert "site" in deployed.get("listspiders", project="archivebot")["spiders"]


def test_the_egg_that_scrapyd_keeps_holds_the_data_and_no_tests(deployed: Scrapyd) -> None:
    (egg,) = (deployed.folder / "eggs").rglob("*.egg")
    names = zipfile.ZipFile(egg).namelist()
    assert "archivebot/text/stopwords.txt" in names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/"))]


def test_a_job_fills_the_archive_and_its_feed(deployed: Scrapyd, site: MockServer, tmp_path: Path) -> None:
    site.routes |= {"/": Reply(FRONT.encode()), "/roses.html": Reply(ROSES.encode())}
    archive, feed = tmp_path / "archive.db", tmp_path / "out.jsonl"
    job = deployed.post(
        "schedule",
        ("project", "archivebot"),
        ("spider", "site"),
        ("seeds", site.url()),
        ("depth", "1"),
        ("setting", f"ARCHIVE_URI=sqlite:///{archive}"),
        ("setting", "FEEDS=" + json.dumps({str(feed): {"format": "jsonlines"}})),
    )["jobid"]
    deployed.finish(job)
    log = (deployed.folder / "logs" / "archivebot" / "site" / f"{job}.log").read_text("utf-8")
    assert f"(bot: {EGG_NAME})" in log
    assert feed.exists(), log
    records = {record["url"]: record for record in map(json.loads, feed.read_text("utf-8").splitlines())}
    assert {url: record["kind"] for url, record in records.items()} == {
        site.url(): "new",
        site.url("/roses.html"): "new",
    }
    check_archive(archive, site)


def check_archive(file: Path, site: MockServer) -> None:
    archive = Archive.open(ArchiveConfig(uri=f"sqlite:///{file}"), create=False)
    try:
        (capture,) = archive.captures(site.url())
        assert capture.kind is Kind.NEW
        assert archive.body(capture) == FRONT.encode()
        topics = " ".join(block.topic for block, _ in archive.blocks(archive.seen(capture)))
        assert "Roses" in topics or "roses" in topics
        assert " the " not in f" {topics} ".lower()  # the list of stop words came with the egg
    finally:
        archive.close()
