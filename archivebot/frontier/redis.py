"""The frontier on a Redis server, which workers on several machines share."""

from __future__ import annotations

import heapq
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from itertools import islice
from typing import Any

from archivebot.config import without_password
from archivebot.exceptions import StorageError, UsageError
from archivebot.frontier import scripts
from archivebot.frontier.base import (
    COUNTS,
    HOLD,
    RETRIED,
    Charge,
    Counts,
    CrawlInfo,
    Entry,
    HostCounts,
    Lease,
    Record,
    State,
    key_of,
)
from archivebot.frontier.owner import is_gone, new_owner, others_at_work
from archivebot.models import Position

try:
    from redis import Redis
    from redis.backoff import ExponentialBackoff
    from redis.exceptions import AuthenticationError, RedisError, ResponseError
    from redis.exceptions import ConnectionError as Disconnected
    from redis.exceptions import TimeoutError as NoAnswer
    from redis.retry import Retry
except ImportError as error:
    raise UsageError("a redis:// frontier needs redis: pip install redis scrapy-redis") from error

CRAWLS = "archivebot:crawls"

# Timeout for an answer of the server, in seconds: the crawl stands still meanwhile; beyond that its own
# timeout applies. A call whose connection breaks is sent again this many times: the pauses of 0.2, 0.4 ... 2
# seconds are 5 in total, in which a restarting server is back.
ANSWER_TIMEOUT = 4
TRIES = 5

# Entries read with one request.
BATCH = 500


