"""Progress: one live line on a terminal, plain lines elsewhere, a summary at the end."""

import io
import os
import pty
import re
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scrapy import Spider
from scrapy.utils.test import get_crawler

from archivebot.config import without_password
from archivebot.crawl.extensions.progress import Progress, ProgressLog
from archivebot.terminal import ERASE
from tests.conftest import ROOT, Crawl
from tests.mockserver import MockServer, Reply, html

PROGRESS = Progress(
    pages=30,
    new=5,
    changed=2,
    touched=4,
    unchanged=20,
    gone=0,
    other=0,
    fetched=1_500_000,
    stored=90_000,
    warc=400_000,
    errors=3,
    queued=7,
    seconds=10,
)


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def crawler() -> Any:
    crawler = get_crawler(Spider, {"ARCHIVE_URI": "mongodb://me:secret@host/a"})
    crawler.spider = crawler._create_spider("watched")
    crawler.stats.set_value("archive/captures", 12)
    crawler.stats.set_value("scheduler/enqueued", 9)
    crawler.stats.set_value("scheduler/dequeued", 4)
    return crawler


def test_a_line_says_everything() -> None:
    assert PROGRESS.line() == (
        "30 pages (3.0/s): 5 new, 2 changed, 4 touched, 20 unchanged, 0 other; "
        "1.5 MB fetched, 90.0 kB stored; 7 queued, 3 errors"
    )
    assert "20 unchanged, 2 gone, 0 other" in replace(PROGRESS, gone=2).line()
    dropped = replace(PROGRESS, dropped_in_tunnels=3)
    assert "; links dropped: 3 behind tunnels, 0 by their scores" in dropped.line()


def test_figures_come_from_the_stats(crawler: Any) -> None:
    progress = ProgressLog(crawler, io.StringIO(), 10)._progress()
    assert (progress.pages, progress.queued, progress.errors) == (12, 5, 0)


def test_on_a_terminal_the_line_is_redrawn_in_place(crawler: Any) -> None:
    screen = Screen()
    progress = ProgressLog(crawler, screen, 10)
    assert progress.interval == 0.5
    progress._report()
    assert screen.getvalue().startswith(ERASE + "12 pages")
    assert "\n" not in screen.getvalue()
    assert len(screen.getvalue()) <= 80 + len(ERASE)


def test_a_password_is_not_shown(crawler: Any) -> None:
    assert "secret" not in ProgressLog(crawler, io.StringIO(), 10).summary()
    assert without_password("sqlite:///a.db") == "sqlite:///a.db"


def test_the_summary_says_where_the_archive_is_and_what_comes_next(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html()
    summary = crawl(seeds=site.url()).log.rpartition("\narchivebot: ")[2]
    assert summary.startswith("finished after")
    assert f"archive: {crawl.uri}" in summary
    assert re.search(r"stored:  [\d.]+ k?B of frames; [\d.]+ k?B as WARC.gz \(estimated\)", summary)
    assert "scrapy stats" in summary
    assert f"scrapy history {site.url()} -s ARCHIVE_URI={crawl.uri}" in summary


@pytest.mark.long
def test_elsewhere_plain_lines_come_now_and_then(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": Reply(b"x", delay=0.5)}
    crawled = crawl("-s", "ARCHIVE_PROGRESS_INTERVAL=0.1", seeds=site.url())
    assert "INFO: 0 pages (0.0/s)" in crawled.log
    assert ERASE not in crawled.log


@pytest.mark.long
def test_logs_and_live_line_do_not_mix(site: MockServer, tmp_path: Path) -> None:
    site.routes |= {"/": Reply(html("/a").body, delay=0.8), "/a": Reply(b"x", delay=0.8)}
    ours, theirs = pty.openpty()
    crawl = Crawl(tmp_path)
    process = subprocess.Popen(crawl.command("-L", "DEBUG", seeds=site.url()), cwd=ROOT, stderr=theirs)
    os.close(theirs)
    said = b""
    try:
        while chunk := os.read(ours, 65536):
            said += chunk
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert process.wait(30) == 0
    text = said.decode()
    assert f"{ERASE}0 pages" in text
    assert "queued, 0 errors\x1b[K20" not in text
    for line in text.splitlines():
        visible = line.rpartition("\x1b[K")[2]
        assert visible.count(" pages (") + visible.count(" DEBUG: ") <= 1
