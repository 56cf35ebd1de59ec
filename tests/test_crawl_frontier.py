"""Crawls over a frontier: interrupted and resumed, shared by processes, ended by limits, explained."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from redis import Redis

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from tests.commands import run_scrapy
from tests.conftest import Crawl
from tests.mockserver import MockServer, Reply, html
from tests.servers import RedisServer, redis_server, redis_uri
from tests.test_pipelines import stages

__all__ = ["redis_server", "redis_uri"]

PAGES = 120


def tree(pages: int = PAGES, delay: float = 0.01) -> dict[str, Reply]:
    """Pages in a binary tree, with some links across."""
    paths = ["/", *(f"/{number}" for number in range(1, pages))]
    routes = {}
    for number, path in enumerate(paths):
        children = [2 * number + 1, 2 * number + 2, number * 7 % pages]
        reply = html(*(paths[child] for child in children if child < pages), text=path)
        routes[path] = Reply(reply.body, delay=delay)
    return routes


def captures(crawl: Crawl) -> Counter[str]:
    """Count the captures of each page."""
    archive = Archive.open(ArchiveConfig(uri=crawl.uri))
    try:
        return Counter({url: len(archive.captures(url)) for _, url in archive.pages()})
    finally:
        archive.close()


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert process.poll() is None, "the crawl ended too early"
        assert time.monotonic() < deadline
        time.sleep(0.01)


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


def interrupt(crawl: Crawl, site: MockServer, *options: str) -> None:
    """Start a crawl and kill it when some more pages were asked for."""
    enough = len(site.asked) + random.randint(5, 30)
    process = crawl.start(*options, seeds=site.url())
    wait_for(lambda: len(site.asked) >= enough, process)
    kill(process)


@pytest.mark.long
def test_a_killed_crawl_goes_on_with_the_same_command_and_stores_nothing_twice(
    site: MockServer, crawl: Crawl
) -> None:
    site.routes |= tree()
    for _ in range(3):
        interrupt(crawl, site)
    crawled = crawl(seeds=site.url())
    assert crawled.code == 0
    assert "Goes on with an interrupted crawl" in crawled.log
    assert captures(crawl) == dict.fromkeys((site.url(path) for path in tree()), 1)


@pytest.mark.long
def test_a_page_stored_by_a_process_that_died_before_it_said_so_is_not_fetched_again(
    site: MockServer, crawl: Crawl
) -> None:
    site.routes |= {"/": html("/a"), "/a": html()}
    assert crawl("-s", stages(**{"tests.probes.KillAfterStorage": 900}), seeds=site.url()).code < 0
    crawled = crawl(seeds=site.url())
    assert crawled.code == 0
    assert captures(crawl) == {site.url(): 1, site.url("/a"): 1}
    assert site.paths().count("/") == 1


@pytest.mark.long
def test_a_page_stored_by_a_process_that_was_killed_before_it_said_so_is_not_captured_twice(
    site: MockServer, crawl: Crawl
) -> None:
    site.routes |= {"/": html("/a"), "/a": html()}
    assert crawl("-s", stages(**{"tests.probes.FailAfterStorage": 900}), seeds=site.url()).code == 3
    assert crawl(seeds=site.url()).code == 0
    assert captures(crawl) == {site.url(): 1, site.url("/a"): 1}


@pytest.mark.long
def test_a_page_whose_links_a_power_cut_took_from_the_frontier_loses_none(
    site: MockServer, crawl: Crawl
) -> None:
    site.routes |= {"/": html("/a"), "/a": Reply(html().body, delay=2.0)}
    probes = {"tests.probes.CopyOfFrontier": 50, "tests.probes.KillAfterStorage": 900}
    assert crawl("-s", stages(**probes), seeds=site.url()).code < 0
    for file in crawl.folder.glob("archive.frontier.db*"):
        file.unlink()
    (crawl.folder / "archive.copy.db").rename(crawl.folder / "archive.frontier.db")
    assert captures(crawl) == {site.url(): 1}
    assert crawl(seeds=site.url()).code == 0
    assert set(captures(crawl)) == {site.url(), site.url("/a")}


@pytest.mark.long
@pytest.mark.parametrize("restored", [False, True])
def test_the_pages_of_an_archive_that_was_deleted_or_restored_are_fetched_again(
    site: MockServer, crawl: Crawl, restored: bool
) -> None:
    site.routes |= tree(30, delay=0.05)
    archive = crawl.folder / "archive.db"
    crawl(seeds=site.url(), pages=5)
    assert not archive.with_name("archive.db-wal").exists()  # all of it is in the one file
    copy = archive.read_bytes()
    crawl(seeds=site.url(), pages=10)
    archive.unlink()
    if restored:
        archive.write_bytes(copy)
    crawled = crawl(seeds=site.url())
    assert crawled.code == 0
    why = "was restored from a copy that is older than the crawl" if restored else "is not the one that it"
    assert f"The crawl starts over, because the archive {why}" in crawled.log
    assert set(captures(crawl)) == {site.url(path) for path in tree(30)}


@pytest.mark.long
@pytest.mark.parametrize("suffix", [".db", ".frontier.db"])
def test_a_file_deleted_under_way_ends_the_crawl_with_an_error(
    site: MockServer, crawl: Crawl, suffix: str
) -> None:
    site.routes |= tree(30, delay=0.05)
    probe = ("-s", stages(**{"tests.probes.Deleted": 200}), "-s", f"PROBE_DELETED={suffix}")
    crawled = crawl(*probe, "-s", "ARCHIVE_FRONTIER_PATIENCE=1", seeds=site.url())
    assert crawled.code == 3
    assert f"archive{suffix} was deleted, moved or replaced while it was" in crawled.log


@pytest.mark.long
def test_two_workers_share_a_crawl_over_redis_and_one_is_killed(
    site: MockServer, crawl: Crawl, redis_uri: str
) -> None:
    site.routes |= tree(delay=0.03)
    # Room for both on the one host: else the worker that is there first takes every free place.
    room = ("-s", "ARCHIVE_LOCAL_CONCURRENCY=16", "-s", "CONCURRENT_REQUESTS=8")
    options = ("-s", f"REDIS_URL={redis_uri}", "-s", "ARCHIVE_LEASE_SECONDS=2", *room)
    first = crawl.start(*options, seeds=site.url())
    wait_for(lambda: len(site.asked) > 3, first)
    second = crawl.start(*options, seeds=site.url())
    wait_for(lambda: len(site.asked) > 40, second)
    kill(first)
    assert crawl.finish(second).code == 0
    assert captures(crawl) == dict.fromkeys((site.url(path) for path in tree()), 1)


@pytest.mark.long
def test_a_redis_that_goes_away_for_a_while_does_not_end_the_crawl(
    site: MockServer, crawl: Crawl, tmp_path: Path
) -> None:
    server = RedisServer(tmp_path, "--appendonly", "yes", "--appendfsync", "always")
    if not server.installed:
        pytest.skip("no redis-server: install it with apt-get install redis-server")
    site.routes |= tree(delay=0.02)
    server.start()
    process = crawl.start("-s", f"REDIS_URL={server.uri()}", seeds=site.url())
    try:
        wait_for(lambda: len(site.asked) > 20, process)
        server.kill()
        time.sleep(0.5)
        server.start()
        crawled = crawl.finish(process)
    finally:
        kill(process)
        server.kill()
    assert crawled.code == 0
    assert captures(crawl) == dict.fromkeys((site.url(path) for path in tree()), 1)


def test_a_crawl_on_redis_has_one_connection_and_goes_on_without_a_warning(
    site: MockServer, crawl: Crawl, redis_uri: str
) -> None:
    site.routes |= tree(40, delay=0.05)
    options = ("-s", f"REDIS_URL={redis_uri}")
    first = crawl.start(*options, seeds=site.url())
    wait_for(lambda: len(site.asked) > 3, first)
    with Redis.from_url(redis_uri) as client:
        assert len(client.client_list()) == 2  # this one, and that of the frontier
    kill(first)
    crawled = crawl(*options, seeds=site.url())
    assert "Goes on with an interrupted crawl: " in crawled.log
    assert "Warning" not in crawled.log
    assert captures(crawl) == dict.fromkeys(map(site.url, tree(40)), 1)


@pytest.mark.long
@pytest.mark.parametrize("shared", [True, False])
def test_an_interrupted_crawl_starts_over_with_flush_on_start(
    site: MockServer, crawl: Crawl, redis_uri: str, shared: bool
) -> None:
    site.routes |= tree(30, delay=0.05)
    options = ("-s", f"REDIS_URL={redis_uri}") if shared else ()
    interrupt(crawl, site, *options)
    assert captures(crawl)
    crawled = crawl(*options, "-s", "SCHEDULER_FLUSH_ON_START=True", seeds=site.url())
    assert crawled.code == 0
    assert "The crawl starts over, because SCHEDULER_FLUSH_ON_START is set" in crawled.log
    assert Counter(record["url"] for record in crawled.records) == Counter(map(site.url, tree(30)))


def test_without_scrapy_redis_the_user_is_told_to_install_it(
    site: MockServer, crawl: Crawl, redis_uri: str
) -> None:
    words = ["crawl", "site", "-a", f"seeds={site.url()}", "-s", f"REDIS_URL={redis_uri}"]
    code = (
        "import sys; sys.modules['scrapy_redis'] = None; from archivebot.program.__main__ import main;"
        f" sys.exit(main({words!r}))"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=crawl.folder, stderr=subprocess.PIPE, text=True)
    assert ran.stderr == "archivebot: a crawl on Redis needs scrapy-redis: pip install scrapy-redis\n"
    assert ran.returncode == 2


@pytest.mark.long
def test_with_flush_on_start_a_crawl_that_others_work_on_is_joined(
    site: MockServer, crawl: Crawl, redis_uri: str
) -> None:
    site.routes |= tree(60, delay=1.0)
    options = ("-s", f"REDIS_URL={redis_uri}", "-s", "SCHEDULER_FLUSH_ON_START=True")
    first = crawl.start(*options, seeds=site.url())
    wait_for(lambda: len(site.asked) > 2, first)
    second = run_scrapy(crawl.words(*options, seeds=site.url()))
    first.communicate(timeout=60)
    assert (first.returncode, second.returncode) == (0, 0)
    assert "The crawl starts over" not in second.stderr
    assert captures(crawl) == dict.fromkeys(map(site.url, tree(60)), 1)


def test_a_crawl_that_ended_begins_anew(site: MockServer, crawl: Crawl) -> None:
    site.routes |= {"/": html("/a"), "/a": html()}
    crawl(seeds=site.url())
    again = crawl(seeds=site.url())
    assert [record["kind"] for record in again.records] == ["revisit", "revisit"]


@pytest.mark.long
def test_a_crawl_that_ended_at_its_page_limit_goes_on_with_a_higher_one(
    site: MockServer, crawl: Crawl
) -> None:
    site.routes |= tree(20)
    assert len(crawl(seeds=site.url(), pages=5).records) == 5
    more = crawl(seeds=site.url(), pages=12)
    assert {record["kind"] for record in more.records} == {"new"}
    assert sum(captures(crawl).values()) == 12
    assert len(crawl(seeds=site.url(), pages=12).records) == 12  # not a higher one: a new crawl


@pytest.mark.long
@pytest.mark.parametrize(
    ("limit", "reason"), [({"bytes": "2kB"}, "limit of 2.0 kB"), ({"time": "1"}, "limit of 1 second ")]
)
def test_bytes_and_time_bound_a_run_and_the_next_one_goes_on(
    site: MockServer, crawl: Crawl, limit: dict[str, str], reason: str
) -> None:
    site.routes |= tree(PAGES, delay=0.1)  # up to 32 pages are stored before the crawl learns their sizes
    crawled = crawl(seeds=site.url(), **limit)
    assert reason in crawled.log.rpartition("archivebot: ")[2]
    assert 0 < len(captures(crawl)) < PAGES
    crawl(seeds=site.url())
    assert len(captures(crawl)) == PAGES


@pytest.mark.long
def test_one_request_to_a_host_at_a_time_where_that_is_wanted(site: MockServer, crawl: Crawl) -> None:
    site.routes |= tree(12, delay=0.05)
    crawl("-s", "ARCHIVE_LOCAL_CONCURRENCY=1", seeds=site.url())
    times = sorted(asked.time for asked in site.asked if asked.path != "/robots.txt")
    assert len(times) == 12
    assert all(after - before >= 0.05 for before, after in pairwise(times))


def test_a_link_that_is_refused_does_not_end_the_lease_of_its_url(site: MockServer, crawl: Crawl) -> None:
    """A page too deep for one link may be a seed, which is being fetched."""
    seeds = [site.url(f"/{number}") for number in range(12)]
    site.routes |= {f"/{number}": html(*seeds) for number in range(12)}
    site.routes |= {f"/{number}": Reply(html(*seeds).body, delay=0.3) for number in range(0, 12, 2)}
    assert len(crawl(seeds=",".join(seeds), depth=0, pages=8).records) == 8
    states = crawl.ask("frontier")["states"]
    assert (states["done"], states["answered"], states["rejected"], states["leased"]) == (8, 8, 0, 0)


@pytest.mark.long
def test_the_frontier_is_shown_and_explained(site: MockServer, crawl: Crawl) -> None:
    away = "http://elsewhere.example/x"
    site.routes |= {"/": html("/a", away), "/a": html("/b"), "/b": html("/c"), "/c": html()}
    crawl(seeds=site.url(), depth=2)
    frontier = crawl.ask("frontier")
    assert frontier["states"] | {"done": 3, "rejected": 2, "queued": 0} == frontier["states"]
    assert frontier["reasons"] == {"other_host": 1, "depth": 1}
    assert frontier["ended"] == "finished"
    shown = crawl.ask("frontier", "--top", "1")
    assert shown["rejected"] == frontier["rejected"][:1]
    assert shown["reasons"] == frontier["reasons"]
    explained = crawl.ask("explain", away)
    assert (explained["state"], explained["reason"]) == ("rejected", "other_host")
    assert explained["path"] == [site.url(), away]
    crawl(seeds=site.url("/c"), scope="page")
    first = crawl.ask("explain", away)
    assert (first["crawl"], first["reason"]) == (frontier["crawl"], "other_host")
    assert crawl.ask("explain", site.url("/c"))["crawl"] != first["crawl"]
    nowhere = run_scrapy(("explain", "http://a.example/", "-s", f"ARCHIVE_URI={crawl.uri}"))
    assert nowhere.returncode == 1
    assert "none of the 2 crawls ever met http://a.example/: " in nowhere.stderr
    assert first["crawl"] in nowhere.stderr
    deep = crawl.ask("explain", site.url("/b"))
    assert (deep["state"], deep["path"]) == ("done", [site.url(path) for path in ("/", "/a", "/b")])


@pytest.mark.long
def test_a_failed_page_is_tried_again_on_request_and_a_forgotten_crawl_begins_anew(
    site: MockServer, crawl: Crawl
) -> None:
    site.routes |= {"/": html("/a"), "/a": Reply(b"", 503)}
    crawl("-s", "RETRY_TIMES=0", seeds=site.url())
    assert crawl.ask("frontier")["states"]["failed"] == 1
    site.routes["/a"] = html()
    assert crawl.ask("frontier", "--retry") == {"queued": 1}
    assert [record["url"] for record in crawl(seeds=site.url()).records] == [site.url("/a")]
    assert crawl.ask("frontier", "--forget") == {"forgotten": 2}


def test_numbers_beyond_those_of_sqlite_are_as_good_as_no_limit(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html()
    crawled = crawl(seeds=site.url(), pages=10**23, depth=10**23)
    assert (crawled.code, len(crawled.records)) == (0, 1), crawled.log
    assert crawl.ask("frontier", "--top", str(10**23))["states"]["done"] == 1


def test_a_crawl_is_not_forgotten_and_tried_again_at_once(crawl: Crawl) -> None:
    done = run_scrapy(("frontier", "--forget", "--retry", "rejected", "-s", f"ARCHIVE_URI={crawl.uri}"))
    assert done.stderr == "scrapy frontier: --forget and --retry: give one of them\n"
    assert done.returncode == 2


def test_the_records_of_a_site_crawl_have_no_focus(site: MockServer, crawl: Crawl) -> None:
    site.routes["/"] = html()
    assert "relevance" not in json.dumps(crawl(seeds=site.url()).records)


@pytest.mark.parametrize(
    ("setting", "code", "said"),
    [
        pytest.param(
            "REDIS_URL=redis://127.0.0.1:9/0",
            3,
            "no Redis at 127.0.0.1:9/0 answers: is it running",
            marks=pytest.mark.long,
        ),
        ("ARCHIVE_FRONTIER=sqlite:///{notes}", 3, "the file is damaged or no frontier"),
        ("ARCHIVE_FRONTIER=notes", 2, "'notes' names no frontier"),
    ],
)
def test_a_frontier_that_cannot_be_used_is_one_line_and_nothing_is_fetched(
    site: MockServer, crawl: Crawl, setting: str, code: int, said: str
) -> None:
    notes = crawl.folder / "notes.txt"
    notes.write_text("buy milk")
    crawled = crawl("-s", setting.format(notes=notes), seeds=site.url())
    assert (crawled.code, site.asked) == (code, [])
    assert "Traceback" not in crawled.log
    assert said in crawled.log.splitlines()[-1]
    assert notes.read_text() == "buy milk"
