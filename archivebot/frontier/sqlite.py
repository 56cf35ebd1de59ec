"""The frontier in one SQLite file, which holds any number of crawls."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from archivebot.exceptions import StorageError
from archivebot.frontier import budget
from archivebot.frontier.base import EXTRA, HOLD, LOOK, RETRIED, Charge, Entry, Lease, State, key_of
from archivebot.frontier.file import FrontierFile
from archivebot.frontier.listing import CrawlListing
from archivebot.frontier.owner import is_gone, new_owner, others_at_work
from archivebot.frontier.rows import FROM, LEASED, OURS, QUEUED, RECORD, REJECTED, STATES, record_of
from archivebot.models import Position


class SQLiteFrontier(CrawlListing):
    """Keeps one crawl in a file in WAL mode; each call is one short transaction.

    ``patience`` is the number of seconds after which a silent owner counts as dead, ``clock`` returns Unix
    times. An instance belongs to the thread that opened it; several processes may work on the same crawl, or
    on other crawls in the same file.
    """

    def __init__(
        self, path: str, crawl: str, patience: float = 60.0, clock: Callable[[], float] = time.time
    ) -> None:
        super().__init__(FrontierFile(path), crawl)
        self.owner = new_owner()
        self._patience = patience
        self._clock = clock

    @contextmanager
    def _writing(self) -> Iterator[int]:
        """Run a block as one transaction on the crawl; yields the id of the crawl."""
        with self._file.writing():
            yield self._number()

    def _number(self) -> int:
        row = self._file.one("SELECT id FROM crawl WHERE name = ?", self.crawl)
        if row is None:
            raise StorageError(f"{self.uri}: the crawl {self.crawl!r} was not begun, or was forgotten")
        return int(row[0])

    def together(self) -> AbstractContextManager[None]:
        return self._file.writing()

    # The crawl

    def begin(
        self,
        arguments: str,
        most: int | None,
        archive: Position | None = None,
        distrusted: Position | None = None,
    ) -> bool:
        with self._file.writing():
            goes_on = self._goes_on(most)
            relied = self.relied()
            is_other = archive and relied and archive.archive != relied.archive
            if goes_on and (is_other or (distrusted and relied == distrusted)):
                self._be_alone()
                goes_on = False
            if not goes_on:
                self._file.forget(self.crawl)
                self._file.change(
                    "INSERT INTO crawl (name, arguments, began) VALUES (?, '', ?)", self.crawl, self._clock()
                )
            values = (arguments, most, self.crawl)
            self._file.change("UPDATE crawl SET arguments = ?, most = ?, ended = '' WHERE name = ?", *values)
            if archive:
                self._file.change(
                    "UPDATE crawl SET archive = ?, position = max(position, ?) WHERE name = ?",
                    archive.archive,
                    archive.number,
                    self.crawl,
                )
            return goes_on

    def _be_alone(self) -> None:
        """Raise StorageError if other workers are active in the crawl."""
        if self._file.one(f"SELECT 1 FROM owner WHERE {OURS} AND name <> ?", self.crawl, self.owner):
            raise StorageError(others_at_work(self.uri))

    def _goes_on(self, most: int | None) -> bool:
        row = self._file.one("SELECT id FROM crawl WHERE name = ?", self.crawl)
        if row is None:
            return False
        self._reap(row[0])
        ended, limit, answered, queued = self._file.one(
            "SELECT ended, most, answered, queued FROM crawl WHERE id = ?", row[0]
        )
        at_limit = limit is not None and answered >= limit
        return not ended or (at_limit and queued > 0 and (most is None or most > answered))

    def end(self, reason: str) -> None:
        with self._writing() as crawl:
            self._file.change("UPDATE crawl SET ended = ? WHERE id = ?", reason, crawl)

    # What comes in

    def add(self, entries: Sequence[Entry]) -> int:
        new, hosts = 0, set[int]()
        with self._writing() as crawl:
            for entry in entries:
                known = self._known(entry.url)
                if known is None:
                    hosts.add(self._insert(crawl, entry, QUEUED))
                    new += 1
                    continue
                identity, host, state, score = known
                if state == REJECTED or (state == QUEUED and entry.score > score):
                    self._file.change(
                        "UPDATE entry SET state = ?, score = ?, request = ?, source = ?, distance = ?,"
                        " parts = ?, reason = ? WHERE id = ?",
                        QUEUED, entry.score, entry.request, entry.source, entry.distance, entry.parts,
                        entry.reason, identity,
                    )  # fmt: skip
                    hosts.add(host)
            self._place(hosts)
        return new

    def reject(self, entries: Sequence[Entry]) -> int:
        new = 0
        with self._writing() as crawl:
            for entry in entries:
                if self._known(entry.url) is None:
                    self._insert(crawl, entry, REJECTED)
                    new += 1
        return new

    def charge(self, wanted: Mapping[str, Sequence[Charge]]) -> dict[str, str]:
        refused: dict[str, str] = {}
        with self._writing() as crawl:
            for url, charges in wanted.items():
                known = self._known(url)
                if known is None or known[2] == REJECTED:
                    reason = budget.charge(self._file, crawl, charges)
                    refused |= {url: reason} if reason else {}
        return refused

    def spend(self, name: str, count: int) -> None:
        with self._writing() as crawl:
            budget.spend(self._file, crawl, name, count)

    def _known(self, url: str) -> Any:
        return self._file.one(
            "SELECT id, host, state, score FROM entry WHERE key = ?", key_of(url, self.crawl)
        )

    def _insert(self, crawl: int, entry: Entry, state: int) -> int:
        host = self._host(crawl, entry.host)
        self._file.change(
            "INSERT INTO entry (key, host, state, score, url, request, source, distance, parts, reason)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            key_of(entry.url, self.crawl), host, state, entry.score, entry.url, entry.request, entry.source,
            entry.distance, entry.parts, entry.reason,
        )  # fmt: skip
        return host

    def _host(self, crawl: int, name: str) -> int:
        """Return the id of a host, adding the host if it is new."""
        row = self._file.one("SELECT id FROM host WHERE crawl = ? AND name = ?", crawl, name)
        return (
            row[0] if row else self._file.insert("INSERT INTO host (crawl, name) VALUES (?, ?)", crawl, name)
        )

    def pace(self, host: str, concurrency: int, delay: float) -> None:
        with self._writing() as crawl:
            identity = self._host(crawl, host)
            self._file.change(
                "UPDATE host SET concurrency = ?1, ready_at = ready_at - delay + ?2, delay = ?2"
                " WHERE id = ?3",
                concurrency,
                delay,
                identity,
            )
            self._place([identity])

    def _place(self, hosts: Iterable[int]) -> None:
        """Update the state of hosts: without work, waiting for their delay, or ready."""
        now = self._clock()
        for host in hosts:
            self._file.change(
                "UPDATE host SET standing = CASE WHEN queued = 0 OR leased - arrived >= concurrency THEN 0"
                " WHEN ready_at > ?1 THEN 1 ELSE 2 END,"
                " (best, first) = (SELECT score, id FROM entry WHERE entry.host = ?2 AND state = 0"
                " ORDER BY score DESC, id LIMIT 1) WHERE id = ?2",
                now,
                host,
            )

    # What goes out

    def lease(self, most: int | None = None, slack: float | None = None, hold: float = HOLD) -> Lease | None:
        if self._number() and self.due() != 0:
            return None
        with self._writing() as crawl:
            taken, leases = self._file.one("SELECT answered + leased, leases FROM crawl WHERE id = ?", crawl)
            best = self._best(crawl)
            if best is None:
                return None
            host, entry, score = best
            if most is not None and taken >= most and score < EXTRA:
                return None
            if slack is not None and self._is_worth_waiting(crawl, score + slack, hold):
                return None
            return self._hand_out(crawl, host, entry, leases + 1)

    def _best(self, crawl: int) -> Any:
        """Return the ids of the best ready host and its best URL, and the score, or None."""
        self._file.change(
            "UPDATE host SET standing = 2 WHERE crawl = ? AND standing = 1 AND ready_at <= ?",
            crawl,
            self._clock(),
        )
        return self._file.one(
            "SELECT id, first, best FROM host WHERE crawl = ? AND standing = 2"
            " ORDER BY best DESC, first LIMIT 1",
            crawl,
        )

    def _is_worth_waiting(self, crawl: int, score: float, hold: float) -> bool:
        """Return whether a host with a URL above the score is expected to be ready soon."""
        (away,) = self._file.one(
            "SELECT min(abs(ready_at - ?)) FROM (SELECT ready_at FROM host"
            " WHERE crawl = ? AND standing < 2 AND best > ? AND best < ? ORDER BY best DESC LIMIT ?)",
            self._clock(),
            crawl,
            score,
            EXTRA,
            LOOK,
        )
        return away is not None and away <= hold

    def _hand_out(self, crawl: int, host: int, entry: int, number: int) -> Lease:
        now = self._clock()
        *row, lost = self._file.one(
            f"{RECORD}, CASE WHEN followed THEN since END {FROM} WHERE entry.id = ?", entry
        )
        self._file.change(
            "UPDATE entry SET state = ?, owner = ?, number = ?, since = coalesce(since, ?), arrived = 0"
            " WHERE id = ?",
            LEASED,
            self._beat(crawl),
            number,
            now,
            entry,
        )
        self._file.change("UPDATE crawl SET leases = ? WHERE id = ?", number, crawl)
        self._file.change("UPDATE host SET ready_at = ? + delay WHERE id = ?", now, host)
        self._place([host])
        return Lease(record_of(row).entry, number, lost)

    def due(self) -> float | None:
        ready, ready_at = self._file.one(
            f"SELECT EXISTS (SELECT 1 FROM host WHERE {OURS} AND standing = 2),"
            f" (SELECT min(ready_at) FROM host WHERE {OURS} AND standing = 1)",
            self.crawl,
            self.crawl,
        )
        if ready:
            return 0.0
        return None if ready_at is None else max(0.0, ready_at - self._clock())

    def mark_followed(self, urls: Iterable[str]) -> None:
        with self._writing():
            for url in urls:
                self._file.change("UPDATE entry SET followed = 1 WHERE key = ?", key_of(url, self.crawl))

    def mark_arrived(self, urls: Iterable[str]) -> None:
        with self._writing():
            hosts = set[int]()
            for url in urls:
                known = self._known(url)
                if known and self._file.change(
                    "UPDATE entry SET arrived = 1 WHERE id = ? AND state = ?"
                    " AND owner = (SELECT id FROM owner WHERE name = ?)",
                    known[0],
                    LEASED,
                    self.owner,
                ):
                    hosts.add(known[1])
            self._place(hosts)

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
        with self._writing():
            held = self._file.one(
                "SELECT entry.id, host FROM entry JOIN owner ON owner.id = owner"
                " WHERE key = ? AND owner.name = ?",
                key_of(url, self.crawl),
                self.owner,
            )
            if held is None:
                return False
            self._file.change(
                "UPDATE entry SET state = ?1, owner = NULL, since = CASE ?1 WHEN 0 THEN since END,"
                " followed = CASE ?1 WHEN 0 THEN followed ELSE 0 END, answered = ?2, reason = ?3,"
                " relevance = ?4, relevant = ?5, note = ?6 WHERE id = ?7",
                STATES.index(state), answered, reason, relevance, relevant, note, held[0],
            )  # fmt: skip
            self._file.change(
                "UPDATE crawl SET position = ?1 WHERE name = ?2 AND position < ?1", position, self.crawl
            )
            self._place(held[1:])
            return True

    # Owners

    def renew(self) -> int:
        with self._writing() as crawl:
            self._beat(crawl)
            return self._reap(crawl)

    def _beat(self, crawl: int) -> int:
        self._file.change(
            "INSERT INTO owner (crawl, name, beat) VALUES (?, ?, ?)"
            " ON CONFLICT (name) DO UPDATE SET beat = excluded.beat",
            crawl,
            self.owner,
            self._clock(),
        )
        return int(self._file.one("SELECT id FROM owner WHERE name = ?", self.owner)[0])

    def _reap(self, crawl: int) -> int:
        silent = self._clock() - self._patience
        owners = list(self._file.rows("SELECT id, name, beat FROM owner WHERE crawl = ?", crawl))
        return sum(self._put_back(owner) for owner, name, beat in owners if beat < silent or is_gone(name))

    def release(self) -> int:
        with self._writing():
            row = self._file.one("SELECT id FROM owner WHERE name = ?", self.owner)
            return self._put_back(*row) if row else 0

    def _put_back(self, owner: int) -> int:
        hosts = list(self._file.rows("SELECT DISTINCT host FROM entry WHERE owner = ?", owner))
        count = self._file.change("UPDATE entry SET state = ?, owner = NULL WHERE owner = ?", QUEUED, owner)
        self._file.change("DELETE FROM owner WHERE id = ?", owner)
        self._place(host for (host,) in hosts)
        return count

    # Changes by hand

    def reprioritise(self, scores: Mapping[str, float]) -> int:
        wanted = {key_of(url, self.crawl): score for url, score in scores.items()}
        with self._writing():
            sql = f"SELECT key, score, id, host FROM entry WHERE state = {QUEUED} AND key IN"
            moved = [row for row in self._file.among(sql, [*wanted]) if wanted[row[0]] != row[1]]
            new = [(wanted[key], identity) for key, _, identity, _ in moved]
            self._file.change_each("UPDATE entry SET score = ? WHERE id = ?", new)
            self._place({host for *_, host in moved})
        return len(moved)

    def forget(self, urls: Iterable[str] | None = None) -> int:
        if urls is None:
            with self._file.writing():
                return self._file.forget(self.crawl)
        gone, hosts = 0, set[int]()
        with self._writing():
            for url in urls:
                known = self._known(url)
                if known:
                    gone += self._file.change("DELETE FROM entry WHERE id = ?", known[0])
                    hosts.add(known[1])
            self._place(hosts)
        return gone

    def retry(self, *states: State) -> int:
        with self._writing() as crawl:
            hosts = list(self._file.rows("SELECT id FROM host WHERE crawl = ?", crawl))
            count = sum(
                self._file.change(
                    f"UPDATE entry SET state = {QUEUED}, answered = 0, reason = ''"
                    f" WHERE state = ? AND state > {LEASED} AND host = ?",
                    STATES.index(state),
                    host,
                )
                for state in states or RETRIED
                for (host,) in hosts
            )
            self._file.change("UPDATE crawl SET ended = '' WHERE id = ? AND queued > 0", crawl)
            self._place(host for (host,) in hosts)
            return count
