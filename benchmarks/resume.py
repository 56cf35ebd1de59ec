"""The result of a crawl that is killed repeatedly, compared with Scrapy's JOBDIR and scrapy-redis.

    python benchmarks/resume.py [--pages 1000] [--kills 30] [--redis] [--keep FOLDER]

A server in its own process serves a site in which each page but the first is linked from one other page
alone: a lost link is never found again. A crawl is killed with SIGKILL at a random moment after its first
request, the same command is given again, and so on; the last run goes on to its end. On Redis, which
`--redis` adds, two workers share a crawl and are killed in turn, each once the other is at work. Both peers
are one stock spider that writes each page to a file at once, unbuffered, after its links: once with JOBDIR,
once with the scheduler, the queue and the filter of scrapy-redis. They are killed as often as ours, and once,
in a second line. Each start names itself in its User-Agent, so that the server can tell when it is at work.
JOBDIR writes what it has seen some kilobytes at a time: killed before the first write, it crawls the site
again; killed after it, it takes pages for done that it never fetched.

Requests are those that the server saw, robots.txt left out; refetched are those for a page asked for
before. Exit codes are those of the last runs. A run that asks for nothing for 90 seconds is ended and
counts as hanging. Exit code 1 if ours loses a page, stores one twice, fails or was not killed as
often as it should be. `--keep` leaves the archives and logs in a folder.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from threading import Thread

from common import ROOT, redis_server
from tables import Row, Table, at_most, report

# Days that a page reports on, each in a paragraph: a crawl of 600 pages makes two dictionaries of its site.
DAYS = 20
LINKS = 10  # to new pages: one page in ten has links, so that most requests under way are for leaves
CONCURRENCY = 8
QUIET = 90  # seconds; the leases of a silent worker last for 60

# The mean share of the site that a single worker fetches before its last kill, at most. Twice that is the
# latest moment of a single kill: it has to come before the site is done.
KILLED = 0.45

# Mean seconds until the server answers. Of two workers one goes on while the other starts, which takes
# 2 to 5 seconds: with 2.0 about half of the site is left after 30 kills.
DELAY = 0.1
SHARED_DELAY = 2.0
SHARED_PAUSE = 1.0

STORED = "stored"  # what the stock spider writes to

STOCK = """
import scrapy
from scrapy.linkextractors import LinkExtractor


class Stock(scrapy.Spider):
    name = "stock"
    links = LinkExtractor()

    def __init__(self, seed, **kwargs):
        super().__init__(**kwargs)
        self.start_urls = [seed]
        self.stored = open("stored", "ab", buffering=0)

    def parse(self, response):
        for link in self.links.extract_links(response):
            yield scrapy.Request(link.url)
        self.stored.write(f"{response.url}\\n".encode())
"""


def page(number: int, pages: int) -> bytes:
    """Return one page: links to the next ones below it, to the one above it and to the first one."""
    linked = [0, (number - 1) // LINKS, *range(LINKS * number + 1, LINKS * number + LINKS + 1)]
    items = "".join(f'<li><a href="/{n}.html">Page {n}</a></li>\n' for n in linked if 0 <= n < pages)
    paragraphs = "\n".join(
        f"<p>The bridge over the river was closed on day {day} of the season, says the report.</p>"
        for day in range(number, number + DAYS)
    )
    return f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Page {number}</title></head>
<body><h1>Page {number} of the gazette</h1>
{paragraphs}
<ul>{items}</ul></body></html>
""".encode()


class Slow(asyncio.Protocol):
    """Answers GET requests on kept-alive connections after a while, and prints who asked for what."""

    answers: dict[str, bytes]
    delay: float

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport, self.buffer = transport, ""

    def data_received(self, data: bytes) -> None:
        *requests, self.buffer = (self.buffer + data.decode("latin-1")).split("\r\n\r\n")
        for request in requests:
            first, *headers = request.split("\r\n")
            path = first.split(" ")[1]
            agent = dict(header.split(": ", 1) for header in headers)["User-Agent"]
            if path in self.answers:
                print(path, agent, flush=True)
            wait = random.uniform(0, 2 * self.delay) if path in self.answers else 0
            asyncio.get_running_loop().call_later(wait, self.answer, path)

    def answer(self, path: str) -> None:
        if not self.transport.is_closing():
            self.transport.write(self.answers.get(path, _answer(b"<p>no such page</p>", "404 Not Found")))


