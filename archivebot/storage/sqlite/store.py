"""The archive in one SQLite file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import astuple, replace
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any

from archivebot.exceptions import Conflict, CorruptObject, NotArchived
from archivebot.models import Capture, FoundForm, Kind, Link, Outcome
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
from archivebot.storage.checksum import checksum
from archivebot.storage.revisits import RevisitStore
from archivebot.storage.sketch import decode, encode, shared
from archivebot.storage.sqlite import fingerprints as sqlite_fingerprints
from archivebot.storage.sqlite import forms as sqlite_forms
from archivebot.storage.sqlite import links as sqlite_links
from archivebot.storage.sqlite import revisits as sqlite_revisits
from archivebot.storage.sqlite.file import ArchiveFile
from archivebot.storage.sqlite.links import holding, label, links_of, merged, numbers, pack
from archivebot.storage.sqlite.migration import transaction
from archivebot.storage.sqlite.rows import (
    CAPTURE,
    FRAMES,
    OLD_CAPTURE,
    TEMPLATE,
    TOTALS,
    VERSION,
    capture_of,
    packed,
    template_of,
    template_row,
    totals_of,
    version_of,
)
from archivebot.storage.sqlite.schema import CHECKSUMS, FINGERPRINTS, FORMS, LINKS, altered
from archivebot.storage.sqlite.sums import damage, insert, intact, renew, whole
from archivebot.storage.times import milliseconds

FOR_EVER = 1 << 62

PAGE = f"SELECT {intact('page')}, id, versions, lineages FROM page"
LINK = f"SELECT {intact('link')}, source, links FROM link"

# Captures that point at no version.
LOST = (
    "SELECT url, time FROM capture JOIN page ON page.id = capture.page"
    " WHERE version <> 0 AND NOT EXISTS (SELECT 1 FROM version WHERE version.id = capture.version)"
)

# Neighbours in urlkey order, on each side, that are looked at for a similar page of the same site.
NEIGHBOURS = 8


class SQLiteStore(ArchiveFile):
    """Keeps an archive in one SQLite file in WAL mode, one transaction per capture.

    An instance belongs to the thread that opened it; several processes may write the same file.
    """

    def __init__(self, path: str, writable: bool = True) -> None:
        super().__init__(path, writable)
        self.revisits: RevisitStore = sqlite_revisits.SQLiteRevisits(self._db, self.together)

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
        known: Any = self._one(whole, f"{PAGE} WHERE url = ?", url)
        if known is None:
            cursor = self._db.execute(insert("page"), (url, urlkey, 0, 0, b""))
            known = (cursor.lastrowid, 0, 0)
        page, versions, lineages = known
        if PageHead(versions, lineages) != head:
            raise Conflict(f"another writer stored a version of {url}")
        return int(page)

    def _add_version(self, page: int, head: PageHead, new: NewVersion) -> int:
        record = new.record
        cursor = self._db.execute(
            insert("version"),
            (
                page, record.number, bytes.fromhex(record.digest), record.length, record.charset,
                record.level, record.segmenter, record.layout, record.blocks, record.new_blocks,
                record.new_bytes, record.cost, record.base, checksum(new.frame),
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
        self._db.execute(f"{renew('page')} WHERE id = ?", (page,))
        if record.number is not None:
            if new.latest:
                sqlite_fingerprints.put_fingerprint(self._db, page, record.number, new.fingerprint)
            if new.duplicate:
                sqlite_fingerprints.put_mark(self._db, identity, new.duplicate)
        return identity

    def _add_capture(self, page: int, capture: Capture, version: int) -> bool:
        cursor = self._db.execute(
            insert("capture", "OR IGNORE"),
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
            found = self.find(new.url, new.sha256) if new.digest else None
            self._add_capture(sqlite_revisits.take_out(self._db, old), new, int(found.id) if found else 0)

    def add_links(self, source: str, links: Sequence[Link], when: datetime) -> None:
        rows = [
            (edge.target, label(edge.role, edge.kind, edge.anchor)) for edge in edges_of(source, links, when)
        ]
        with self.together():
            number = numbers(self._db, list(dict.fromkeys([source, *chain.from_iterable(rows)])))
            page = number[source]
            known = self._one(links_of, f"{LINK} WHERE source = ?", page)
            seen = [(number[target], number[words]) for target, words in rows]
            found = merged(known[1] if known else {}, seen, milliseconds(when))
            self._db.execute(insert("link", "OR REPLACE"), (page, pack(found)))

    def edges(self) -> Iterator[Edge]:
        return self._edges(LINK)

    def links_from(self, url: str) -> Iterator[Edge]:
        return self._edges(f"{LINK} WHERE source = (SELECT id FROM text WHERE value = ?)", url)

    def links_to(self, url: str) -> Iterator[Edge]:
        known = (
            self._one(first, "SELECT id FROM text WHERE value = ?", url) if self._schema >= LINKS else None
        )
        if known:
            # All pages are looked through: an index would take more room than the links.
            found = self._edges(f"{LINK} WHERE instr(links, ?)", holding(known))
            yield from (edge for edge in found if edge.target == url)

    def _edges(self, sql: str, *values: object) -> Iterator[Edge]:
        if self._schema >= LINKS:
            with self._reading():
                yield from sqlite_links.edges(self._db, sql, *values)

    def head(self, url: str) -> PageHead:
        found = self._one(whole, f"{PAGE} WHERE url = ?", url)
        return PageHead(*found[1:]) if found else PageHead()

    def latest(self, url: str, when: datetime | None = None) -> StoredVersion | None:
        found = self._one(
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
        return self._one(version_of, f"{VERSION} WHERE url = ? AND digest = ?", url, bytes.fromhex(digest))

    def version(self, version: VersionId) -> StoredVersion:
        found = self._one(version_of, f"{VERSION} WHERE version.id = ?", version)
        if found is None:
            raise NotArchived(f"there is no version {version}")
        return found

    def versions(self, url: str, last: int | None = None) -> list[StoredVersion]:
        found = self._all(
            version_of,
            f"{VERSION} WHERE version.page = (SELECT id FROM page WHERE url = ?)"
            " ORDER BY version.id DESC LIMIT ?",
            url,
            -1 if last is None else last,
        )
        return found[::-1]

    def version_ids(self) -> Iterator[VersionId]:
        return self._rows(first, "SELECT id FROM version ORDER BY page, id")

    def similar(self, urlkey: str, sketch: tuple[int, ...], most_cost: int) -> StoredVersion | None:
        host = urlkey.partition(")")[0] + ")"
        near = self._all(
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
        return self._one(
            version_of,
            f"{VERSION} JOIN json_each(?) AS near ON version.id = (SELECT id FROM version AS last"
            " WHERE last.page = near.value AND last.cost <= ? AND last.number IS NOT NULL"
            " ORDER BY id DESC LIMIT 1) ORDER BY near.key LIMIT 1",
            json.dumps(best),
            most_cost,
        )

    def near(self, keys: Sequence[int]) -> Iterator[Fingerprinted]:
        if self._schema >= FINGERPRINTS:
            with self._reading():
                yield from sqlite_fingerprints.near(self._db, keys)

    def fingerprints(self) -> Iterator[Fingerprinted]:
        if self._schema >= FINGERPRINTS:
            yield from self._rows(sqlite_fingerprints.fingerprint_of, sqlite_fingerprints.FINGERPRINT)

    def duplicates(self, url: str | None = None) -> Iterator[Marked]:
        if self._schema >= FINGERPRINTS:
            with self._reading():
                yield from sqlite_fingerprints.marks(self._db, url)

    def add_template(self, template: LearnedTemplate) -> None:
        with self._translated(), transaction(self._db):
            self._db.execute(insert("template", "OR REPLACE"), template_row(template))

    def template(self, site: str, when: datetime | None = None) -> LearnedTemplate | None:
        limit = milliseconds(when) if when else FOR_EVER
        return self._one(template_of, TEMPLATE, site, limit) if self._schema >= FINGERPRINTS else None

    def add_forms(self, site: str, url: str, forms: Sequence[FoundForm], when: datetime) -> None:
        with self.together():
            for form in forms:  # what is damaged must not get a new checksum
                self._one(whole, sqlite_forms.KNOWN, url, site, form.signature)
            sqlite_forms.put(self._db, site, url, forms, when)

    def forms(self, site: str | None = None) -> Iterator[KeptForm]:
        if self._schema >= FORMS:
            with self._reading():
                yield from sqlite_forms.forms(self._db, site)

    def form_pages(self, site: str, signature: str) -> list[tuple[str, datetime, datetime]]:
        with self._reading():
            return sqlite_forms.pages(self._db, site, signature) if self._schema >= FORMS else []

    def frame(self, version: VersionId) -> bytes:
        found = self._one(frame_of, "SELECT data FROM frame WHERE version = ?", version)
        if found is None:
            raise NotArchived(f"there is no version {version}")
        return found

    def frames(self, version: VersionId) -> list[bytes]:
        frames = self._all(frame_of, FRAMES, version)
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
        found = self._one(
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

    def urls(self, start: str, end: str) -> Iterator[tuple[str, str]]:
        return self._rows(
            whole,
            f"SELECT {intact('page')}, urlkey, url FROM page WHERE urlkey >= ? AND urlkey < ?"
            " ORDER BY urlkey, url",
            start,
            end,
        )

    def totals(self) -> dict[str, Totals]:
        hosts = dict(self._all(totals_of, TOTALS))
        sums = [
            sum(values) for values in zip(*(astuple(total) for total in hosts.values()), strict=True)
        ] or [0] * 6
        return hosts | {"": replace(Totals(*sums), bytes_stored=self._size())}

    def check(self) -> list[str]:
        found: list[str] = []
        try:
            with self._reading():
                found += [row[0] for row in self._db.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
                if self._schema >= CHECKSUMS:
                    found += altered(self._db)
                    found += damage(self._db)
                    found += sqlite_fingerprints.lost_keys(self._db)
                found += self._all(
                    lambda row: f"the capture of {row[0]} at {row[1]} points at no version", LOST
                )
        except CorruptObject as error:
            found.append(str(error))
        return found


def first(row: tuple[int, ...]) -> int:
    return row[0]


def frame_of(row: tuple[bytes]) -> bytes:
    return bytes(row[0])