class RedisFrontier:
    """Keeps one crawl under the keys ``archivebot:{crawl}:``; each call is one atomic script.

    ``patience`` is the number of seconds after which a silent owner counts as dead, ``clock`` returns Unix
    times; the clocks of all workers must differ by much less than the patience. ``records`` is not a
    snapshot: entries that change state meanwhile may be missing.
    """

    def __init__(
        self, uri: str, crawl: str, patience: float = 60.0, clock: Callable[[], float] = time.time
    ) -> None:
        self.crawl = crawl
        self.owner = new_owner()
        self._place = without_password(uri).partition("://")[2].rpartition("@")[2].partition("?")[0]
        self._patience = patience
        self._clock = clock
        self._calls = 0
        self._unanswered: dict[str, tuple[tuple[object, ...], int]] = {}
        self._prefix = f"archivebot:{{{crawl}}}:"
        database = self._place.partition("/")[2].strip("/")
        if database and not database.isdecimal():  # redis would take database 0
            raise UsageError(
                f"redis://{self._place} names no Redis ({database!r} is no number of a database): write"
                " redis://host:6379/0"
            )
        try:
            self._client: Any = Redis.from_url(
                uri,
                socket_timeout=ANSWER_TIMEOUT,
                retry=Retry(ExponentialBackoff(cap=2, base=0.1), TRIES, supported_errors=(Disconnected,)),
            )
            with self._translated():
                self._client.ping()  # the options of the URI are read when it connects
        except (ValueError, TypeError) as error:
            # The error may quote a part of a password that is not escaped.
            why = "in a password, / is written %2F and # is %23" if "@" in uri else error
            raise UsageError(
                f"redis://{self._place} names no Redis ({why}): write redis://host:6379/0"
            ) from error
        self._scripts: dict[str, Any] = {}

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except AuthenticationError as error:
            raise StorageError(
                f"the Redis at {self._place} refuses: is the password right? ({error})"
            ) from error
        except (Disconnected, NoAnswer) as error:
            raise StorageError(
                f"no Redis at {self._place} answers: is it running, and is REDIS_URL right? ({error})"
            ) from error
        except ResponseError as error:
            if str(error).startswith("GONE"):
                raise StorageError(
                    f"{self._place}: the crawl {self.crawl!r} was not begun, was forgotten,"
                    " or was lost by a Redis that does not save"
                ) from error
            raise StorageError(f"the Redis at {self._place}: {error}") from error
        except RedisError as error:
            raise StorageError(f"the Redis at {self._place}: {error}") from error

    def _run(self, name: str, *arguments: object) -> Any:
        """Run a script; if the last call got no answer, it is repeated under its call number."""
        if name not in self._scripts:
            self._scripts[name] = self._client.register_script(scripts.script(name))
        unanswered, number = self._unanswered.get(name, (None, 0))
        if unanswered != arguments:
            self._calls = number = self._calls + 1
        self._unanswered[name] = arguments, number
        with self._translated():
            answer = self._scripts[name](
                [self._prefix, CRAWLS, self.crawl], [self.owner, str(number), repr(self._clock()), *arguments]
            )
        del self._unanswered[name]
        return answer

    def _id(self, url: str) -> str:
        return key_of(url).hex()

    # The crawl

    def together(self) -> AbstractContextManager[None]:
        return nullcontext()  # the answers of scripts are needed one by one

    def relied(self) -> Position | None:
        with self._translated():
            archive, position = self._client.hmget(self._prefix + "crawl", "archive", "position")
        return Position(archive.decode(), int(position or 0)) if archive else None

    def begin(
        self,
        arguments: str,
        most: int | None,
        archive: Position | None = None,
        distrusted: Position | None = None,
    ) -> bool:
        positions = [*_values(archive), *_values(distrusted)]
        answer = self._run("begin", arguments, "" if most is None else most, *positions, *self._dead())
        if answer == b"shared":
            raise StorageError(others_at_work(self._place))
        return bool(answer == b"old")

    def end(self, reason: str) -> None:
        self._run("end", reason)

    def crawls(self) -> list[CrawlInfo]:
        with self._translated():
            names = [name.decode() for name in self._client.zrevrange(CRAWLS, 0, -1)]
            questions = self._client.pipeline(transaction=False)
            for name in names:
                questions.hmget(f"archivebot:{{{name}}}:crawl", "arguments", "began", "ended", *COUNTS)
            answers = questions.execute()
        return [
            CrawlInfo(name, arguments.decode(), float(began), ended.decode(), _counts(counts))
            for name, (arguments, began, ended, *counts) in zip(names, answers, strict=True)
            if began
        ]

    # What comes in

    def add(self, entries: Sequence[Entry]) -> int:
        return int(self._run("add", *self._packed(entries)))

    def reject(self, entries: Sequence[Entry]) -> int:
        return int(self._run("reject", *self._packed(entries)))

    def charge(self, wanted: Mapping[str, Sequence[Charge]]) -> dict[str, str]:
        arguments: list[object] = []
        for url, charges in wanted.items():
            arguments += [self._id(url), len(charges)]
            arguments += (part for charge in charges for part in (charge.name, charge.most))
        places = zip(wanted.items(), self._run("charge", *arguments), strict=True)
        return {url: charges[place - 1].reason for (url, charges), place in places if place}

    def spend(self, name: str, count: int) -> None:
        self._run("spend", name, count)

    def _packed(self, entries: Iterable[Entry]) -> Iterator[str]:
        for entry in entries:
            yield self._id(entry.url)
            yield json.dumps(
                [
                    entry.url, entry.host, repr(float(entry.score)), entry.request, entry.source,
                    str(entry.distance), entry.parts, entry.reason,
                ],
                ensure_ascii=False,
            )  # fmt: skip

    def pace(self, host: str, concurrency: int, delay: float) -> None:
        self._run("pace", host, concurrency, repr(float(delay)))

    # What goes out

    def lease(self, most: int | None = None, slack: float | None = None, hold: float = HOLD) -> Lease | None:
        wanted = "" if most is None else most, "" if slack is None else repr(float(slack)), repr(float(hold))
        # A lease without an answer may have been given: only the same call is told which.
        arguments, _ = self._unanswered.get("lease", (wanted, 0))
        found = self._run("lease", *arguments)
        if found is None:
            return None
        record = _record(found[0])
        return Lease(record.entry, record.order or 0, float(found[1]) if found[1] else None)

    def due(self) -> float | None:
        with self._translated():
            questions = self._client.pipeline()
            questions.zcard(self._prefix + "ready")
            questions.zrange(self._prefix + "waiting", 0, 0, withscores=True)
            ready, waiting = questions.execute()
        if ready:
            return 0.0
        return max(0.0, waiting[0][1] - self._clock()) if waiting else None

    def mark_arrived(self, urls: Iterable[str]) -> None:
        self._run("mark_arrived", *map(self._id, urls))

    def mark_followed(self, urls: Iterable[str]) -> None:
        self._run("mark_followed", *map(self._id, urls))

    def settle(
        self,
        url: str,
        state: State,
        *,
        position: int = 0,
        answered: bool = False,
        reason: str = "",
        relevance: float | None = None,
        relevant: bool | None = None,
        note: str = "",
    ) -> bool:
        values = (
            str(state),
            "1" if answered else "",
            reason,
            "" if relevance is None else repr(float(relevance)),
            "" if relevant is None else str(int(relevant)),
            note,
            str(position),
        )
        return bool(self._run("settle", self._id(url), *values))

    # Owners

    def renew(self) -> int:
        return int(self._run("renew", *self._dead()))

    def _dead(self) -> Iterator[object]:
        """Yield the names and last heartbeats of the owners that are dead or silent."""
        with self._translated():
            owners = self._client.zrange(self._prefix + "owners", 0, -1, withscores=True)
        silent = self._clock() - self._patience
        for name, beat in owners:
            owner = name.decode()
            if owner != self.owner and (beat < silent or is_gone(owner)):
                yield from (owner, repr(beat))

    def release(self) -> int:
        return int(self._run("release"))

    # What is known

    def get(self, url: str) -> Record | None:
        with self._translated():
            text = self._client.hget(self._prefix + "entries", self._id(url))
        return _record(text) if text else None

    def records(self, *states: State, limit: int | None = None) -> Iterator[Record]:
        return islice(self._records(states or tuple(State), limit), limit)

    def _records(self, states: Iterable[State], limit: int | None) -> Iterator[Record]:
        for state in states:
            found = self._queue() if state is State.QUEUED else iter(self._in_order(state, limit))
            while ids := list(islice(found, BATCH)):
                with self._translated():
                    texts = self._client.hmget(self._prefix + "entries", ids)
                records = (_record(text) for text in texts if text)
                yield from (record for record in records if record.state is state)

    def _queue(self) -> Iterator[str]:
        """Yield the ids of all queued entries in the order of leasing."""
        with self._translated():
            hosts = [host.decode() for host in self._client.smembers(self._prefix + "hosts")]
        places = heapq.merge(*map(self._queue_of, hosts))
        return (place[16:] for _, place in places)

    def _queue_of(self, host: str) -> Iterator[tuple[float, str]]:
        for start in range(0, 1 << 62, BATCH):
            with self._translated():
                found = self._client.zrange(
                    f"{self._prefix}queue:{host}", start, start + BATCH - 1, withscores=True
                )
            yield from ((score, place.decode()) for place, score in found)
            if len(found) < BATCH:
                return

    def _in_order(self, state: State, limit: int | None) -> list[str]:
        keys = {(record.order or 0, record.entry.url) for record in self._scan(state)}
        chosen = sorted(keys) if limit is None else heapq.nsmallest(limit, keys)
        return [self._id(url) for _, url in chosen]

    def _scan(self, *states: State) -> Iterator[Record]:
        """Yield the entries in some states in no order; an entry may occur twice."""
        with self._translated():
            for _, text in self._client.hscan_iter(self._prefix + "entries", count=BATCH):
                record = _record(text)
                if record.state in states:
                    yield record

    def counts(self) -> Counts:
        with self._translated():
            return _counts(self._client.hmget(self._prefix + "crawl", *COUNTS))

    def hosts(self) -> list[HostCounts]:
        with self._translated():
            names = [host.decode() for host in self._client.smembers(self._prefix + "hosts")]
            questions = self._client.pipeline(transaction=False)
            for name in names:
                questions.hmget(f"{self._prefix}host:{name}", *COUNTS[:-1])
            answers = questions.execute()
        found = [
            HostCounts(name, *(int(count or 0) for count in counts))
            for name, counts in zip(names, answers, strict=True)
            if any(int(count or 0) for count in counts)
        ]
        return sorted(found, key=lambda host: (-host.queued, host.host))

    # Changes by hand

    def reprioritise(self, scores: Mapping[str, float]) -> int:
        pairs = ((self._id(url), repr(float(score))) for url, score in scores.items())
        return int(self._run("reprioritise", *(value for pair in pairs for value in pair)))

    def forget(self, urls: Iterable[str] | None = None) -> int:
        if urls is None:
            return int(self._run("forget_all"))
        return int(self._run("forget", *map(self._id, urls)))

    def retry(self, *states: State) -> int:
        found = self._scan(*(states or RETRIED))
        return int(self._run("retry", *{self._id(record.entry.url) for record in found}))

    def close(self) -> None:
        self._client.close()


def _values(position: Position | None) -> tuple[str, int]:
    return (position.archive, position.number) if position else ("", 0)


def _counts(values: Iterable[bytes | None]) -> Counts:
    return Counts(*(int(value or 0) for value in values))


def _record(text: bytes) -> Record:
    value = dict(zip(scripts.FIELDS, json.loads(text), strict=True))
    return Record(
        Entry(
            value["url"],
            value["host"],
            float(value["score"]),
            value["request"],
            value["source"],
            int(value["distance"]),
            value["parts"],
            value["reason"],
        ),
        State(value["state"]),
        int(value["order"]) if value["order"] else None,
        float(value["relevance"]) if value["relevance"] else None,
        value["relevant"] == "1" if value["relevant"] else None,
        value["note"],
    )
