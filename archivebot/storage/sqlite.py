"""The archive in one SQLite file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, replace
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote

from archivebot.exceptions import Conflict, NotArchived, StorageError
from archivebot.models import Capture, FoundForm, Kind, Link, Outcome
from archivebot.storage import sqlite_fingerprints, sqlite_forms, sqlite_links, sqlite_revisits
from archivebot.storage.base import (
    Edge,
    Fingerprinted,
    KeptForm,
    LearnedTemplate,
    Marked,
    NewVersion,
    PageHead,
    StoredVersion,
    Totals,
    VersionId,
    When,
    edges_of,
)
from archivebot.storage.migration import failure, transaction
from archivebot.storage.revisits import RevisitStore
from archivebot.storage.schema import FINGERPRINTS, FORMS, LINKS, migrate
from archivebot.storage.sketch import decode, encode, shared
from archivebot.storage.sqlite_links import holding, label, merged, numbers, pack, unpack
from archivebot.storage.sqlite_rows import (
    CAPTURE,
    FRAMES,
    OLD_CAPTURE,
    TEMPLATE,
    TOTALS,
    VERSION,
    capture_of,
    milliseconds,
    packed,
    template_of,
    template_row,
    version_of,
)

Row = TypeVar("Row")
FOR_EVER = 1 << 62

# How long a writer waits for another one, in seconds.
BUSY_TIMEOUT = 30

# The write-ahead log is cut back to this size once it has been copied into the database.
JOURNAL_LIMIT = 64 * 1024 * 1024

# The log is copied each time it has grown by so many pages of 2 KB: at SQLite's own 1,000 the commits
# of a crawl took twice as long (0.55 and 0.28 ms for a page with 30 links).
CHECKPOINT = 8_000

# Neighbours in urlkey order, on each side, that are looked at for a similar page of the same site.
NEIGHBOURS = 8


class SQLiteStore:
    """Keeps an archive in one SQLite file in WAL mode, one transaction per capture.

    An instance belongs to the thread that opened it; several processes may write the same file.
    """

    def __init__(self, path: str, writable: bool = True) -> None:
        self.uri = f"sqlite:///{path}"
        self._path = path
        with self._translated():
            self._db = sqlite3.connect(path, timeout=BUSY_TIMEOUT, isolation_level=None)
        try:
            with self._translated():
                self._prepare(writable)
                self._schema: int = self._db.execute("PRAGMA user_version").fetchone()[0]
        except StorageError:
            self._db.close()
            raise
        self.revisits: RevisitStore = sqlite_revisits.SQLiteRevisits(self._db, self.together)

    def _prepare(self, writable: bool) -> None:
        try:
            migrate(self._db, self.uri)
        except sqlite3.OperationalError as error:
            if writable or not any(sign in str(error) for sign in ("readonly", "unable to open")):
                raise
            self._db.close()  # a copy on a medium that cannot be written is read as it is
            self._db = sqlite3.connect(f"file:{quote(self._path)}?immutable=1", uri=True)
            return
        # A commit survives the death of the process; the last ones may not survive that of the
        # machine, and are then fetched or ingested again.
        self._db.execute("PRAGMA synchronous = NORMAL")
        self._db.execute(f"PRAGMA journal_size_limit = {JOURNAL_LIMIT}")
        self._db.execute(f"PRAGMA wal_autocheckpoint = {CHECKPOINT}")
        if writable:
            with transaction(self._db):
                pass  # better told now than after the first page was fetched

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            damaged = "no archive; restore a copy, or give another ARCHIVE_URI"
            raise failure(self.uri, error, damaged) from error

    @contextmanager
    def together(self) -> Iterator[None]:
        with self._translated(), transaction(self._db):
            yield

    def add(self, capture: Capture, head: PageHead, version: NewVersion | VersionId | None) -> bool:
        with self.together():
            page = self._page(capture.url, capture.urlkey, head)
            if isinstance(version, NewVersion):
                if self._db.execute(
                    "SELECT 1 FROM version WHERE page = ? AND digest = ?",
                    (page, bytes.fromhex(version.record.digest)),
                ).fetchone():
                    raise Conflict("the same body was stored by another writer")
                version = self._add_version(page, head, version)
            return self._add_capture(page, capture, int(version or 0))

    def _page(self, url: str, urlkey: str, head: PageHead) -> int:
        row = self._db.execute("SELECT id, versions, lineages FROM page WHERE url = ?", (url,)).fetchone()
        if row is None:
            cursor = self._db.execute(
                "INSERT INTO page (url, urlkey, versions, lineages, sketch) VALUES (?, ?, 0, 0, x'')",
                (url, urlkey),
            )
            row = (cursor.lastrowid, 0, 0)
        if PageHead(*row[1:]) != head:
            raise Conflict(f"another writer stored a version of {url}")
        return int(row[0])

    def _add_version(self, page: int, head: PageHead, new: NewVersion) -> int:
        record = new.record
        cursor = self._db.execute(
            "INSERT INTO version (page, number, digest, length, charset, level, segmenter, layout, blocks,"
            " new_blocks, new_bytes, cost, base) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                page, record.number, bytes.fromhex(record.digest), record.length, record.charset,
                record.level, record.segmenter, record.layout, record.blocks, record.new_blocks,
                record.new_bytes, record.cost, record.base,
            ),
        )  # fmt: skip
        identity = int(cursor.lastrowid or 0)
        self._db.execute("INSERT INTO frame VALUES (?, ?)", (identity, new.frame))
        self._db.execute(
            "UPDATE page SET versions = ?, lineages = ?, sketch = coalesce(?, sketch) WHERE id = ?",
            (
                max(head.versions, record.number or 0),
                new.lineages,
                encode(new.sketch) if new.sketch is not None else None,
                page,
            ),
        )
        if record.number is not None:
            if new.latest:
                sqlite_fingerprints.put_fingerprint(self._db, page, record.number, new.fingerprint)
            if new.duplicate:
                sqlite_fingerprints.put_mark(self._db, identity, new.duplicate)
        return identity

    def _add_capture(self, page: int, capture: Capture, version: int) -> bool:
        cursor = self._db.execute(
            "INSERT OR IGNORE INTO capture (page, time, version, outcome, kind, status, stored_bytes,"
            " new_blocks, links, reason, location, origin, headers, quality)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                page, milliseconds(capture.captured_at), version, capture.outcome, capture.kind,
                capture.status, capture.stored_bytes, capture.new_blocks, capture.links,
                capture.reason or None, capture.location, capture.origin, packed(capture.headers),
                capture.quality.kind if capture.quality else None,
            ),
        )  # fmt: skip
        return cursor.rowcount == 1

    def amend(self, old: Capture, new: Capture) -> None:
        with self.together():
            found = self.find(new.url, new.digest.removeprefix("sha256:")) if new.digest else None
            self._add_capture(sqlite_revisits.take_out(self._db, old), new, int(found.id) if found else 0)

    def add_links(self, source: str, links: Sequence[Link], when: datetime) -> None:
        rows = [
            (edge.target, label(edge.role, edge.kind, edge.anchor)) for edge in edges_of(source, links, when)
        ]
        with self.together():
            number = numbers(self._db, list(dict.fromkeys([source, *chain.from_iterable(rows)])))
            page = number[source]
            row = self._db.execute("SELECT links FROM link WHERE source = ?", (page,)).fetchone()
            seen = [(number[target], number[words]) for target, words in rows]
            found = merged(unpack(row[0]) if row else {}, seen, milliseconds(when))
            self._db.execute("INSERT OR REPLACE INTO link VALUES (?, ?)", (page, pack(found)))

    def edges(self) -> Iterator[Edge]:
        return self._edges("SELECT source, links FROM link")

    def links_from(self, url: str) -> Iterator[Edge]:
        return self._edges(
            "SELECT source, links FROM link WHERE source = (SELECT id FROM text WHERE value = ?)", url
        )

    def links_to(self, url: str) -> Iterator[Edge]:
        number = self._one("SELECT id FROM text WHERE value = ?", url) if self._schema >= LINKS else None
        if number:
            # All pages are looked through: an index would take more room than the links.
            found = self._edges("SELECT source, links FROM link WHERE instr(links, ?)", holding(*number))
            yield from (edge for edge in found if edge.target == url)

    def _edges(self, sql: str, *values: object) -> Iterator[Edge]:
        if self._schema >= LINKS:
            with self._translated():
                yield from sqlite_links.edges(self._db, sql, *values)

    def head(self, url: str) -> PageHead:
        row = self._one("SELECT versions, lineages FROM page WHERE url = ?", url)
        return PageHead(*row) if row else PageHead()

    def latest(self, url: str, when: datetime | None = None) -> StoredVersion | None:
        row = self._one(
            "SELECT version FROM capture JOIN page ON page.id = capture.page"
            " JOIN version ON version.id = version WHERE url = ? AND time <= ? AND number IS NOT NULL"
            " AND kind <> ? ORDER BY time DESC LIMIT 1",
            url,
            milliseconds(when) if when else FOR_EVER,
            Kind.FAILED,
        )
        return self.version(row[0]) if row else None

    def find(self, url: str, digest: str) -> StoredVersion | None:
        row = self._one(f"{VERSION} WHERE url = ? AND digest = ?", url, bytes.fromhex(digest))
        return version_of(row) if row else None

    def version(self, version: VersionId) -> StoredVersion:
        row = self._one(f"{VERSION} WHERE version.id = ?", version)
        if row is None:
            raise NotArchived(f"there is no version {version}")
        return version_of(row)

    def versions(self, url: str, last: int | None = None) -> list[StoredVersion]:
        where = "WHERE version.page = (SELECT id FROM page WHERE url = ?)"
        limit = -1 if last is None else last
        found = self._all(f"{VERSION} {where} ORDER BY version.id DESC LIMIT ?", url, limit)
        return [version_of(row) for row in reversed(found)]

    def version_ids(self) -> Iterator[VersionId]:
        return self._rows(lambda row: int(row[0]), "SELECT id FROM version ORDER BY page, id")

    def similar(self, urlkey: str, sketch: tuple[int, ...], most_cost: int) -> StoredVersion | None:
        host = urlkey.partition(")")[0] + ")"
        near = self._all(
            "SELECT id, sketch FROM (SELECT id, sketch FROM page WHERE urlkey BETWEEN ?1 AND ?2"
            " ORDER BY urlkey DESC LIMIT ?4) UNION SELECT id, sketch FROM (SELECT id, sketch FROM page"
            " WHERE urlkey > ?2 AND urlkey < ?3 ORDER BY urlkey LIMIT ?4)",
            host,
            urlkey,
            host + "\U0010ffff",
            NEIGHBOURS,
        )
        likeness = {page: shared(sketch, decode(data)) for page, data in near}
        best = sorted(filter(likeness.get, likeness), key=lambda page: (likeness[page], page), reverse=True)
        row = self._one(
            f"{VERSION} JOIN json_each(?) AS near ON version.id = (SELECT id FROM version AS last"
            " WHERE last.page = near.value AND last.cost <= ? AND last.number IS NOT NULL"
            " ORDER BY id DESC LIMIT 1) ORDER BY near.key LIMIT 1",
            json.dumps(best),
            most_cost,
        )
        return version_of(row) if row else None

    def near(self, keys: Sequence[int]) -> Iterator[Fingerprinted]:
        if self._schema >= FINGERPRINTS:
            with self._translated():
                yield from sqlite_fingerprints.near(self._db, keys)

    def fingerprints(self) -> Iterator[Fingerprinted]:
        if self._schema >= FINGERPRINTS:
            yield from self._rows(sqlite_fingerprints.fingerprint_of, sqlite_fingerprints.FINGERPRINT)

    def duplicates(self, url: str | None = None) -> Iterator[Marked]:
        if self._schema >= FINGERPRINTS:
            with self._translated():
                yield from sqlite_fingerprints.marks(self._db, url)

    def add_template(self, template: LearnedTemplate) -> None:
        with self._translated(), transaction(self._db):
            self._db.execute("INSERT OR REPLACE INTO template VALUES (?, ?, ?, ?)", template_row(template))

    def template(self, site: str, when: datetime | None = None) -> LearnedTemplate | None:
        limit = milliseconds(when) if when else FOR_EVER
        row = self._one(TEMPLATE, site, limit) if self._schema >= FINGERPRINTS else None
        return template_of(row) if row else None

    def add_forms(self, site: str, url: str, forms: Sequence[FoundForm], when: datetime) -> None:
        with self.together():
            sqlite_forms.put(self._db, site, url, forms, when)

    def forms(self, site: str | None = None) -> Iterator[KeptForm]:
        if self._schema >= FORMS:
            with self._translated():
                yield from sqlite_forms.forms(self._db, site)

    def form_pages(self, site: str, signature: str) -> list[tuple[str, datetime, datetime]]:
        with self._translated():
            return sqlite_forms.pages(self._db, site, signature) if self._schema >= FORMS else []

    def frame(self, version: VersionId) -> bytes:
        row = self._one("SELECT data FROM frame WHERE version = ?", version)
        if row is None:
            raise NotArchived(f"there is no version {version}")
        return bytes(row[0])

    def frames(self, version: VersionId) -> list[bytes]:
        frames = [row[0] for row in self._all(FRAMES, version)]
        if not frames:
            raise NotArchived(f"there is no version {version}")
        return frames

    def captures(
        self, url: str, newest_first: bool = False, until: When = None, since: When = None
    ) -> Iterator[Capture]:
        order = "DESC" if newest_first else "ASC"
        columns = CAPTURE if self._schema >= FINGERPRINTS else OLD_CAPTURE
        marks = {number: mark for _, number, mark in self.duplicates(url)}
        return self._rows(
            partial(capture_of, marks=marks),
            f"{columns} WHERE capture.page = (SELECT id FROM page WHERE url = ?) AND time <= ? AND time > ?"
            f" ORDER BY time {order}, capture.version {order}",
            url,
            milliseconds(until) if until else FOR_EVER,
            milliseconds(since) if since else -FOR_EVER,
        )

    def holds(self, url: str, when: datetime, outcome: Outcome, digest: str | None) -> bool:
        row = self._one(
            "SELECT 1 FROM capture JOIN page ON page.id = capture.page"
            " LEFT JOIN version ON version.id = version WHERE url = ? AND time = ? AND outcome = ?"
            " AND (digest IS ? OR ? IS NULL)",
            url,
            milliseconds(when),
            outcome,
            bytes.fromhex(digest) if digest else None,
            digest,
        )
        return row is not None

    def urls(self, start: str, end: str) -> Iterator[tuple[str, str]]:
        return self._rows(
            lambda row: (row[0], row[1]),
            "SELECT urlkey, url FROM page WHERE urlkey >= ? AND urlkey < ? ORDER BY urlkey, url",
            start,
            end,
        )

    def totals(self) -> dict[str, Totals]:
        hosts = {row[0]: Totals(*(value or 0 for value in row[1:])) for row in self._all(TOTALS)}
        sums = [
            sum(values) for values in zip(*(astuple(total) for total in hosts.values()), strict=True)
        ] or [0] * 6
        return hosts | {"": replace(Totals(*sums), bytes_stored=self._size())}

    def check(self) -> list[str]:
        broken = [row[0] for row in self._all("PRAGMA integrity_check(20)") if row[0] != "ok"]
        lost = self._all(
            "SELECT url, time FROM capture JOIN page ON page.id = capture.page"
            " WHERE version <> 0 AND NOT EXISTS (SELECT 1 FROM version WHERE version.id = capture.version)"
        )
        return broken + [f"the capture of {url} at {time} points at no version" for url, time in lost]

    def _size(self) -> int:
        names = (self._path, f"{self._path}-wal")
        return sum(Path(name).stat().st_size for name in names if Path(name).exists())

    def close(self) -> None:
        with suppress(sqlite3.Error):  # a hint to the query planner; the archive may be damaged
            self._db.execute("PRAGMA optimize")
        self._db.close()

    def _one(self, sql: str, *values: object) -> Any:
        with self._translated():
            return self._db.execute(sql, values).fetchone()

    def _all(self, sql: str, *values: object) -> list[Any]:
        with self._translated():
            return self._db.execute(sql, values).fetchall()

    def _rows(self, make: Callable[[Any], Row], sql: str, *values: object) -> Iterator[Row]:
        with self._translated():
            yield from map(make, self._db.execute(sql, values))
