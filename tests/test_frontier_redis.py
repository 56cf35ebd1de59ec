"""The Redis frontier: the contract, and what becomes of it when the server goes away."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from archivebot.exceptions import StorageError, UsageError
from archivebot.frontier import open_frontier, scripts
from archivebot.frontier import redis as frontier_redis
from archivebot.frontier.base import Charge, Counts, Entry, Frontier, State
from archivebot.frontier.redis import RedisFrontier
from tests.conftest import Crawl
from tests.contracts.frontier import FrontierContract
from tests.contracts.frontier_workers import CRAWL, ROOT, entry, url_of
from tests.servers import CuttingProxy, RedisServer, free_port, redis_server, redis_uri

__all__ = ["redis_server", "redis_uri"]

PREFIX = f"archivebot:{{{CRAWL}}}:"


class TestRedisFrontier(FrontierContract):
    @pytest.fixture
    def uri(self, redis_uri: str) -> str:
        return redis_uri

    def make(self, uri: str, crawl: str, patience: float, clock: Callable[[], float]) -> Frontier:
        return RedisFrontier(uri, crawl, patience, clock)

    def check(self, uri: str) -> None:
        with Redis.from_url(uri, decode_responses=True) as client:
            entries = {
                key: dict(zip(scripts.FIELDS, json.loads(text), strict=True))
                for key, text in client.hgetall(PREFIX + "entries").items()
            }
            assert_counts(client, "crawl", list(entries.values()))
            ready, busy = [], {}
            for host in client.smembers(PREFIX + "hosts"):
                here = {key: one for key, one in entries.items() if one["host"] == host}
                assert_counts(client, f"host:{host}", list(here.values()))
                queue = {
                    one["place"] + key: -float(one["score"])
                    for key, one in here.items()
                    if one["state"] == "queued"
                }
                assert dict(client.zrange(f"{PREFIX}queue:{host}", 0, -1, withscores=True)) == queue
                if queue:
                    first, score = min(queue.items(), key=lambda item: (item[1], item[0]))
                    arrived = client.smembers(PREFIX + "arrived")
                    if any(one["state"] == "leased" and key not in arrived for key, one in here.items()):
                        busy[host] = score
                    else:
                        ready.append((first[:16] + host, score))
            assert sorted(client.zrange(PREFIX + "ready", 0, -1, withscores=True)) == sorted(ready)
            assert dict(client.zrange(PREFIX + "busy", 0, -1, withscores=True)) == busy
            owners = client.zrange(PREFIX + "owners", 0, -1)
            leases = {key: owner for owner in owners for key in client.smembers(f"{PREFIX}leases:{owner}")}
            assert leases == {key: one["owner"] for key, one in entries.items() if one["state"] == "leased"}


def assert_counts(client: Redis, key: str, entries: list[dict[str, str]]) -> None:
    """Hold the counts of a hash against the entries."""
    tally = Counter(one["state"] for one in entries)
    tally["answered"] = sum(one["state"] == "done" and one["answered"] == "1" for one in entries)
    kept = client.hmget(PREFIX + key, *frontier_redis.COUNTS)
    assert [int(count or 0) for count in kept] == [tally[name] for name in frontier_redis.COUNTS]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up at once."""
    monkeypatch.setattr(frontier_redis, "TRIES", 1)


@pytest.fixture
def frontier(redis_uri: str) -> Iterator[RedisFrontier]:
    frontier = RedisFrontier(redis_uri, CRAWL)
    frontier.begin("", None)
    yield frontier
    frontier.close()


@pytest.fixture
def lasting(tmp_path: Path, redis_server: RedisServer) -> Iterator[RedisServer]:
    """A Redis of its own that writes down each change before it answers."""
    server = RedisServer(tmp_path, "--appendonly", "yes", "--appendfsync", "always")
    server.start()
    yield server
    server.kill()


@pytest.mark.usefixtures("impatient")
def test_a_server_that_does_not_answer_is_named() -> None:
    port = free_port()
    with pytest.raises(
        StorageError,
        match=rf"no Redis at 127\.0\.0\.1:{port}/0 answers: is it running, and is REDIS_URL right\?",
    ) as raised:
        RedisFrontier(f"redis://me:secret@127.0.0.1:{port}/0", CRAWL)
    assert "secret" not in str(raised.value)


