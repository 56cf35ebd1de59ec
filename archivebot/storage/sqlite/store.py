"""The archive in one SQLite file."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import suppress
from dataclasses import astuple, fields, replace
from datetime import datetime
from functools import cache
from operator import itemgetter
from typing import Any

from archivebot.exceptions import Conflict, CorruptObject, NotArchived
from archivebot.models import Capture, Kind, Outcome
from archivebot.storage.attachments import AttachmentStore
from archivebot.storage.base import (
    Damaged,
    DictionaryStore,
    FingerprintStore,
    FormStore,
    NewVersion,
    PageHead,
    StoredVersion,
    TemplateStore,
    Totals,
    VersionId,
    When,
    raised,
)
from archivebot.storage.checksum import checksum
from archivebot.storage.edges import LinkStore
from archivebot.storage.log import LogStore
from archivebot.storage.retention import RetentionStore
from archivebot.storage.revisits import RevisitStore
from archivebot.storage.sketch import NEIGHBOURS, decode, encode, shared
from archivebot.storage.sqlite.attachments import LOST as WITHOUT_BLOCK
from archivebot.storage.sqlite.attachments import SQLiteAttachments
from archivebot.storage.sqlite.captures import STATE, Shapes, SQLiteCaptures
from archivebot.storage.sqlite.dictionaries import SQLiteDictionaries, has_base
from archivebot.storage.sqlite.file import ArchiveFile
from archivebot.storage.sqlite.fingerprints import SQLiteFingerprints, lost_keys, put_fingerprint, put_mark
from archivebot.storage.sqlite.forms import SQLiteForms
from archivebot.storage.sqlite.links import SQLiteLinks
from archivebot.storage.sqlite.log import SQLiteLog
from archivebot.storage.sqlite.retention import SQLiteRetention
from archivebot.storage.sqlite.revisits import SQLiteRevisits
from archivebot.storage.sqlite.rows import (
    DIGEST,
    FRAMES,
    PAGE_OF,
    TOTALS,
    VERSION,
    VISITS,
    totals_of,
    version_of,
)
from archivebot.storage.sqlite.schema import altered
from archivebot.storage.sqlite.sums import damage, insert, intact, renew, whole
from archivebot.storage.sqlite.templates import SQLiteTemplates
from archivebot.storage.times import just_before, milliseconds
from archivebot.urls import host_part, urlkey

PAGE = f"SELECT {intact('page')}, id, versions, lineages FROM page"

# The captures in all runs that are intact.
SEEN = (
    "(SELECT page, visit.value ->> 0 AS time, visit.value ->> 1 AS version, visit.value ->> 2 AS shape"
    f" FROM (SELECT * FROM capture WHERE {intact('capture')}) AS capture JOIN {VISITS}) AS capture"
)

# Captures that point at no version.
LOST = (
    f"SELECT url, time FROM {SEEN} JOIN page ON page.id = capture.page"
    " WHERE version <> 0 AND NOT EXISTS (SELECT 1 FROM version WHERE version.id = capture.version)"
)

# Captures whose shape is missing, or whose exchange refers to a missing reference.
REFERENCELESS = (
    f"SELECT url, time, iif(shape.id IS NULL, 'shape', 'reference') FROM {SEEN}"
    " JOIN page ON page.id = capture.page LEFT JOIN shape ON shape.id = capture.shape"
    " LEFT JOIN reference ON reference.id = reference"
    " WHERE shape.id IS NULL OR reference IS NOT NULL AND reference.id IS NULL"
)

# The columns of a page as they are: a URL that is no UTF-8 would end the rows of a statement. The URL is NULL
# if it is no text.
LISTED = "page.sum, iif(typeof(url) = 'text', CAST(url AS BLOB), NULL), versions, lineages, sketch"

# The pages, each with the sum of the checksums of its runs.
TALLIES = (
    f"SELECT {LISTED}, coalesce(sum(capture.sum), 0) FROM capture"
    " JOIN page ON page.id = capture.page GROUP BY capture.page"
)


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
        self._log = SQLiteLog(self)
        self.log: LogStore = self._log
        self._captures = SQLiteCaptures(self, self._log)
        self.revisits: RevisitStore = SQLiteRevisits(self, self._captures)
        self.retention: RetentionStore = SQLiteRetention(self)
        self.attachments: AttachmentStore = SQLiteAttachments(self)
        self._log.complete(self._intact())

    def add(self, capture: Capture, head: PageHead, version: NewVersion | VersionId | None) -> bool:
        with self.together():
            page = self._page(capture.url, capture.urlkey, head)
            if isinstance(version, NewVersion):
                known = self.find(capture.url, version.record.digest)
                if known and known.serves_as(version.record):
                    raise Conflict("the same body was stored by another writer")
                if not has_base(self.database, version.record.base):
                    raise Conflict("another process replaced the dictionary of the site, or pruned a version")
                version = self._add_version(page, head, version)
            return self._captures.add(page, capture, int(version or 0))

    def _page(self, url: str, urlkey: str, head: PageHead) -> int:
        known: Any = self.one(whole, f"{PAGE} WHERE id = {PAGE_OF}", url)
        if known is None:
            cursor = self.database.execute(insert("page"), (url, 0, 0, b""))
            self.database.execute("INSERT INTO page_key VALUES (?, ?)", (urlkey, cursor.lastrowid))
            known = (cursor.lastrowid, 0, 0)
        page, versions, lineages = known
        if PageHead(versions, lineages) != head:
            raise Conflict(f"another writer stored a version of {url}")
        return int(page)

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

    def amend(self, old: Capture, new: Capture) -> None:
        with self.together():
            page = self._id(new.url)
            before, after = self._version_of(page, old), self._version_of(page, new)
            self._captures.take_out(page, old.url, milliseconds(old.captured_at), old.outcome, before)
            self._captures.add(page, new, after)

    def _version_of(self, page: int, capture: Capture) -> int:
        """Return the id of the version that a capture points at, 0 for none."""
        if not capture.digest:
            return 0
        sql = f"SELECT id FROM version WHERE page = ?1 AND {DIGEST} AND number IS ?3"
        return self.number(sql, page, bytes.fromhex(capture.sha256), capture.number)

    def _id(self, url: str) -> int:
        """Return the id of a page, 0 for a page never seen."""
        return self.number(f"SELECT coalesce({PAGE_OF}, 0)", url)

    def head(self, url: str) -> PageHead:
        found = self.one(whole, f"{PAGE} WHERE id = {PAGE_OF}", url)
        return PageHead(*found[1:]) if found else PageHead()

    def latest(self, url: str, when: datetime | None = None) -> StoredVersion | None:
        shapes, others = Shapes(self, url), {0}  # versions of no content
        with self.reading():
            for visit in self._captures.visits(url, newest_first=True, until=when):
                if visit.version not in others and shapes(visit.shape).kind != Kind.FAILED:
                    found = self.one(version_of, f"{VERSION} WHERE version.id = ?", visit.version)
                    if found and found.number is not None:
                        return found
                    others.add(visit.version)
        return None

    def find(self, url: str, digest: str) -> StoredVersion | None:
        sql = f"{VERSION} WHERE version.page = {PAGE_OF} AND {DIGEST} ORDER BY number IS NULL"
        return self.one(version_of, sql, url, bytes.fromhex(digest))

    def version(self, version: VersionId) -> StoredVersion:
        found = self.one(version_of, f"{VERSION} WHERE version.id = ?", version)
        if found is None:
            raise NotArchived(f"there is no version {version}")
        return found

    def versions(self, url: str, last: int | None = None) -> list[StoredVersion]:
        found = self.all(
            version_of,
            f"{VERSION} WHERE version.page = {PAGE_OF} ORDER BY version.id DESC LIMIT ?",
            url,
            -1 if last is None else last,
        )
        return found[::-1]

    def versions_after(self, url: str, after: VersionId | None = None) -> Iterator[StoredVersion]:
        return self.rows(
            version_of,
            f"{VERSION} WHERE version.page = {PAGE_OF} AND version.id > ?"
            " AND number IS NOT NULL ORDER BY version.id",
            url,
            after or 0,
        )

    def version_ids(self) -> Iterator[VersionId]:
        return self.rows(itemgetter(0), "SELECT id FROM version ORDER BY page, id")

    def similar(self, urlkey: str, sketch: tuple[int, ...], most_cost: int) -> StoredVersion | None:
        host = f"{host_part(urlkey)})"
        near = self.all(
            lambda row: (row[0], decode(row[1])),
            "SELECT id, sketch FROM page WHERE id IN (SELECT page FROM (SELECT page FROM page_key"
            " WHERE key BETWEEN ?1 AND ?2 ORDER BY key DESC LIMIT ?4) UNION SELECT page FROM (SELECT page"
            " FROM page_key WHERE key > ?2 AND key < ?3 ORDER BY key LIMIT ?4))",
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
            " WHERE last.page = near.value AND last.cost BETWEEN 1 AND ? AND last.number IS NOT NULL"
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
        self,
        url: str,
        newest_first: bool = False,
        until: When = None,
        since: When = None,
        brief: bool = False,
        damaged: Damaged = raised,
    ) -> Iterator[Capture]:
        marks = cache(
            lambda: {} if brief else {number: mark for _, number, mark in self.fingerprints.marks(url)}
        )
        with self.reading():
            yield from self._captures.all(url, marks, newest_first, until, since, brief, damaged)

    def _intact(self) -> Iterator[Capture]:
        """Yield the captures of all pages up to the first one of a page that cannot be read."""
        urls = self.all(lambda row: str(row[0]), "SELECT url FROM page ORDER BY id")
        for url in urls:
            with suppress(CorruptObject):
                yield from self.captures(url)

    def state(self, url: str) -> Hashable:
        return self.one(tuple, STATE, self._id(url))

    def holds(self, url: str, when: datetime, outcome: Outcome, digest: str | None) -> bool:
        seen = self.captures(url, until=when, since=just_before(when), brief=True)
        return any(capture.outcome is outcome and digest in (None, capture.sha256) for capture in seen)

    def urls(
        self, start: str, end: str, after: str = "", damaged: Damaged | None = None
    ) -> Iterator[tuple[str, str]]:
        return self.sound(
            keyed,
            f"SELECT {LISTED}, CAST(key AS BLOB) FROM page_key"
            " JOIN page ON page.id = page_key.page WHERE key >= ?1 AND key < ?2"
            " AND (key > ?1 OR url > ?3) ORDER BY key, url",
            start,
            end,
            after,
            damaged=damaged,
        )

    def tallies(self, damaged: Damaged | None = None) -> Iterator[tuple[str, int]]:
        return self.sound(listed, TALLIES, damaged=damaged)

    def totals(self) -> dict[str, Totals]:
        hosts = dict(self.all(totals_of, TOTALS))
        sums = [
            sum(values) for values in zip(*(astuple(total) for total in hosts.values()), strict=True)
        ] or [0] * len(fields(Totals))
        return hosts | {"": replace(Totals(*sums), bytes_stored=self.size())}

    def check(self) -> list[str]:
        found: list[str] = []
        parts: tuple[Callable[[], Iterable[str]], ...] = (
            lambda: (row for row in self.rows(text, "PRAGMA integrity_check(20)") if row != "ok"),
            lambda: altered(self.database),
            lambda: self.rows("the capture of {0[0]} at {0[1]} has lost its {0[2]}".format, REFERENCELESS),
            lambda: damage(self.database),
            lambda: lost_keys(self.database),
            lambda: self.rows("an attachment at {0[0]} has lost its block".format, WITHOUT_BLOCK),
            lambda: self.rows("the capture of {0[0]} at {0[1]} points at no version".format, LOST),
        )
        for part in parts:
            try:
                with self.reading():
                    found.extend(part())
            except CorruptObject as error:  # a part that cannot be read hides nothing of the others
                found.append(str(error))
        return list(dict.fromkeys(found))


def listed(row: Any) -> tuple[str, Any]:
    """Return the URL of a row of ``LISTED``, and the value after it."""
    stored, raw, *rest, value = row
    url = raw.decode(errors="backslashreplace") if raw is not None else "a page without a URL"
    if stored != checksum(url, *rest):
        raise CorruptObject(f"{url} does not have its checksum or its key")
    return url, value


def keyed(row: Any) -> tuple[str, str]:
    """Return the urlkey and the URL of a page, from a row of ``LISTED`` and its key."""
    url, key = listed(row)
    if key != urlkey(url).encode():
        raise CorruptObject(f"{url} does not have its checksum or its key")
    return key.decode(), url


def text(row: tuple[str]) -> str:
    return row[0]


def frame_of(row: tuple[bytes]) -> bytes:
    return bytes(row[0])
