"""A crawl always ends: within its patience when the storage is gone, within seconds when it is told to."""

from __future__ import annotations

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from redis import Redis

from tests.conftest import ROOT, Crawl, Crawled
from tests.mockserver import MockServer, Reply, html, markup, robots
from tests.servers import MongoServer, RedisServer
from tests.test_crawl_frontier import captures, tree, wait_for

pytestmark = pytest.mark.long

# What the issue of a crawl may take beyond its patience, and beyond a signal; a busy machine starts slowly.
BEYOND = 20.0
STOPPED = 25.0

PATIENCE = 3.0
IMPATIENT = ("-s", f"ARCHIVE_FRONTIER_PATIENCE={PATIENCE}")


UNTOUCHED = {"queued": 0, "leased": 0, "done": 0, "answered": 0, "failed": 0, "rejected": 0}


def forest(delay: float = 0.05) -> dict[str, Reply]:
    """So many pages that no test comes to their end."""
    return tree(3000, delay)


def begun(crawl: Crawl, site: MockServer, *options: str, pages: int = 12, **arguments: object) -> Popen:
    """Start a crawl and wait until some pages were asked for."""
    process = crawl.start(*options, seeds=site.url(), **arguments)
    wait_for(lambda: len(site.paths()) >= pages, process)
    return process


Popen = subprocess.Popen[str]


def ended(process: Popen, within: float) -> Crawled:
    """Wait for the end of a crawl, which must come in time."""
    try:
        _, log = process.communicate(timeout=within)
    except subprocess.TimeoutExpired:
        process.kill()
        _, log = process.communicate()
        pytest.fail(f"the crawl goes on after {within} seconds:\n{log[-3000:]}")
    return Crawled(process.returncode, log, [])


def assert_failed(crawled: Crawled) -> None:
    """The crawl ended as its storage failed, and said so once."""
    assert crawled.code == 3, crawled.log[-3000:]
    assert "'finish_reason': 'storage_error'" in crawled.log
    assert crawled.log.count("so the crawl ends") == 1


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RedisServer]:
    server = RedisServer(tmp_path)
    if not server.installed:
        pytest.skip("no redis-server: install it with apt-get install redis-server")
    server.start()
    yield server
    server.kill()


@pytest.fixture
def mongo(tmp_path: Path) -> Iterator[MongoServer]:
    folder = tmp_path / "mongo"
    folder.mkdir()
    server = MongoServer(folder)
    if not server.installed:
        pytest.skip("no MongoDB-wire server: install mongod, or Go to build FerretDB")
    server.start()
    yield server
    server.kill()


def stop(server: RedisServer | MongoServer) -> None:
    """Let a server keep its connections and answer nothing."""
    assert server._process is not None
    server._process.send_signal(signal.SIGSTOP)


def fill(server: RedisServer | MongoServer) -> None:
    if isinstance(server, MongoServer):
        server.fill()
        return
    with Redis.from_url(server.uri()) as client:
        client.config_set("maxmemory", "1")


HARM = {"killed": lambda server: server.kill(), "stopped": stop, "full": fill}


@pytest.mark.parametrize("harm", HARM)
def test_a_redis_that_is_gone_for_good_ends_the_crawl(
    site: MockServer, crawl: Crawl, server: RedisServer, harm: str
) -> None:
    site.routes |= forest()
    process = begun(crawl, site, "-s", f"REDIS_URL={server.uri()}", *IMPATIENT)
    HARM[harm](server)
    assert_failed(ended(process, PATIENCE + BEYOND))


def test_a_crawl_that_waits_for_its_redis_is_stopped(
    site: MockServer, crawl: Crawl, server: RedisServer
) -> None:
    site.routes |= forest()
    process = begun(crawl, site, "-s", f"REDIS_URL={server.uri()}")
    stop(server)
    time.sleep(2)
    process.send_signal(signal.SIGTERM)
    assert ended(process, STOPPED).code == 0


