"""Fingerprints of pages in the SQLite archive, the keys that find them, and marks of near-duplicates."""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

from archivebot.models import Capture, Duplicate, Fingerprint
from archivebot.storage.base import MOST_NEAR, Fingerprinted, Marked
from archivebot.storage.checksum import checksum
from archivebot.storage.sqlite.file import ArchiveFile
from archivebot.storage.sqlite.rows import PAGE_OF
from archivebot.storage.sqlite.sums import insert, intact, whole

FINGERPRINT = (
    f"SELECT {intact('fingerprint')}, url, number, digest, simhash, words, keys"
    " FROM fingerprint JOIN page ON page.id = page"
)
NEAR = f"{FINGERPRINT} JOIN json_each(?) AS near ON near.value = fingerprint.page ORDER BY near.key"
MARK = (
    f"SELECT {intact('duplicate')}, page.url, version.number, duplicate.url, duplicate.number, distance,"
    " jaccard, rule FROM page"
    " JOIN version ON version.page = page.id JOIN duplicate ON duplicate.version = version.id"
)

# The index of keys and the keys in the fingerprints, in one statement: others may store pages meanwhile.
KEYS = "SELECT page, key, NULL FROM fingerprint_key UNION ALL SELECT page, NULL, keys FROM fingerprint"


class SQLiteFingerprints:
    """The FingerprintStore of an archive in a file."""

    def __init__(self, file: ArchiveFile) -> None:
        self._file = file

    def put(self, capture: Capture, fingerprint: Fingerprint | None) -> None:
        with self._file.together():
            (page,) = self._file.database.execute(f"SELECT {PAGE_OF}", (capture.url,)).fetchone()
            put_fingerprint(self._file.database, page, capture.number or 0, fingerprint)

    def near(self, keys: Sequence[int]) -> Iterator[Fingerprinted]:
        if not keys:
            return
        with self._file.reading():
            database = self._file.database
            pages = sorted(page for (page,) in database.execute(_sharing(len(keys), MOST_NEAR), keys))
            yield from map(fingerprint_of, database.execute(NEAR, (json.dumps(pages),)))

    def all(self) -> Iterator[Fingerprinted]:
        return self._file.rows(fingerprint_of, FINGERPRINT)

    def marks(self, url: str | None = None) -> Iterator[Marked]:
        where, values = (f" WHERE page.id = {PAGE_OF}", (url,)) if url is not None else ("", ())
        return self._file.rows(mark_of, f"{MARK}{where} ORDER BY page.id, version.id", *values)


def put_fingerprint(
    database: sqlite3.Connection, page: int, number: int, fingerprint: Fingerprint | None
) -> None:
    """Replace the fingerprint of a page and its keys, in the current transaction; None removes them."""
    row = database.execute("SELECT keys FROM fingerprint WHERE page = ?", (page,)).fetchone()
    before = set(unpack(row[0])) if row else set()
    after = set(fingerprint.keys) if fingerprint else set()
    database.executemany(
        "DELETE FROM fingerprint_key WHERE key = ? AND page = ?", [(key, page) for key in before - after]
    )
    database.executemany("INSERT INTO fingerprint_key VALUES (?, ?)", [(key, page) for key in after - before])
    if fingerprint:
        database.execute(
            insert("fingerprint", "OR REPLACE"),
            (page, number, *_values(fingerprint)),
        )
    elif row:
        database.execute("DELETE FROM fingerprint WHERE page = ?", (page,))


def put_mark(database: sqlite3.Connection, version: int, duplicate: Duplicate) -> None:
    """Mark a version as a near-duplicate, in the current transaction."""
    database.execute(
        insert("duplicate"),
        (
            version, duplicate.url, duplicate.number, duplicate.distance, duplicate.jaccard, duplicate.rule,
        ),
    )  # fmt: skip


@cache
def _sharing(count: int, most: int) -> str:
    """Return one statement for all keys, six times as fast as one for each; ``most`` pages per key."""
    one = f"SELECT page FROM (SELECT page FROM fingerprint_key WHERE key = ? ORDER BY page LIMIT {most})"
    return " UNION ".join([one] * count)


def lost_keys(database: sqlite3.Connection) -> Iterator[str]:
    """Yield the differences between the index of keys and the keys in the fingerprints."""
    surplus = 0
    for page, key, keys in database.execute(KEYS):
        if key is not None:
            surplus += checksum(key, page)
        else:
            surplus -= sum(checksum(each, page) for each in set(unpack(keys)))
    if surplus:
        yield "the keys by which near-duplicates are found are not those of the fingerprints"


def fingerprint_of(row: Any) -> Fingerprinted:
    """Read a row of ``FINGERPRINT``."""
    url, number, digest, simhash, words, keys = whole(row)
    bits = int.from_bytes(simhash, "big") if simhash is not None else None
    return url, number, Fingerprint(digest, bits, unpack(keys), words)


def mark_of(row: Any) -> Marked:
    """Read a row of ``MARK``."""
    url, number, *rest = whole(row)
    return url, number, Duplicate(*rest)


def _values(fingerprint: Fingerprint) -> tuple[int, bytes | None, int, bytes]:
    bits = fingerprint.simhash
    simhash = bits.to_bytes(8, "big") if bits is not None else None
    return fingerprint.digest, simhash, fingerprint.words, pack(fingerprint.keys)


def pack(keys: tuple[int, ...]) -> bytes:
    """Return keys as 8 bytes each, big-endian and signed.

    >>> pack((1, -1)).hex(" ", 8)
    '0000000000000001 ffffffffffffffff'
    """
    return struct.pack(f">{len(keys)}q", *keys)


def unpack(data: bytes) -> tuple[int, ...]:
    """Read keys.

    >>> unpack(pack((2**63 - 1, -(2**63))))
    (9223372036854775807, -9223372036854775808)
    """
    return struct.unpack(f">{len(data) // 8}q", data)
