"""Progress: two live lines on a terminal, plain lines elsewhere, a summary at the end."""

import io
import logging
import os
import pty
import re
import subprocess
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from scrapy import Request, Spider
from scrapy.utils.test import get_crawler

from archivebot.config import without_password
from archivebot.crawl.arguments import Arguments
from archivebot.crawl.extensions.progress import Progress, ProgressLog
from archivebot.crawl.extensions.summary import filled
from archivebot.models import Capture, Kind, Outcome
from archivebot.terminal import ERASE, status
from tests.conftest import ROOT, Crawl
from tests.mockserver import MockServer, Reply, html

PROGRESS = Progress(
    pages=30,
    new=5,
    changed=2,
    touched=4,
    unchanged=20,
    gone=0,
    redirects=0,
    not_found=0,
    excluded=0,
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


def make_capture(url: str, kind: Kind, outcome: Outcome, reason: str) -> Capture:
    when = datetime(2026, 5, 4, tzinfo=UTC)
    return Capture(url, url, when, outcome, kind, None, None, None, 0, 0, None, 0, 0, 0, reason)


@pytest.fixture
def crawler() -> Any:
    crawler = get_crawler(Spider, {"ARCHIVE_URI": "mongodb://me:secret@host/a"})
    crawler.spider = crawler._create_spider("watched")
    crawler.stats.set_value("archive/answered", 12)
    crawler.stats.set_value("scheduler/enqueued", 9)
    crawler.stats.set_value("scheduler/dequeued", 4)
    return crawler


def test_a_line_says_everything() -> None:
    assert PROGRESS.line() == (
        "30 pages (3.0/s): 5 new, 2 changed, 4 touched, 20 unchanged; "
        "1.5 MB fetched, 90.0 kB stored; 7 queued, 3 errors"
    )
    rare = replace(PROGRESS, gone=2, redirects=1, not_found=3, excluded=4).line()
    assert "20 unchanged; 2 gone, 1 redirect, 3 not found, 4 excluded; " in rare
    one = replace(PROGRESS, pages=1, errors=1, requisites=1)
    assert one.line().startswith("1 page (0.1/s)")
    assert "; 1 requisite (0 B); " in one.line()
    assert one.line().endswith("7 queued, 1 error")
    assert one.live("", 79).startswith("1 page  ")
    dropped = replace(PROGRESS, dropped_in_tunnels=3)
    assert "; links dropped: 3 behind tunnels, 0 by their scores" in dropped.line()


def test_figures_come_from_the_stats(crawler: Any) -> None:
    progress = ProgressLog(crawler, io.StringIO(), 10)._progress()
    assert (progress.pages, progress.queued, progress.errors) == (12, 5, 0)


def test_on_a_terminal_two_lines_are_redrawn_in_place(crawler: Any) -> None:
    screen = Screen()
    progress = ProgressLog(crawler, screen, 10, lambda: 0.0)
    assert progress.interval == 0.5
    progress._report()
    progress.request_reached_downloader(Request(f"http://a.example/{'long/' * 30}last"))
    progress._report()
    first, again = screen.getvalue().split(f"{ERASE}\x1b[1A{ERASE}")
    assert first == f"{ERASE}12 pages  0.0/s  5 queued  0 errors  0 new  0 changed  0 B stored\n  "
    figures, url = again.splitlines()
    assert url.startswith("  http://a.example/long/")
    assert url.endswith("long/last")
    assert max(len(figures), len(url)) <= 79
    status("", screen)


@pytest.mark.parametrize("columns", [1, 20, 40, 79, 200])
def test_the_live_lines_fit_every_terminal(columns: int) -> None:
    lines = PROGRESS.live("http://a.example/" + "x" * 300, columns).splitlines()
    assert len(lines) == 2
    assert max(map(len, lines)) <= max(3, columns)


def test_a_quiet_log_has_lines_of_progress_elsewhere(crawler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for level, shown in ((logging.WARNING, 1), (logging.INFO, 0)):
        monkeypatch.setattr(
            "archivebot.crawl.extensions.progress.get_scrapy_root_handler",
            lambda at=level: logging.Handler(at),
        )
        out = io.StringIO()
        ProgressLog(crawler, out, 10)._report()
        assert out.getvalue().count("12 pages") == shown


@pytest.mark.parametrize(
    ("reason", "words", "again"),
    [
        ("finished", "finished", ""),
        ("pages", "stopped at your limit of 300 pages", "a higher limit goes on"),
        ("bytes", "stopped at your limit of 5.0 MB", "the same command goes on"),
        ("closespider_timeout", "stopped at your limit of 60 seconds", "the same command goes on"),
        ("shutdown", "interrupted", "the same command goes on"),
        ("storage_error", "stopped because the archive or its frontier failed", "the same command goes on"),
        ("closespider_errorcount", "stopped (closespider_errorcount)", "the same command goes on"),
    ],
)
def test_the_summary_says_why_a_crawl_ended(crawler: Any, reason: str, words: str, again: str) -> None:
    crawler.spider.arguments = Arguments(("http://a.example/",), pages=300, bytes=5_000_000, time=60)
    crawler.stats.set_value("finish_reason", reason)
    summary = ProgressLog(crawler, io.StringIO(), 10).summary()
    assert f"\narchivebot: {words} after" in summary
    assert (f"\n  again:   {again}" if again else "\n  12 pages") in summary


def test_proposed_commands_are_quoted_for_a_shell(crawler: Any) -> None:
    crawler.spider.arguments = Arguments(("http://a.example/?a=1&b=2 3",))
    crawler.settings.frozen = False
    crawler.settings.set("ARCHIVE_URI", "sqlite:///my archive.db", priority="cmdline")
    summary = ProgressLog(crawler, io.StringIO(), 10).summary()
    assert "scrapy changes -s 'ARCHIVE_URI=sqlite:///my archive.db'\n" in summary
    assert (
        "scrapy history 'http://a.example/?a=1&b=2 3' -s 'ARCHIVE_URI=sqlite:///my archive.db'\n" in summary
    )


def test_the_summary_lists_what_failed_and_why(crawler: Any) -> None:
    progress = ProgressLog(crawler, io.StringIO(), 10)
    failed = (Kind.FAILED, Outcome.TIMEOUT, "no answer in 30 s")
    captures = [failed] * 3 + [
        (Kind.EXCLUDED, Outcome.ROBOTS_DENIED, "Disallow: /"),
        (Kind.NEW, Outcome.FETCHED, ""),
        (Kind.EXCLUDED, Outcome.EXCLUDED, "noindex"),
    ]
    captures += [(Kind.FAILED, Outcome.UNREACHABLE, f"reason {number}") for number in range(6)]
    for number, (kind, outcome, reason) in enumerate(captures):
        capture = make_capture(url=f"http://a.example/{number}", kind=kind, outcome=outcome, reason=reason)
        progress.item_scraped(capture)
    lines = [line for line in progress.summary().splitlines() if line.startswith(("  failed:", "  refused:"))]
    assert lines[0] == "  failed:  timeout: http://a.example/0 and 2 more (no answer in 30 s)"
    assert lines[1] == "  refused: robots denied: http://a.example/3 (Disallow: /)"
    assert len(lines) == 6
    assert lines[5] == "  failed:  3 more for other reasons"


def test_failed_pages_do_not_count_as_pages(crawler: Any) -> None:
    crawler.stats.set_value("archive/captures", 15)
    crawler.stats.set_value("archive/excluded", 2)
    crawler.stats.set_value("archive/outcome/robots_denied", 2)
    assert ProgressLog(crawler, io.StringIO(), 10, lambda: 0.0)._progress().line() == (
        "12 pages (0.0/s): 0 new, 0 changed, 0 touched, 0 unchanged; "
        "0 B fetched, 0 B stored; 5 queued, 0 errors; 2 refused by robots.txt"
    )


def test_an_unreachable_robots_txt_is_no_refusal(crawler: Any) -> None:
    for name, count in (
        ("archive/excluded", 2),
        ("archive/outcome/robots_denied", 2),
        ("robots/unreachable", 1),
    ):
        crawler.stats.set_value(name, count)
    progress = ProgressLog(crawler, io.StringIO(), 10)
    reason = "robots.txt unreachable: connection refused"
    progress.item_scraped(make_capture("http://a.example/", Kind.EXCLUDED, Outcome.ROBOTS_DENIED, reason))
    summary = progress.summary()
    assert "1 refused by robots.txt" in summary
    assert "1 without robots.txt: it cannot be reached" in summary
    assert "  failed:  robots.txt unreachable: http://a.example/ (connection refused)\n" in summary


def test_links_out_of_scope_are_named_if_no_other_page_was_found(crawler: Any) -> None:
    progress = ProgressLog(crawler, io.StringIO(), 10)
    crawler.spider.arguments = Arguments(("http://a.example/docs/",), scope="prefix")
    crawler.stats.set_value("scheduler/enqueued", 0)
    crawler.stats.set_value("guard/outside_prefix", 59)
    line = "  scope:   59 links lead out of it (prefix): scrapy frontier lists them\n"
    assert line not in progress.summary()
    crawler.stats.set_value("archive/answered", 1)
    assert line in progress.summary()


def test_a_search_for_forms_says_how_many_it_found(crawler: Any) -> None:
    progress = ProgressLog(crawler, io.StringIO(), 10)
    assert "query forms" not in progress.summary()
    crawler.stats.set_value("archive/query_forms", 0)
    assert "; query forms: 0\n" in progress.summary()
    assert "scrapy frontier\n" in progress.summary()
    crawler.stats.set_value("doors/forms_left_out", 2)
    assert "forms left out on pages off topic: 2\n" in progress.summary()
    crawler.stats.set_value("archive/forms", 1)
    assert "scrapy forms\n" in progress.summary()


def test_a_crawl_that_had_nothing_to_request_has_one_line(crawler: Any) -> None:
    crawler.spider.idle = "no page is due"
    assert ProgressLog(crawler, io.StringIO(), 10).summary() == "archivebot: no page is due\n"


def test_the_summary_fits_80_columns() -> None:
    full = replace(
        PROGRESS,
        gone=2,
        redirects=44,
        not_found=333,
        requisites=12345,
        judged=10,
        relevant=3,
        query_forms=2,
        dropped_in_tunnels=5,
    )
    assert max(map(len, filled(full.parts()))) <= 78


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


def test_the_next_commands_name_the_frontier_of_the_command_line(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html()
    frontier = f"ARCHIVE_FRONTIER=sqlite:///{crawl.folder}/queue.db"
    log = crawl("-s", frontier, seeds=site.url()).log
    assert f"scrapy frontier -s ARCHIVE_URI={crawl.uri} -s {frontier}\n" in log


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
    assert "/a" in text
    for line in text.splitlines():
        visible = line.rpartition("\x1b[K")[2]
        assert visible.count(" pages  ") + visible.count(" DEBUG: ") <= 1


def test_an_interval_of_0_prints_no_lines_of_progress(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html()
    crawled = crawl("-s", "ARCHIVE_PROGRESS_INTERVAL=0", seeds=site.url())
    assert "Traceback" not in crawled.log