@contextmanager
def locked(path: str) -> Iterator[None]:
    """Write a database, and come to no end."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=20)) as database:
        database.execute("BEGIN IMMEDIATE")
        yield


@pytest.mark.parametrize("name", ["archive.frontier.db", "archive.db"])
def test_a_database_that_is_locked_for_good_ends_the_crawl(site: MockServer, crawl: Crawl, name: str) -> None:
    site.routes |= forest()
    process = begun(crawl, site, *IMPATIENT)
    with locked(f"{crawl.folder}/{name}"):
        assert_failed(ended(process, PATIENCE + BEYOND))
    assert crawl(seeds=site.url(), pages=40).code == 0
    assert set(captures(crawl).values()) == {1}


@pytest.mark.parametrize("name", ["archive.frontier.db", "archive.db"])
def test_a_crawl_that_waits_for_a_locked_database_is_stopped(
    site: MockServer, crawl: Crawl, name: str
) -> None:
    site.routes |= forest()
    process = begun(crawl, site)
    with locked(f"{crawl.folder}/{name}"):
        time.sleep(1)
        process.send_signal(signal.SIGTERM)
        assert ended(process, STOPPED).code == 0


@pytest.mark.parametrize("place", ["frontier", "archive"])
def test_a_full_disk_ends_the_crawl(site: MockServer, crawl: Crawl, place: str) -> None:
    """A process may write files of so many blocks of 512 bytes, and is told so as of a full disk."""
    site.routes |= {path: Reply(os.urandom(40_000), type="text/plain") for path in forest()} | {
        "/": Reply(markup(f"/{number}" for number in range(2000)))
    }
    other = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else crawl.folder
    uri = f"sqlite:///{other}/archivebot-{os.getpid()}.db"
    setting = f"ARCHIVE_FRONTIER={uri}" if place == "frontier" else f"ARCHIVE_URI={uri}"
    command = crawl.command("-s", setting, *IMPATIENT, seeds=site.url())
    limited = f"trap '' XFSZ; ulimit -f {1000 if place == 'frontier' else 3000}; exec \"$@\""
    shell = ["sh", "-c", limited, "sh", *command]
    process = subprocess.Popen(shell, cwd=ROOT, text=True, stderr=subprocess.PIPE)
    try:
        crawled = ended(process, 60)
    finally:
        for path in other.glob(f"archivebot-{os.getpid()}*"):
            path.unlink()
    assert_failed(crawled)


@pytest.mark.parametrize(
    ("harm", "told"), [("killed", False), ("stopped", False), ("stopped", True), ("full", False)]
)
def test_a_mongodb_that_is_gone_for_good_ends_the_crawl(
    site: MockServer, crawl: Crawl, mongo: MongoServer, harm: str, told: bool
) -> None:
    site.routes |= forest()
    frontier = f"ARCHIVE_FRONTIER=sqlite:///{crawl.folder}/frontier.db"
    options = ("-s", f"ARCHIVE_URI={mongo.uri('archive')}", "-s", frontier)
    process = begun(crawl, site, *options, *(() if told else IMPATIENT), pages=5)
    HARM[harm](mongo)
    if told:
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        assert ended(process, STOPPED).code == 0
    else:
        crawled = ended(process, PATIENCE + BEYOND)
        assert_failed(crawled)
        assert "ERROR: Spider error processing" not in crawled.log
        assert "ERROR: Error processing" not in crawled.log
    if harm == "full":
        return
    if harm == "stopped":
        mongo.kill()
    mongo.start()
    assert crawl(*options, seeds=site.url(), pages=20).code == 0


def test_a_second_crawl_of_one_host_works_on_a_mongodb(
    site: MockServer, crawl: Crawl, mongo: MongoServer
) -> None:
    options = (
        "-s",
        f"ARCHIVE_URI={mongo.uri('archive')}",
        "-s",
        f"ARCHIVE_FRONTIER=sqlite:///{crawl.folder}/f.db",
    )
    for edition in range(2):
        paths = ["/", *(f"/{number}" for number in range(120))]
        site.routes |= {path: Reply(markup(paths, text=f"{path} in edition {edition}")) for path in paths}
        assert len(crawl(*options, seeds=site.url(), pages=8).records) == 8


def test_a_crawl_delay_does_not_hold_up_the_end(site: MockServer, crawl: Crawl) -> None:
    seeds = [site.url(f"/{page}") for page in range(8)]
    site.routes |= {f"/{page}": Reply(markup(["/20", "/21"])) for page in range(8)}
    site.routes["/robots.txt"] = robots("User-agent: *\nCrawl-delay: 120\n")
    process = crawl.start("-s", "ARCHIVE_CRAWL_DELAY_MAX=120", seeds=",".join(seeds))
    wait_for(lambda: len(site.asked) >= 1, process)
    time.sleep(1)  # the pages wait for the delay after robots.txt
    process.send_signal(signal.SIGINT)
    assert ended(process, STOPPED).code == 0
    assert site.paths() == []
    assert crawl.ask("frontier")["states"] == UNTOUCHED | {"queued": 8}


@pytest.mark.parametrize("silent", ["/", "/robots.txt"])
def test_a_server_that_does_not_answer_does_not_hold_up_the_end(
    site: MockServer, crawl: Crawl, silent: str
) -> None:
    site.routes |= {"/": Reply(markup(["/a"])), "/robots.txt": robots(""), silent: Reply(delay=60)}
    process = crawl.start("-s", "DOWNLOAD_TIMEOUT=60", seeds=site.url())
    wait_for(lambda: any(asked.path == silent for asked in site.asked), process)
    process.send_signal(signal.SIGTERM)
    crawled = ended(process, STOPPED)
    assert crawled.code == 0
    assert crawl.ask("frontier")["states"] == UNTOUCHED | {"queued": 1}, crawled.log


def test_a_wait_for_robots_txt_does_not_hold_up_the_end_and_denies_nothing(
    site: MockServer, crawl: Crawl
) -> None:
    site.routes |= {"/": Reply(markup(["/a"])), "/robots.txt": Reply(status=503)}
    process = crawl.start("-s", "ARCHIVE_RETRY_BASE=50", seeds=site.url())
    wait_for(lambda: len(site.asked) >= 1, process)
    process.send_signal(signal.SIGTERM)
    assert ended(process, STOPPED).code == 0
    assert crawl.ask("frontier")["states"]["queued"] == 1


def test_a_page_without_an_answer_that_waits_for_its_next_try_is_fetched_by_the_crawl_that_goes_on(
    site: MockServer, crawl: Crawl
) -> None:
    answer = Reply(raw=b"")
    site.routes |= {"/": Reply(markup(["/a"])), "/robots.txt": robots(""), "/a": [answer, answer, html()]}
    process = crawl.start("-s", "ARCHIVE_RETRY_BASE=50", seeds=site.url())
    wait_for(lambda: "/a" in site.paths(), process)
    time.sleep(1)  # the wait has begun
    process.send_signal(signal.SIGINT)
    assert ended(process, STOPPED).code == 0
    assert crawl.ask("frontier")["states"] == UNTOUCHED | {"done": 1, "answered": 1, "queued": 1}
    assert crawl(seeds=site.url()).of(site.url("/a"))["status"] == 200
    assert captures(crawl) == {site.url(): 1, site.url("/a"): 1}


def open_files(process: Popen) -> set[str]:
    found = subprocess.run(["ls", "-l", f"/proc/{process.pid}/fd"], text=True, capture_output=True)
    return set(found.stdout.splitlines())


def children_of(process: Popen) -> list[int]:
    """Return the processes that a process started."""
    found = subprocess.run(["pgrep", "-P", str(process.pid)], text=True, capture_output=True)
    return [int(number) for number in found.stdout.split()]


def is_running(number: int) -> bool:
    """Return whether a process runs; one that ended and that nobody waited for does not."""
    try:
        return "Z" not in Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False


@pytest.mark.skipif(not shutil.which("pgrep"), reason="no pgrep")
def test_a_second_signal_ends_a_crawl_at_once_with_its_processes(site: MockServer, crawl: Crawl) -> None:
    site.routes |= forest()
    process = begun(crawl, site)
    children = children_of(process)
    assert len(children) >= 2
    for child in children:
        os.kill(child, signal.SIGSTOP)
    with locked(f"{crawl.folder}/archive.frontier.db"):
        assert told_twice(process, signal.SIGTERM).code == 128 + signal.SIGTERM
    deadline = time.monotonic() + BEYOND
    while any(map(is_running, children)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def told_twice(process: Popen, number: signal.Signals) -> Crawled:
    """Send a signal until the process ends: of two that come soon after each other it may notice one."""
    deadline = time.monotonic() + BEYOND
    while process.poll() is None and time.monotonic() < deadline:
        process.send_signal(number)
        time.sleep(0.5)
    return ended(process, BEYOND)


def test_a_second_interrupt_ends_a_command_at_once(tmp_path: Path, crawl: Crawl) -> None:
    """A command that waits in SQLite is not told of the first one."""
    setting = f"ARCHIVE_URI=sqlite:///{tmp_path}/archive.db"
    ingest = [sys.executable, "-m", "scrapy", "ingest", str(tmp_path / "x.warc"), "-s", setting]
    (tmp_path / "x.warc").write_bytes(b"")
    subprocess.run(ingest, cwd=ROOT, capture_output=True, timeout=60, check=False)
    with locked(f"{tmp_path}/archive.db"):
        process = subprocess.Popen(ingest, cwd=ROOT, text=True, stderr=subprocess.PIPE)
        wait_for(lambda: "archive.db" in str(open_files(process)), process)
        assert told_twice(process, signal.SIGINT).code == 128 + signal.SIGINT


@pytest.mark.skipif(not shutil.which("pgrep"), reason="no pgrep")
def test_a_crawl_that_is_interrupted_while_it_opens_its_archive_crawls_nothing(
    site: MockServer, crawl: Crawl
) -> None:
    site.routes |= {"/": html()}
    crawl(seeds=site.url())
    site.asked.clear()
    with locked(f"{crawl.folder}/archive.db"):
        process = crawl.start(seeds=site.url())
        wait_for(lambda: children_of(process), process)
        time.sleep(1)  # the archive waits for the lock
        process.send_signal(signal.SIGINT)
        crawled = ended(process, BEYOND)
    assert crawled.code == 128 + signal.SIGINT
    assert crawled.log.endswith("archivebot: interrupted before it began: nothing was crawled\n")
    assert site.asked == []


def is_read(pipe: Path, held: ExitStack) -> bool:
    """Return whether a process reads a named pipe; then it waits for what comes, while this is held."""
    try:
        writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
    except OSError:
        return False
    held.callback(os.close, writer)
    return True


def test_a_crawl_that_is_interrupted_while_it_reads_its_files_crawls_nothing(
    tmp_path: Path, crawl: Crawl
) -> None:
    rules = tmp_path / "rules.toml"
    os.mkfifo(rules)
    process = crawl.start("-s", f"ARCHIVE_WATCH={rules}", seeds="http://127.0.0.1:9/")
    with ExitStack() as held:
        wait_for(lambda: is_read(rules, held), process)
        process.send_signal(signal.SIGINT)
        crawled = ended(process, BEYOND)
    assert crawled.code == 128 + signal.SIGINT
    assert crawled.log.endswith("archivebot: interrupted before it began: nothing was crawled\n")


def overlapped(crawl: Crawl, site: MockServer, most: int, after: float, *options: str) -> list[Crawled]:
    """Run the same command twice, the second ``after`` some seconds."""
    first = crawl.start(*options, seeds=site.url(), pages=most)
    time.sleep(after)
    second = crawl.start(*options, seeds=site.url(), pages=most)
    return [ended(process, 60) for process in (first, second)]


OVERLAPS = int(os.environ.get("ARCHIVE_TEST_OVERLAPS", "2"))


@pytest.mark.parametrize("shared", ["sqlite", "redis"])
def test_two_crawls_by_the_same_command_end_at_their_page_limit(
    site: MockServer, tmp_path: Path, server: RedisServer, shared: str
) -> None:
    site.routes |= forest(0.3)
    for number in range(OVERLAPS):
        folder = tmp_path / str(number)
        folder.mkdir()
        crawl = Crawl(folder)
        options = ("-s", f"REDIS_URL={server.uri(number)}") if shared == "redis" else ()
        most = 40
        crawls = overlapped(crawl, site, most, random.uniform(0, 1), *options)
        assert [crawled.code for crawled in crawls] == [0, 0]
        joined = any("Goes on with an interrupted crawl" in crawled.log for crawled in crawls)
        runs = 1 if joined else 2  # the first was over when the second began
        answered = sum(captures(crawl).values())
        assert most * runs <= answered <= (most + 2) * runs, [crawled.log[-1500:] for crawled in crawls]