def _answer(body: bytes, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}"
    return f"{head}\r\n\r\n".encode() + body


async def serve(pages: int, delay: float) -> None:
    """Serve the site on a free port, which is printed, until the process is ended."""
    Slow.answers = {f"/{number}.html": _answer(page(number, pages)) for number in range(pages)}
    Slow.delay = delay
    server = await asyncio.get_running_loop().create_server(Slow, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


class Site:
    """What the server of a site was asked for, and by whom."""

    def __init__(self, server: subprocess.Popen[str]) -> None:
        assert server.stdout is not None
        self.seed = f"http://127.0.0.1:{int(server.stdout.readline())}/0.html"
        self.asked: Counter[str] = Counter()
        self.agents: set[str] = set()
        self.last = time.monotonic()
        self._lines = server.stdout
        self.listener = Thread(target=self._listen, daemon=True)
        self.listener.start()

    def _listen(self) -> None:
        for line in self._lines:
            path, agent = line.split()
            self.asked[path] += 1
            self.agents.add(agent)
            self.last = time.monotonic()

    def wait(self, process: subprocess.Popen[bytes], agent: str = "") -> bool:
        """Wait until an agent asks; False where the process ends before, or hangs and is ended."""
        self.last = time.monotonic()
        while process.poll() is None:
            if agent in self.agents:
                return True
            if time.monotonic() - self.last > QUIET:
                process.kill()
            time.sleep(0.01)
        return False


@contextmanager
def site(pages: int, delay: float) -> Iterator[Site]:
    """Serve a site for as long as the context lasts."""
    command = [sys.executable, str(Path(__file__).resolve()), "--serve", str(delay), "--pages", str(pages)]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE) as server:
        try:
            served = Site(server)
            yield served
        finally:
            server.terminate()
        served.listener.join()


@dataclass(frozen=True, slots=True)
class System:
    """A crawler: ours, or the stock spider with some settings; ours shares a Redis with a second worker."""

    name: str
    ours: bool = False
    redis: bool = False
    settings: tuple[tuple[str, str], ...] = ()

    @property
    def shared(self) -> bool:
        return self.ours and self.redis

    def command(self, seed: str, folder: Path, redis: str) -> list[str]:
        """Return the command that crawls from a seed and stores into a folder."""
        settings = {"REDIS_URL": redis, "DOWNLOAD_DELAY": "0", **dict(self.settings)}
        if self.ours:
            words = ["crawl", "site", f"-aseeds={seed}"]
            # The frontier bounds what all workers ask of a host: room for both, or the second one waits.
            settings["ARCHIVE_LOCAL_CONCURRENCY"] = str(CONCURRENCY * (1 + self.shared))
            settings |= {"ARCHIVE_URI": uri_of(folder), "CONCURRENT_REQUESTS": str(CONCURRENCY)}
        else:
            words = ["runspider", "stock.py", f"-aseed={seed}"]
            settings |= {"CONCURRENT_REQUESTS_PER_DOMAIN": str(CONCURRENCY)}
        given = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
        return [sys.executable, "-m", "scrapy", *words, *given]

    def stored(self, folder: Path) -> Counter[str]:
        """Count how often each page was stored."""
        if self.ours:
            return captures(uri_of(folder))
        file = folder / STORED
        return Counter(file.read_text("utf-8").split()) if file.exists() else Counter()


SQLITE = System("SQLite", ours=True)
REDIS = System("Redis, two workers", ours=True, redis=True)
JOBDIR = System("JOBDIR", settings=(("JOBDIR", "job"),))
SCRAPY_REDIS = System(
    "scrapy-redis",
    redis=True,
    settings=(
        ("SCHEDULER", "scrapy_redis.scheduler.Scheduler"),
        ("SCHEDULER_PERSIST", "True"),
        ("DUPEFILTER_CLASS", "scrapy_redis.dupefilter.RFPDupeFilter"),
    ),
)


def uri_of(folder: Path) -> str:
    return f"sqlite:///{folder}/archive.db"


def captures(uri: str) -> Counter[str]:
    """Count the captures of each page of an archive."""
    from archivebot.archive import Archive
    from archivebot.config import ArchiveConfig

    archive = Archive.open(ArchiveConfig(uri=uri))
    try:
        return Counter({url: len(archive.captures(url)) for _, url in archive.pages()})
    finally:
        archive.close()


