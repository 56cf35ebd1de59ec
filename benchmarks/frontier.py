"""The cost of a frontier of a million URLs, compared with the queues of Scrapy and of stock scrapy-redis.

    python benchmarks/frontier.py [--urls 1000000] [--calls 3000]

The URLs lie on 1,000 hosts and three tenths of them, the best, on one more host, which is busy: it has its
one request under way, so that each lease has to pass it over. Each frontier and each peer is filled and
measured in a process of its own, one after the other; Redis is a redis-server of the benchmark. Filling adds
batches of 30 URLs, as the links of a page come. Then single additions, batches of 30 (counted per URL),
leases, and settling them take turns. Memory is that of the process; the memory of the Redis server is
reported separately. Exit code 1 if a bound fails.

Scrapy's ScrapyPriorityQueue over PickleFifoDiskQueue is what JOBDIR uses for requests of whole priorities;
stock scrapy-redis is its PriorityQueue. Neither knows leases, seen URLs or hosts: their pops are compared
with our leases, which do more, and there is nothing to settle. Scores become one of 100 priorities for them.
On a machine with other work the processor time is more meaningful than the 95th percentile of the clock,
which then measures the wait for a processor.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from common import need, percentile, redis_server, run
from tables import Row, Table, at_most, report

BATCH = 30
HOSTS = 1000
BUSY = 0.3
SEED = 20261121

SLOWEST = 1.0  # ms: the 95th percentile of a call
GROWTH = 20  # MB: what the process may grow by while it fills a frontier of any size
STEPS = ("sqlite", "redis", "jobdir", "scrapy-redis")
PEERS = ("JOBDIR", "scrapy-redis")
CALLS = ("add one", "add, each of 30", "next", "settle")
SHARES = ("p50", "p95", "p95 of CPU")


def urls(count: int) -> Iterator[tuple[str, str, float]]:
    """Yield URLs with their hosts and scores; those of the busy host are the best."""
    chance = random.Random(SEED)
    for number in range(count):
        busy = chance.random() < BUSY
        host = "busy.example" if busy else f"www.host-{chance.randrange(HOSTS)}.example"
        url = f"http://{host}/section-{number % 97}/page-{number}.html?id={chance.getrandbits(32):x}"
        yield url, host, chance.random() + busy


def memory(process: int | str = "self") -> int:
    """Return the resident memory of a process in bytes."""
    pages = Path(f"/proc/{process}/statm").read_text("ascii").split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def timed(call: Callable[[], object], share: int = 1) -> tuple[float, float]:
    """Return the milliseconds that a share of a call takes, and those of our own processor in it."""
    started, cpu = time.perf_counter(), time.process_time()
    call()
    return (time.perf_counter() - started) * 1000 / share, (time.process_time() - cpu) * 1000 / share


def figures(name: str, values: list[tuple[float, float]]) -> dict[str, float]:
    wall, cpu = zip(*values, strict=True)
    return {
        f"{name}, p50": percentile(wall, 0.5),
        f"{name}, p95": percentile(wall, 0.95),
        f"{name}, p95 of CPU": percentile(cpu, 0.95),
    }


def measure(
    count: int,
    calls: int,
    add: Callable[[list[Any]], object],
    take: Callable[[], object],
    settle: Callable[[], object],
    make: Callable[..., Any],
) -> dict[str, float]:
    """Fill a queue, then time additions and takings in turns."""
    source = urls(count + calls * (BATCH + 1))
    before = memory()
    started = time.perf_counter()
    batch: list[Any] = []
    for number, found in enumerate(source, 1):
        batch.append(make(*found))
        if len(batch) == BATCH or number == count:
            add(batch)
            batch = []
        if number == count:
            break
    filled = time.perf_counter() - started
    after = memory()
    singles, batches, takings, settlings = [], [], [], []
    for _ in range(calls):
        one, many = [make(*next(source))], [make(*next(source)) for _ in range(BATCH)]
        singles.append(timed(partial(add, one)))
        batches.append(timed(partial(add, many), BATCH))
        takings.append(timed(take))
        settlings.append(timed(settle))
    return {
        **figures("add one", singles),
        **figures("add, each of 30", batches),
        **figures("next", takings),
        **figures("settle", settlings),
        "seconds": filled,
        "grown": after - before,
        "grown later": memory() - after,
    }


def ours(uri: str, count: int, calls: int) -> dict[str, float]:
    """Measure a frontier; a host has to be settled before it is leased again."""
    from archivebot.frontier import Entry, Lease, State, open_frontier

    request = json.dumps({"method": "GET", "meta": {"depth": 3, "kind": "link", "role": "main"}})
    parts = json.dumps({"anchor": 0.123456, "url": 0.234567, "context": 0.345678, "source": 0.456789})

    def make(url: str, host: str, score: float) -> Entry:
        return Entry(url, host, score, request, f"http://{host}/index.html", 1, parts)

    frontier = open_frontier(uri, "benchmark")
    frontier.begin("{}", None)
    frontier.add([make("http://busy.example/", "busy.example", 9.0)])
    frontier.lease()

    held: list[Lease | None] = []

    def take() -> None:
        held.append(frontier.lease())

    def settle() -> None:
        lease = held.pop()
        assert lease is not None
        frontier.settle(lease.entry.url, State.DONE, answered=True, relevance=0.5, relevant=True)

    found = measure(count, calls, frontier.add, take, settle, make)
    assert frontier.counts().done == calls
    frontier.close()
    return found


def requests() -> Callable[..., Any]:
    from scrapy import Request

    def make(url: str, host: str, score: float) -> Request:
        return Request(url, priority=int(score * 50), meta={"depth": 3, "kind": "link", "role": "main"})

    return make


def jobdir(folder: str, count: int, calls: int) -> dict[str, float]:
    """Measure the queue that JOBDIR keeps on disk; closing it writes what it holds in memory."""
    from scrapy import Spider
    from scrapy.pqueues import ScrapyPriorityQueue
    from scrapy.squeues import PickleFifoDiskQueue
    from scrapy.utils.test import get_crawler

    crawler = get_crawler(Spider)
    crawler.spider = Spider("benchmark")
    queue = ScrapyPriorityQueue.from_crawler(crawler, PickleFifoDiskQueue, folder)

    def add(batch: list[Any]) -> None:
        for request in batch:
            queue.push(request)

    found = measure(count, calls, add, queue.pop, bool, requests())
    queue.close()
    return found


def stock(uri: str, count: int, calls: int) -> dict[str, float]:
    """Measure the priority queue of scrapy-redis as it comes."""
    from redis import Redis
    from scrapy import Spider
    from scrapy_redis.queue import PriorityQueue

    with Redis.from_url(uri) as server:
        queue = PriorityQueue(server, Spider("benchmark"), "%(spider)s:requests")

        def add(batch: list[Any]) -> None:
            for request in batch:
                queue.push(request)

        return measure(count, calls, add, queue.pop, bool, requests())


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--urls", type=int, default=1_000_000, help="URLs that the frontier holds (1000000)")
    parser.add_argument("--calls", type=int, default=3000, help="times that each call is measured (3000)")
    parser.add_argument("--step", choices=STEPS, help=argparse.SUPPRESS)
    parser.add_argument("--target", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        step = {"jobdir": jobdir, "scrapy-redis": stock}.get(options.step, ours)
        print(json.dumps(step(options.target, options.urls, options.calls)))
        return 0
    return compare(options)


def child(step: str, target: object, options: argparse.Namespace) -> dict[str, float]:
    """Run one step in a process of its own and return its figures."""
    sizes = ["--urls", str(options.urls), "--calls", str(options.calls)]
    command = [sys.executable, str(Path(__file__).resolve()), "--step", step, "--target", str(target), *sizes]
    print(f"{step} ...", file=sys.stderr)
    found: dict[str, float] = json.loads(need(run(command), step).stdout)
    return found


def table(count: int, calls: int, found: Mapping[str, dict[str, float]], sizes: Sequence[int]) -> Table:
    """Set the frontiers beside the queues; the bounds are for the frontier in SQLite."""
    ours = found["SQLite"]
    rows = [
        Row(
            f"{call}, {share}, ms",
            ["" if lacks(name, call) else f"{each[f'{call}, {share}']:.3f}" for name, each in found.items()],
            at_most(ours[f"{call}, {share}"], SLOWEST) if share == "p95" else None,
        )
        for call in CALLS
        for share in SHARES
    ]
    for key, name in (("grown", "while filling"), ("grown later", "later")):
        grown = [f"{each[key] / 1e6:.1f}" for each in found.values()]
        rows.append(Row(f"memory grown {name}, MB", grown, at_most(ours[key] / 1e6, GROWTH)))
    rows.append(Row("filling, s", [f"{each['seconds']:.0f}" for each in found.values()]))
    rows.append(Row("file, or memory of the server, MB", [f"{size / 1e6:.0f}" for size in sizes]))
    return Table(f"{count:,} URLs, {calls:,} calls of each kind", tuple(found), rows)


def lacks(name: str, call: str) -> bool:
    """Return whether a queue has no such call: both peers forget what they hand out."""
    return call == "settle" and name in PEERS


def compare(options: argparse.Namespace) -> int:
    """Run all steps and report what they found."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "archive.frontier.db"
        sqlite = child("sqlite", f"sqlite:///{file}", options)
        size = file.stat().st_size
        disk = child("jobdir", folder / "jobdir", options)
        disk_size = sum(path.stat().st_size for path in (folder / "jobdir").rglob("*") if path.is_file())
        with redis_server(folder) as (uri, server):
            redis = child("redis", uri, options)
            used = memory(server)
        with redis_server(folder) as (uri, server):
            plain = child("scrapy-redis", uri, options)
            plain_used = memory(server)
    found = {"SQLite": sqlite, "JOBDIR": disk, "Redis": redis, "scrapy-redis": plain}
    return report(table(options.urls, options.calls, found, (size, disk_size, used, plain_used)))


if __name__ == "__main__":
    sys.exit(main())
