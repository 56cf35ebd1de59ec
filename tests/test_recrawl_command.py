"""scrapy recrawl as a service: rounds until a signal, one on an archive at a time."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from shutil import which

import pytest

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import Busy, NotArchived, UsageError
from archivebot.frontier import frontier_uri, read_frontier
from archivebot.jobs.instance import only_instance
from tests.commands import run_scrapy
from tests.conftest import ROOT, Crawl
from tests.factories import make_page
from tests.mockserver import MockServer, Reply, html
from tests.servers import redis_server, redis_uri

__all__ = ["redis_server", "redis_uri"]

OFTEN = "budget=1000/minute"  # a page is due again within a second
PATIENCE = 60.0  # seconds


def run(crawl: Crawl, *words: str) -> subprocess.CompletedProcess[str]:
    return run_scrapy(("recrawl", *words, "-s", f"ARCHIVE_URI={crawl.uri}"))


def start(crawl: Crawl, *words: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "scrapy", "recrawl", *words, "-s", f"ARCHIVE_URI={crawl.uri}"]
    return subprocess.Popen(command, cwd=ROOT, text=True, stderr=subprocess.PIPE)


def wait_for_visits(site: MockServer, count: int) -> None:
    """Wait until the front page was asked for so often."""
    deadline = time.monotonic() + PATIENCE
    while site.paths().count("/") < count:
        assert time.monotonic() < deadline, site.paths()
        time.sleep(0.05)


def archived(crawl: Crawl, site: MockServer) -> None:
    done = crawl(seeds=site.url())
    assert done.code == 0, done.log
    site.asked.clear()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("-a", "budget=many"), "the budget is 'many'"),
        (("-a", "budget"), "-a 'budget' has no value: write NAME=VALUE"),
        (("--every", "soon"), "--every is 'soon'"),
        (("-a", "policy=best"), "policy is 'best'"),
    ],
)
def test_wrong_arguments_are_refused_before_the_first_round(
    crawl: Crawl, words: tuple[str, ...], said: str
) -> None:
    done = run(crawl, *words)
    assert done.returncode == UsageError.exit_code
    assert said in done.stderr


def test_without_an_archive_there_is_no_service(crawl: Crawl) -> None:
    done = run(crawl, "--forever")
    assert done.returncode == NotArchived.exit_code
    assert "there is no archive" in done.stderr


def test_one_service_and_one_round_run_on_an_archive(crawl: Crawl, site: MockServer) -> None:
    site.routes["/"] = html()
    archived(crawl, site)
    with only_instance(crawl.uri, "service"):
        done = run(crawl, "--forever")
    assert done.returncode == Busy.exit_code
    assert f"process {os.getpid()} already visits the pages of {crawl.uri}" in done.stderr
    with only_instance(crawl.uri):
        again = Crawl(crawl.folder, "recrawl")(budget="1000/minute")
    assert again.code == Busy.exit_code
    assert f"process {os.getpid()} already visits the pages" in again.log
    assert site.paths() == []


@pytest.mark.long
def test_a_round_has_the_name_of_the_program_of_its_service(crawl: Crawl, site: MockServer) -> None:
    site.routes["/"] = html()
    archived(crawl, site)
    words = ("recrawl", "-a", "budget=1/week", "-s", f"ARCHIVE_URI={crawl.uri}")
    done = run_scrapy(words, program="archivebot")
    said = "archivebot: no page is due: archivebot schedule shows when the next page is\n"
    assert (done.returncode, done.stderr) == (0, said)


def units() -> dict[str, str]:
    """Return the unit files of docs/recrawl.md by name."""
    text = (ROOT / "docs/recrawl.md").read_text("utf-8")
    found = re.findall(r"`/etc/systemd/system/([\w.-]+)`:\n\n```ini\n(.*?)```", text, re.DOTALL)
    return dict(found)


def test_systemd_takes_the_unit_files_of_the_documents(tmp_path: Path) -> None:
    if not which("systemd-analyze"):
        pytest.skip("allowed: systemd is not installed")
    assert sorted(name.rpartition(".")[2] for name in units()) == ["service", "service", "timer"]
    program = Path(sys.executable)
    for name, text in units().items():
        text = text.replace("/srv/archive/.venv/bin/scrapy", str(program))
        (tmp_path / name).write_text(text.replace("/srv/archive", str(tmp_path)), "utf-8")
    files = [str(tmp_path / name) for name in units()]
    done = subprocess.run(["systemd-analyze", "verify", *files], capture_output=True, text=True, timeout=60)
    said = [line for line in done.stderr.splitlines() if str(tmp_path) in line or "archivebot-" in line]
    assert (done.returncode, said) == (0, []), done.stderr


@pytest.mark.long
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_service_visits_what_is_due_until_a_signal(crawl: Crawl, site: MockServer, number: int) -> None:
    site.routes["/"] = html()
    archived(crawl, site)
    service = start(crawl, "--forever", "-a", OFTEN)
    wait_for_visits(site, 2)
    service.send_signal(number)
    _, log = service.communicate(timeout=PATIENCE)
    assert service.returncode == 0, log
    assert log.rstrip().endswith("scrapy recrawl: ended by a signal")
    visits = crawl.ask("history", site.url())["captures"]
    assert len(visits) == 1 + site.paths().count("/")
    with only_instance(crawl.uri, "service"), only_instance(crawl.uri):
        pass  # both locks are free again


@pytest.mark.long
def test_a_second_signal_ends_the_service_and_its_round_at_once(crawl: Crawl, site: MockServer) -> None:
    site.routes["/"] = html()
    archived(crawl, site)
    site.routes["/"] = Reply(b"late", delay=PATIENCE)
    service = start(crawl, "--forever", "-a", OFTEN)
    wait_for_visits(site, 1)
    service.terminate()
    time.sleep(0.5)  # two signals at the same moment count once
    service.terminate()
    service.communicate(timeout=10)
    assert service.returncode == 128 + signal.SIGTERM
    with only_instance(crawl.uri):
        pass  # the process of the round has ended, too


@pytest.mark.long
def test_a_round_by_hand_ends_by_itself(crawl: Crawl, site: MockServer) -> None:
    site.routes["/"] = html()
    archived(crawl, site)
    assert run(crawl, "-a", OFTEN).returncode == 0
    assert site.paths().count("/") == 1
    assert run(crawl, "-a", OFTEN).returncode == 0
    with closing(read_frontier(frontier_uri(crawl.uri))) as frontier:
        assert sorted(each.name.partition("-")[0] for each in frontier.crawls()) == ["recrawl", "site"]


@pytest.mark.long
def test_a_service_of_a_collection_waits_for_its_pages_alone(crawl: Crawl, site: MockServer) -> None:
    site.routes |= {"/": html(), "/other": html()}
    done = crawl(seeds=f"{site.url()},{site.url('/other')}", scope="page")
    assert done.code == 0, done.log
    rules = crawl.folder / "rules.toml"
    rules.write_text(f'[collection.home]\nseeds = "{site.url()}"\nscope = "page"\ninterval = "2d"\n')
    words = ("-a", "collection=home", "-a", OFTEN, "-s", f"ARCHIVE_COLLECTIONS={rules}")
    service = start(crawl, "--forever", *words)
    assert service.stderr is not None
    said = next(line for line in service.stderr if "the next round" in line)
    service.terminate()
    service.communicate(timeout=PATIENCE)
    assert said.endswith("the next round is in 900 s\n")


@pytest.mark.long
@pytest.mark.parametrize(("given", "told"), [((), 900), (("--every", "99999999d"), 3_153_600_000)])
def test_a_page_that_may_not_be_visited_starts_no_round_each_second(
    crawl: Crawl, given: tuple[str, ...], told: int
) -> None:
    with Archive.open(ArchiveConfig(uri=crawl.uri)) as archive:  # as a file brings it
        archive.add(archive.segment(make_page(b"<p>A router.</p>", url="http://192.168.1.1/")))
    service = start(crawl, "--forever", *given)
    assert service.stderr is not None
    said = next(line for line in service.stderr if "the next round" in line)
    service.terminate()
    service.communicate(timeout=PATIENCE)
    assert said.endswith(f"the next round is in {told} s\n")


@pytest.mark.long
def test_workers_that_begin_one_after_another_share_a_round_on_redis(
    crawl: Crawl, site: MockServer, redis_uri: str
) -> None:
    pages = [f"/{number}" for number in range(12)]
    site.routes |= {"/": html(*pages), **dict.fromkeys(pages, html())}
    archived(crawl, site)
    time.sleep(1)  # all pages are due
    site.routes |= dict.fromkeys(pages, Reply(html().body, delay=0.7))
    words = ("-s", f"REDIS_URL={redis_uri}", "-s", "ARCHIVE_LOCAL_CONCURRENCY=1")
    again = Crawl(crawl.folder, "recrawl")
    first = again.start(*words, budget="10000/minute")
    wait_for_visits(site, 1)
    second = again.start(*words, budget="10000/minute")
    log = second.communicate(timeout=PATIENCE)[1]
    first.communicate(timeout=PATIENCE)
    assert (first.returncode, second.returncode) == (0, 0), log
    assert "Goes on with an interrupted crawl" in log
    with closing(read_frontier(redis_uri)) as frontier:
        assert [each.counts.done for each in frontier.crawls()] == [13]
    assert len(site.paths()) == 13
