"""The archive in one SQLite file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import astuple, replace
from datetime import datetime
from functools import cache, partial
from typing import Any

from archivebot.exceptions import Conflict, CorruptObject, NotArchived
from archivebot.models import Capture, Kind, Outcome
from archivebot.storage.base import (
    DictionaryStore,
    FingerprintStore,
    FormStore,
    LinkStore,
    NewVersion,
    PageHead,
    StoredVersion,
    TemplateStore,
    Totals,
    VersionId,
    When,
)
from archivebot.storage.checksum import checksum
from archivebot.storage.revisits import RevisitStore
from archivebot.storage.sketch import decode, encode, shared
from archivebot.storage.sqlite.dictionaries import SQLiteDictionaries
from archivebot.storage.sqlite.file import ArchiveFile
from archivebot.storage.sqlite.fingerprints import SQLiteFingerprints, lost_keys, put_fingerprint, put_mark
from archivebot.storage.sqlite.forms import SQLiteForms
from archivebot.storage.sqlite.links import SQLiteLinks
from archivebot.storage.sqlite.revisits import SQLiteRevisits, take_out
from archivebot.storage.sqlite.rows import (
    DIGEST,
    FRAMES,
    TOTALS,
    VERSION,
    capture_of,
    capture_rows,
    packed,
    totals_of,
    version_of,
)
from archivebot.storage.sqlite.schema import CHECKSUMS, DICTIONARIES, WIRE, altered
from archivebot.storage.sqlite.sums import SUMMED, damage, insert, intact, renew, whole
from archivebot.storage.sqlite.templates import SQLiteTemplates
from archivebot.storage.sqlite.wire import put_wire
from archivebot.storage.times import milliseconds

FOR_EVER = 1 << 62

PAGE = f"SELECT {intact('page')}, id, versions, lineages FROM page"

# Captures that point at no version.
LOST = (
    "SELECT url, time FROM capture JOIN page ON page.id = capture.page"
    " WHERE version <> 0 AND NOT EXISTS (SELECT 1 FROM version WHERE version.id = capture.version)"
)

# Captures whose exchange refers to a missing reference.
REFERENCELESS = (
    "SELECT url, time FROM capture JOIN page ON page.id = capture.page WHERE reference IS NOT NULL"
    " AND NOT EXISTS (SELECT 1 FROM reference WHERE reference.id = capture.reference)"
)

# Tables with checksums, or whose checksums, older archives do not have, by the schema that introduced them.
ADDED = {"reference": WIRE, "dictionary": DICTIONARIES, "text": DICTIONARIES}

# Neighbours in urlkey order, on each side, among which a similar page of the same site is searched.
NEIGHBOURS = 8


class SQLiteStore(ArchiveFile):
    """Keeps an archive in one SQLite file in WAL mode, one transaction per capture.

    An instance belongs to the thread that opened it; several processes may write the same file.
    """

    def __init__(self, path: str, writable: bool = True) -> None:
        super().__init__(path, writable)
        self.dictionaries: DictionaryStore = SQLiteDictionaries(self)
        self.links: LinkStore = SQLiteLinks(self)
        self.fingerprints: FingerprintStore = SQLiteFingerprints(self)
        self.templates: TemplateStore = SQLiteTemplates(self)
        self.forms: FormStore = SQLiteForms(self)
        self.revisits: RevisitStore = SQLiteRevisits(self.database, self.together)

    def add(self, capture: Capture, head: PageHead, version: NewVersion | VersionId | None) -> bool:
        with self.together():
            page = self._page(capture.url, capture.urlkey, head)
            if isinstance(version, NewVersion):
                if self.database.execute(
                    f"SELECT 1 FROM version WHERE page = ?1 AND {DIGEST}",
                    (page, bytes.fromhex(version.record.digest)),
                ).fetchone():
                    raise Conflict("the same body was stored by another writer")
                if not self._has_base(version.record.base):
                    raise Conflict("another writer replaced the dictionary of the site")
                version = self._add_version(page, head, version)
            return self._add_capture(page, capture, int(version or 0))

    def _page(self, url: str, urlkey: str, head: PageHead) -> int:
        known: Any = self.one(whole, f"{PAGE} WHERE url = ?", url)
        if known is None:
            cursor = self.database.execute(insert("page"), (url, urlkey, 0, 0, b""))
            known = (cursor.lastrowid, 0, 0)
        page, versions, lineages = known
        if PageHead(versions, lineages) != head:
            raise Conflict(f"another writer stored a version of {url}")
        return int(page)

    def _has_base(self, base: VersionId | None) -> bool:
        """Return whether a base is still there: a dictionary may be removed, a version never is."""
        if not self.dictionaries.has(base):
            return True
        found = self.database.execute("SELECT 1 FROM dictionary WHERE id = ?", (base,)).fetchone()
        return found is not None

    def _add_version(self, page: int, head: PageHead, new: NewVersion) -> int:
        record = new.record
        cursor = self.database.execute(
            insert("version"),
            (
                page, record.number, bytes.fromhex(record.digest), record.length, record.charset,
                record.level, record.segmenter, record.layout, record.blocks, record.new_blocks,
                record.new_bytes, record.cost, record.base, checksum(new.frame),
            ),
        )  # fmt: skip
        identity = int(cursor.lastrowid or 0)
        self.database.execute("INSERT INTO frame VALUES (?, ?)", (identity, new.frame))
        self.database.execute(
            "UPDATE page SET versions = ?, lineages = ?, sketch = coalesce(?, sketch) WHERE id = ?",
            (
                max(head.versions, record.number or 0),
                new.lineages,
                encode(new.sketch) if new.sketch is not None else None,
                page,
            ),
        )
        self.database.execute(f"{renew('page')} WHERE id = ?", (page,))
        if record.number is not None:
            if new.latest:
                put_fingerprint(self.database, page, record.number, new.fingerprint)
            if new.duplicate:
                put_mark(self.database, identity, new.duplicate)
        return identity

    def _add_capture(self, page: int, capture: Capture, version: int) -> bool:
        wire = put_wire(self.database, capture)
        cursor = self.database.execute(
            insert("capture", "OR IGNORE"),
            (
                page, milliseconds(capture.captured_at), version, capture.outcome, capture.kind,
                capture.status, capture.stored_bytes, capture.new_blocks, capture.links,
                capture.reason or None, capture.location, capture.origin,
                packed(capture.headers, capture.wire),
                capture.quality.kind if capture.quality else None, *wire,
            ),
        )  # fmt: skip
        return cursor.rowcount == 1

    def amend(self, old: Capture, new: Capture) -> None:
        with self.together():
            found = self.find(new.url, new.sha256) if new.digest else None
            self._add_capture(take_out(self.database, old), new, int(found.id) if found else 0)

    def head(self, url: str) -> PageHead:
        found = self.one(whole, f"{PAGE} WHERE url = ?", url)
        return PageHead(*found[1:]) if found else PageHead()

    def latest(self, url: str, when: datetime | None = None) -> StoredVersion | None:
        found = self.one(
            first,
            "SELECT version FROM capture JOIN page ON page.id = capture.page"
            " JOIN version ON version.id = version WHERE url = ? AND time <= ? AND number IS NOT NULL"
            " AND kind <> ? ORDER BY time DESC LIMIT 1",
            url,
            milliseconds(when) if when else FOR_EVER,
            Kind.FAILED,
        )
        return None if found is None else self.version(found)

    def find(self, url: str, digest: str) -> StoredVersion | None:
        return self.one(version_of, f"{VERSION} WHERE url = ?1 AND {DIGEST}", url, bytes.fromhex(digest))

    def version(self, version: VersionId) -> StoredVersion:
        found = self.one(version_of, f"{VERSION} WHERE version.id = ?", version)
        if found is None:
            raise NotArchived(f"there is no version {version}")
        return found

    def versions(self, url: str, last: int | None = None) -> list[StoredVersion]:
        found = self.all(
            version_of,
            f"{VERSION} WHERE version.page = (SELECT id FROM page WHERE url = ?)"
            " ORDER BY version.id DESC LIMIT ?",
            url,
            -1 if last is None else last,
        )
        return found[::-1]

    def versions_after(self, url: str, after: VersionId | None = None) -> Iterator[StoredVersion]:
        return self.rows(
            version_of,
            f"{VERSION} WHERE version.page = (SELECT id FROM page WHERE url = ?) AND version.id > ?"
            " AND number IS NOT NULL ORDER BY version.id",
            url,
            after or 0,
        )

    def version_ids(self) -> Iterator[VersionId]:
        return self.rows(first, "SELECT id FROM version ORDER BY page, id")

    def similar(self, urlkey: str, sketch: tuple[int, ...], most_cost: int) -> StoredVersion | None:
        host = urlkey.partition(")")[0] + ")"
        near = self.all(
            lambda row: (row[0], decode(row[1])),
            "SELECT id, sketch FROM (SELECT id, sketch FROM page WHERE urlkey BETWEEN ?1 AND ?2"
            " ORDER BY urlkey DESC LIMIT ?4) UNION SELECT id, sketch FROM (SELECT id, sketch FROM page"
            " WHERE urlkey > ?2 AND urlkey < ?3 ORDER BY urlkey LIMIT ?4)",
            host,
            urlkey,
            host + "\U0010ffff",
            NEIGHBOURS,
        )
        likeness = {page: shared(sketch, other) for page, other in near}
        best = sorted(filter(likeness.get, likeness), key=lambda page: (likeness[page], page), reverse=True)
        return self.one(
            version_of,
            f"{VERSION} JOIN json_each(?) AS near ON version.id = (SELECT id FROM version AS last"
            " WHERE last.page = near.value AND last.cost <= ? AND last.number IS NOT NULL"
            " ORDER BY id DESC LIMIT 1) ORDER BY near.key LIMIT 1",
            json.dumps(best),
            most_cost,
        )

    def frame(self, version: VersionId) -> bytes:
        found = self.one(frame_of, "SELECT data FROM frame WHERE version = ?", version)
        if found is None:
            raise NotArchived(f"there is no version {version}")
        return found

    def frames(self, version: VersionId) -> list[bytes]:
        frames = self.all(frame_of, FRAMES, version)
        if not frames:
            raise NotArchived(f"there is no version {version}")
        return frames

    def captures(
        self, url: str, newest_first: bool = False, until: When = None, since: When = None
    ) -> Iterator[Capture]:
        order = "DESC" if newest_first else "ASC"
        marks = cache(lambda: {number: mark for _, number, mark in self.fingerprints.marks(url)})
        return self.rows(
            partial(capture_of, marks=marks),
            f"{capture_rows(self.schema)} WHERE capture.page = (SELECT id FROM page WHERE url = ?)"
            f" AND time <= ? AND time > ? ORDER BY time {order}, capture.version {order}",
            url,
            milliseconds(until) if until else FOR_EVER,
            milliseconds(since) if since else -FOR_EVER,
        )

    def holds(self, url: str, when: datetime, outcome: Outcome, digest: str | None) -> bool:
        found = self.one(
            first,
            "SELECT 1 FROM capture JOIN page ON page.id = capture.page"
            " LEFT JOIN version ON version.id = version WHERE url = ? AND time = ? AND outcome = ?"
            " AND (digest IS ? OR ? IS NULL)",
            url,
            milliseconds(when),
            outcome,
            bytes.fromhex(digest) if digest else None,
            digest,
        )
        return found is not None

    def urls(self, start: str, end: str, after: str = "") -> Iterator[tuple[str, str]]:
        return self.rows(
            whole,
            f"SELECT {intact('page')}, urlkey, url FROM page WHERE urlkey >= ?1 AND urlkey < ?2"
            " AND (urlkey > ?1 OR url > ?3) ORDER BY urlkey, url",
            start,
            end,
            after,
        )

    def totals(self) -> dict[str, Totals]:
        hosts = dict(self.all(totals_of, TOTALS))
        sums = [
            sum(values) for values in zip(*(astuple(total) for total in hosts.values()), strict=True)
        ] or [0] * 6
        return hosts | {"": replace(Totals(*sums), bytes_stored=self._size())}

    def check(self) -> list[str]:
        found: list[str] = []
        try:
            with self.reading():
                found += [
                    row[0] for row in self.database.execute("PRAGMA integrity_check(20)") if row[0] != "ok"
                ]
                if self.schema >= DICTIONARIES:
                    found += altered(self.database)
                if self.schema >= WIRE:
                    lost = "the capture of {0[0]} at {0[1]} has lost its reference"
                    found += self.all(lost.format, REFERENCELESS)
                if self.schema >= CHECKSUMS:
                    tables = [name for name in SUMMED if self.schema >= ADDED.get(name, 0)]
                    found += damage(self.database, tables)
                    found += lost_keys(self.database)
                found += self.all(
                    lambda row: f"the capture of {row[0]} at {row[1]} points at no version", LOST
                )
        except CorruptObject as error:
            found.append(str(error))
        return found


def first(row: tuple[int, ...]) -> int:
    return row[0]


def frame_of(row: tuple[bytes]) -> bytes:
    return bytes(row[0])