@pytest.mark.usefixtures("impatient")
def test_an_archive_that_cannot_be_opened_is_one_message(crawl: Crawl, redis_uri: str) -> None:
    Path(crawl.folder, "archive.db").write_bytes(bytes(range(256)) * 40)
    crawled = crawl("-s", f"REDIS_URL={redis_uri}", seeds="http://a.example/")
    assert crawled.code == 3
    assert "is damaged or no archive" in crawled.log
    assert "Traceback" not in crawled.log


@pytest.mark.long
def test_a_wrong_password_is_told(tmp_path: Path, redis_server: RedisServer) -> None:
    server = RedisServer(tmp_path)
    server.start()
    with Redis.from_url(server.uri()) as client:
        client.config_set("requirepass", "right")
    with pytest.raises(StorageError, match="refuses: is the password right"):
        RedisFrontier(f"redis://:wrong@127.0.0.1:{server.port}/0", CRAWL)
    RedisFrontier(f"redis://:right@127.0.0.1:{server.port}/0", CRAWL).close()
    server.kill()


@pytest.mark.parametrize(
    "uri",
    [
        "redis://localhost:x/0",
        "redis://me:secret@localhost:70000000/0",
        "redis://localhost:x/0?password=a@secret",
        "redis://me:secret/two@localhost/0",
    ],
)
def test_a_uri_that_names_no_redis_is_refused_with_advice(uri: str) -> None:
    with pytest.raises(UsageError, match="write redis://host:6379/0") as raised:
        RedisFrontier(uri, CRAWL)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("database", ["abc", "0/1", "-1"])
def test_a_database_that_is_no_number_is_refused(redis_uri: str, database: str) -> None:
    uri = f"{redis_uri.rpartition('/')[0]}/{database}"
    with pytest.raises(UsageError, match=f"'{database}' is no number of a database"):
        RedisFrontier(uri, CRAWL)


def test_an_unknown_option_in_a_uri_is_refused_with_advice(redis_uri: str) -> None:
    with pytest.raises(UsageError, match=r"names no Redis \(.*'colour'\): write redis://host:6379/0"):
        RedisFrontier(f"{redis_uri}?colour=red", CRAWL)


def test_the_password_in_a_uri_that_names_no_frontier_is_not_shown() -> None:
    with pytest.raises(UsageError, match=r"'http://me:\*\*\*@localhost/0' names no frontier"):
        open_frontier("http://me:secret@localhost/0", CRAWL)


