"""Workers of a frontier that tests start as processes of their own, and kill."""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from subprocess import PIPE, Popen
from typing import Any

from archivebot.frontier import open_frontier
from archivebot.frontier.base import Entry, State

ROOT = Path(__file__).parents[2]
CRAWL = "crawl"


def url_of(name: str, host: str = "example.com") -> str:
    return f"http://{host}/{name}"


def entry(name: str, score: float = 0.0, host: str = "example.com", **values: Any) -> Entry:
    return Entry(url_of(name, host), host, score, **values)


def process(function: Callable[..., None], *arguments: object) -> Popen[str]:
    """Run one of the functions above in a process of its own."""
    code = (
        f"from tests.contracts.frontier_workers import {function.__name__};"
        f" {function.__name__}(*{json.dumps(arguments)})"
    )
    return Popen([sys.executable, "-c", code], cwd=ROOT, stdin=PIPE, stdout=PIPE, text=True)


def line(started: Popen[str]) -> str:
    """Return the next line that a process prints."""
    assert started.stdout is not None
    return started.stdout.readline().strip()


def said(started: Popen[str]) -> str:
    """Wait for the end of a process and give what it printed since it was last listened to."""
    assert started.stdout is not None
    rest = started.stdout.read()
    started.wait(60)
    return rest


def work(uri: str, tree: int, depth: int) -> None:
    """Be a worker: lease a page, add the pages that it links to, settle it; until nothing is left."""
    frontier = open_frontier(uri, CRAWL)
    frontier.begin("", None)
    print("ready", flush=True)
    input()
    while True:
        lease = frontier.lease()
        frontier.renew()
        if lease is None:
            if not frontier.counts().open:
                break
            time.sleep(0.005)
            continue
        name = lease.entry.url.rpartition("/")[2]
        frontier.add([child for child in children(name, tree) if child.distance <= depth])
        frontier.settle(lease.entry.url, State.DONE, answered=True)
        print(name, flush=True)
    frontier.close()


def children(name: str, tree: int) -> list[Entry]:
    """Return the pages that a page of a regular tree links to, on three hosts, and the root."""
    below = [f"{name}.{number}" for number in range(tree)]
    return [entry("0"), *(on_some_host(child) for child in below)]


def on_some_host(name: str) -> Entry:
    host = f"{sum(map(ord, name)) % 3}.example.com"
    return entry(name, score=-float(len(name)), host=host, distance=name.count("."))


def churn(uri: str, seed: int) -> None:
    """Be a worker that does everything in any order, until it is killed."""
    chance = random.Random(seed)
    frontier = open_frontier(uri, CRAWL)
    frontier.begin("", None)
    print("ready", flush=True)
    while True:
        found = [on_some_host(str(chance.randrange(400))) for _ in range(10)]
        found = [replace(one, score=chance.choice([0.0, 0.1, chance.random()])) for one in found]
        frontier.add(found[:8])
        frontier.reject([replace(one, reason="off topic") for one in found[8:]])
        frontier.reprioritise({one.url: chance.random() for one in found[:3]})
        for _ in range(2):
            if lease := frontier.lease():
                frontier.settle(lease.entry.url, chance.choice(list(State)[2:]), answered=True)
        frontier.retry(State.FAILED)
        frontier.forget([found[0].url])
        frontier.lease()
        frontier.release()
        frontier.lease()


def hold(uri: str) -> None:
    """Be a worker that leases two pages and never settles them."""
    frontier = open_frontier(uri, CRAWL)
    print(
        json.dumps([lease.entry.url for lease in (frontier.lease(), frontier.lease()) if lease]), flush=True
    )
    time.sleep(60)


def flood(uri: str, start: int) -> None:
    """Be a process that adds 300 pages, of which 200 are those of its neighbours."""
    frontier = open_frontier(uri, CRAWL)
    new = sum(
        frontier.add([entry(str(number)) for number in range(first, first + 20)])
        for first in range(start, start + 300, 20)
    )
    print(new)
