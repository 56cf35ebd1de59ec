"""Read-only access to the crawls of a frontier file."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from archivebot.frontier.base import Counts, CrawlInfo, HostCounts, Record, State, key_of
from archivebot.frontier.file import FrontierFile
from archivebot.frontier.rows import FROM, OURS, RECORD, STATES, SUMS, record_of
from archivebot.models import Position


class CrawlListing:
    """One crawl of a frontier file, for reading."""

    def __init__(self, file: FrontierFile, crawl: str) -> None:
        self._file, self.crawl, self.uri = file, crawl, file.uri

    def crawls(self) -> list[CrawlInfo]:
        rows = self._file.rows(
            f"SELECT name, arguments, began, ended, {SUMS} FROM crawl ORDER BY began DESC, id DESC"
        )
        return [
            CrawlInfo(name, arguments, began, ended, Counts(*counts))
            for name, arguments, began, ended, *counts in rows
        ]

    def relied(self) -> Position | None:
        row = self._file.one("SELECT archive, position FROM crawl WHERE name = ?", self.crawl)
        return Position(*row) if row and row[0] else None

    def get(self, url: str) -> Record | None:
        row = self._file.one(f"{RECORD} {FROM} WHERE key = ?", key_of(url, self.crawl))
        return record_of(row) if row else None

    def records(self, *states: State, limit: int | None = None) -> Iterator[Record]:
        most = -1 if limit is None else limit
        rows = chain.from_iterable(self._rows(state, most) for state in states or STATES)
        return map(record_of, islice(rows, limit))

    def _rows(self, state: State, most: int) -> Iterator[Any]:
        order = "score DESC, entry.id" if state is State.QUEUED else "coalesce(number, 0), url"
        return self._file.rows(
            f"{RECORD} {FROM} WHERE {OURS} AND state = ? ORDER BY {order} LIMIT ?",
            self.crawl,
            STATES.index(state),
            most,
        )

    def counts(self) -> Counts:
        row = self._file.one(f"SELECT {SUMS} FROM crawl WHERE name = ?", self.crawl)
        return Counts(*row) if row else Counts()

    def hosts(self) -> list[HostCounts]:
        rows = self._file.rows(
            f"SELECT name, queued, leased, done, failed, rejected FROM host WHERE {OURS}"
            " AND queued + leased + done + failed + rejected > 0 ORDER BY queued DESC, name",
            self.crawl,
        )
        return [HostCounts(*row) for row in rows]

    def close(self) -> None:
        self._file.close()