def test_without_redis_the_user_is_told_to_install_it() -> None:
    code = (
        "import sys; sys.modules['redis'] = None; from archivebot.frontier import open_frontier;"
        " open_frontier('redis://localhost', 'a')"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert "UsageError: a redis:// frontier needs redis: pip install redis" in ran.stderr


def test_a_server_that_restarts_is_waited_for(lasting: RedisServer) -> None:
    frontier = RedisFrontier(lasting.uri(), CRAWL)
    frontier.begin("", None)
    frontier.add([entry("A"), entry("B")])
    lasting.kill()
    restart = threading.Timer(0.5, lasting.start)
    restart.start()
    lease = frontier.lease()
    restart.join()
    assert lease is not None
    assert lease.entry.url == url_of("A")
    assert frontier.settle(url_of("A"), State.DONE)
    assert frontier.counts() == Counts(queued=1, done=1)
    frontier.close()


def test_a_server_that_lost_the_crawl_is_an_error_and_not_its_end(
    frontier: RedisFrontier, redis_uri: str
) -> None:
    frontier.add([entry("A")])
    with Redis.from_url(redis_uri) as client:
        client.flushall()
    with pytest.raises(StorageError, match="was lost by a Redis that does not save"):
        frontier.lease()


def test_a_call_whose_answer_was_lost_is_answered_and_not_done_again(
    redis_server: RedisServer, redis_uri: str
) -> None:
    with CuttingProxy(redis_server.port) as proxy:
        frontier = RedisFrontier(f"redis://127.0.0.1:{proxy.port}/0", CRAWL)
        frontier.begin("", None)
        frontier.pace("example.com", 9, 0)
        frontier.add([entry("0")])
        frontier.settle(str(frontier.lease()), State.DONE)
        words = b"EVALSHA", frontier.owner.encode()
        proxy.cut(*words)
        assert frontier.add([entry("A"), entry("B")]) == 2
        proxy.cut(*words)
        lease = frontier.lease()
        assert lease is not None
        assert (lease.entry.url, lease.order, lease.lost) == (url_of("A"), 2, None)
        proxy.cut(*words)
        assert frontier.settle(url_of("A"), State.DONE)
        proxy.cut(*words)
        assert frontier.release() == 1
        assert proxy.cuts == 4
        assert frontier.counts() == Counts(queued=2, done=1)
        frontier.close()


@pytest.mark.parametrize(
    ("lost", "following"),
    [
        ((5,), ((5,), (5,))),
        ((5, 1.0, 2.0), ((5, 1.0, 2.5), (5, 1.0, 3.0))),  # the next calls wait longer
    ],
)
def test_a_lease_that_got_no_answer_before_the_worker_gave_up_is_not_lost(
    redis_server: RedisServer,
    redis_uri: str,
    monkeypatch: pytest.MonkeyPatch,
    lost: tuple[Any, ...],
    following: tuple[tuple[Any, ...], ...],
) -> None:
    monkeypatch.setattr(frontier_redis, "TRIES", 0)
    with CuttingProxy(redis_server.port) as proxy:
        frontier = RedisFrontier(f"redis://127.0.0.1:{proxy.port}/0", CRAWL)
        frontier.begin("", None)
        frontier.pace("example.com", 9, 0)
        assert frontier.lease(*lost) is None
        frontier.add([entry("A"), entry("B"), entry("C")])
        assert frontier.lease(*lost) is not None
        proxy.cut(b"EVALSHA", frontier.owner.encode())
        with pytest.raises(StorageError, match="no Redis at"):
            frontier.lease(*lost)
        frontier.add([entry("D")])
        leases = [frontier.lease(*each) for each in following]
        told = [(lease.entry.url, lease.order) for lease in leases if lease]
        assert told == [(url_of("B"), 2), (url_of("C"), 3)]
        assert frontier.counts() == Counts(queued=1, leased=3)
        frontier.close()


def test_an_empty_answer_that_was_lost_is_repeated_as_well(redis_server: RedisServer, redis_uri: str) -> None:
    with CuttingProxy(redis_server.port) as proxy:
        frontier = RedisFrontier(f"redis://127.0.0.1:{proxy.port}/0", CRAWL)
        frontier.begin("", None)
        assert frontier.lease() is None
        proxy.cut(b"EVALSHA", frontier.owner.encode())
        assert frontier.lease() is None
        assert proxy.cuts == 1
        frontier.close()


def test_a_forgotten_crawl_leaves_no_keys_but_answers_that_expire(
    frontier: RedisFrontier, redis_uri: str
) -> None:
    frontier.pace("example.com", 9, 60)
    frontier.add([entry("A"), entry("B", host="b.com"), entry("D")])
    frontier.reject([entry("C")])
    frontier.lease()
    frontier.forget()
    with Redis.from_url(redis_uri, decode_responses=True) as client:
        left = list(client.scan_iter())
        assert left == [f"{PREFIX}reply:{frontier.owner}"]
        assert 0 < client.ttl(left[0]) <= scripts.MEMORY


def test_a_url_that_two_workers_meet_at_once_counts_once(frontier: RedisFrontier, redis_uri: str) -> None:
    other = RedisFrontier(redis_uri, CRAWL)
    room = {"http://a.example/1": [Charge("a/*", 1, "pattern")]}
    assert frontier.charge(room) == other.charge(room) == {}
    frontier.add([Entry("http://a.example/1", "a.example")])
    spent = {"http://a.example/2": "pattern"}
    assert other.charge({url: [Charge("a/*", 1, "pattern")] for url in spent}) == spent
    other.close()


def test_a_repeated_reap_spares_an_owner_that_spoke_meanwhile(redis_uri: str) -> None:
    now = time.time()
    watcher, worker = RedisFrontier(redis_uri, CRAWL), RedisFrontier(redis_uri, CRAWL)
    watcher.begin("", None)
    watcher.add([entry("A")])
    worker.lease()
    stale = [worker.owner, repr(now - 100)]
    assert watcher._run("renew", *stale) == 0
    assert watcher.counts() == Counts(leased=1)
    watcher.close()
    worker.close()