class Runs:
    """Runs of one command: some at once, the oldest killed and started again."""

    def __init__(self, command: list[str], place: Path, log: Path, served: Site) -> None:
        self.command, self.place, self.log, self.site = command, place, log, served
        self.kills = 0
        self.running: deque[subprocess.Popen[bytes]] = deque()
        self._agents = (f"run-{number}" for number in count(1))

    def start(self) -> bool:
        """Start one more run; False where it ended before it asked for a page."""
        agent = next(self._agents)
        command = [*self.command, "-s", f"USER_AGENT={agent}"]
        with self.log.open("ab") as log:
            self.running.append(subprocess.Popen(command, cwd=self.place, stdout=log, stderr=log))
        return self.site.wait(self.running[-1], agent)

    def kill(self, kills: int, pause: float) -> None:
        """Kill at random moments, up to ``pause`` seconds after the last start is at work."""
        working = True
        while working and self.kills < kills:
            time.sleep(random.uniform(0, pause))
            if self.running[0].poll() is not None:
                return
            self.end()
            self.kills += 1
            working = self.start()

    def end(self) -> None:
        """Kill the oldest run."""
        _end(self.running.popleft())

    def finish(self) -> list[int]:
        """Let the last runs come to their ends, and return their exit codes."""
        for process in self.running:
            self.site.wait(process)
        return [process.wait() for process in self.running]

    def close(self) -> None:
        while self.running:
            _end(self.running.popleft())


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


@dataclass(frozen=True, slots=True)
class Result:
    """What a crawl had at its end; a run that hung was killed, and its code is negative."""

    system: System
    stored: Counter[str]
    asked: Counter[str]
    kills: int
    codes: list[int]

    def row(self, pages: int, kills: int) -> Row:
        """Report the crawl; ours has to store each page once, however often it is killed, and end well."""
        stored, asked = self.stored, self.asked
        lost, twice = pages - len(stored), stored.total() - len(stored)
        codes = " ".join("hangs" if code < 0 else str(code) for code in self.codes)
        again = asked.total() - len(asked)
        cells = *map(str, (len(stored), twice, asked.total(), again, self.kills)), codes
        wrong = lost + twice + kills - self.kills + sum(map(bool, self.codes))
        return Row(self.system.name, cells, at_most(wrong, 0) if self.system.ours else None)


def measure(system: System, folder: Path, pages: int, kills: int) -> Result:
    """Crawl a site of its own with one system, which is killed some times."""
    print(f"{system.name}, {kills} kills ...", file=sys.stderr)
    folder.mkdir(parents=True)
    (folder / "stock.py").write_text(STOCK, "utf-8")
    delay = SHARED_DELAY if system.shared else DELAY
    fetched = KILLED * pages / kills + CONCURRENCY  # of one run, those included that are under way at its end
    pause = SHARED_PAUSE if system.shared else 2 * fetched * DELAY / CONCURRENCY
    with ExitStack() as stack:
        redis = stack.enter_context(redis_server(folder))[0] if system.redis else ""
        served = stack.enter_context(site(pages, delay))
        place = ROOT if system.ours else folder
        runs = Runs(system.command(served.seed, folder, redis), place, folder / "log", served)
        stack.callback(runs.close)
        if all(runs.start() for _ in range(1 + system.shared)):
            runs.kill(kills, pause)
        codes = runs.finish()
    return Result(system, system.stored(folder), served.asked, runs.kills, codes)


def compare(options: argparse.Namespace, folder: Path) -> int:
    """Run all systems and report what they had."""
    pages, kills = options.pages, options.kills
    plan = [(SQLITE, kills), (JOBDIR, kills), (JOBDIR, 1)]
    if options.redis:
        plan += [(REDIS, kills), (SCRAPY_REDIS, kills), (SCRAPY_REDIS, 1)]
    rows = [
        measure(system, folder / str(number), pages, most).row(pages, most)
        for number, (system, most) in enumerate(plan)
    ]
    columns = ("stored", "twice", "requests", "refetched", "kills", "exit code")
    return report(Table(f"{pages} pages", columns, rows))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--redis", action="store_true", help="also on Redis, beside scrapy-redis")
    parser.add_argument("--keep", type=Path, help="a new folder, where the archives and logs are left")
    parser.add_argument("--serve", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve is not None:
        asyncio.run(serve(options.pages, options.serve))
    if options.keep:
        return compare(options, options.keep.resolve())
    with tempfile.TemporaryDirectory() as folder:
        return compare(options, Path(folder))


if __name__ == "__main__":
    sys.exit(main())
