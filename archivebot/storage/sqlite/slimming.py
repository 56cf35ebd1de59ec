"""Steps of the schema that make the rows of older archives smaller: texts in packs, captures in runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any

from archivebot.exceptions import CorruptObject
from archivebot.storage.sqlite.texts import packs
from archivebot.storage.sqlite.visits import Visit, runs
from archivebot.storage.wire import dictionary_of, parts_of

# The reference of each shape that is intact.
References = dict[int, bytes | None]


def slim_pages(database: sqlite3.Connection) -> None:
    """Store the URL and the key of each page once; a page is found by its key, computed as today."""
    for statement in (
        """CREATE TABLE page_key (
            key TEXT NOT NULL,
            page INTEGER NOT NULL REFERENCES page,
            PRIMARY KEY (key, page)) WITHOUT ROWID""",
        "INSERT INTO page_key SELECT urlkey(url), id FROM page ORDER BY 1, 2",
        """CREATE TABLE slim (
            id INTEGER PRIMARY KEY,
            url TEXT NOT NULL,
            versions INTEGER NOT NULL,
            lineages INTEGER NOT NULL,
            sketch BLOB NOT NULL,
            sum INTEGER)""",
        """INSERT INTO slim SELECT id, url, versions, lineages, sketch,
            CASE WHEN sum IS checksum(url, urlkey, versions, lineages, sketch)
            THEN checksum(url, versions, lineages, sketch) END FROM page""",
        "DROP TABLE page",
        "ALTER TABLE slim RENAME TO page",
    ):
        database.execute(statement)


def slim_captures(database: sqlite3.Connection) -> None:
    """Store once what many captures have in common. A row that was damaged keeps no checksum."""
    before = (
        "page, time, version, outcome, kind, status, stored_bytes, new_blocks, links, reason, location,"
        " origin, headers, quality, reference, wire"
    )
    common = "outcome, kind, status, file, quality, reference"
    own = (
        "page, time, version, shape.id, place, stored_bytes, new_blocks, links, reason, location, headers,"
        " wire"
    )
    for statement in (
        """CREATE TABLE shape (
            id INTEGER PRIMARY KEY,
            outcome TEXT NOT NULL,
            kind TEXT NOT NULL,
            status INTEGER,
            origin TEXT,
            quality TEXT,
            reference INTEGER REFERENCES reference,
            sum INTEGER)""",
        "CREATE INDEX shape_sum ON shape (sum)",
        """CREATE TABLE slim (
            page INTEGER NOT NULL REFERENCES page,
            time INTEGER NOT NULL,
            version INTEGER NOT NULL,
            shape INTEGER NOT NULL REFERENCES shape,
            place INTEGER,
            stored_bytes INTEGER NOT NULL,
            new_blocks INTEGER NOT NULL,
            links INTEGER NOT NULL,
            reason TEXT,
            location TEXT,
            headers BLOB,
            wire BLOB,
            sum INTEGER,
            PRIMARY KEY (page, time, version, shape)) WITHOUT ROWID""",
        # The origin of a record of a file is the name of the file, a colon and the place of the record.
        f"""CREATE TEMP VIEW cut AS SELECT *, iif(whole, CAST(digits AS INTEGER), NULL) AS place,
            iif(whole, start, origin) AS file FROM (SELECT *,
            start LIKE '%:' AND digits = CAST(CAST(digits AS INTEGER) AS TEXT) AS whole FROM (SELECT *,
            substr(origin, length(start) + 1) AS digits FROM (SELECT *, sum IS checksum({before}) AS intact,
            rtrim(origin, '0123456789') AS start FROM capture)))""",
        f"""INSERT INTO shape (outcome, kind, status, origin, quality, reference, sum)
            SELECT DISTINCT {common}, checksum({common}) FROM cut""",
        f"""INSERT INTO slim SELECT {own}, CASE WHEN intact THEN checksum({own}) END FROM cut JOIN shape
            ON shape.sum = checksum(cut.outcome, cut.kind, cut.status, file, cut.quality, cut.reference)
            AND shape.outcome = cut.outcome AND shape.kind = cut.kind AND shape.status IS cut.status
            AND shape.origin IS file AND shape.quality IS cut.quality
            AND shape.reference IS cut.reference ORDER BY page, time, version, shape.id""",
        "DROP VIEW cut",
        "DROP TABLE capture",
        "ALTER TABLE slim RENAME TO capture",
    ):
        database.execute(statement)


def pack_texts(database: sqlite3.Connection) -> None:
    """Pack the texts of links; their index has their checksums. A damaged text is in a pack without one."""
    for statement in (
        """CREATE TABLE packed (
            id INTEGER PRIMARY KEY,
            data BLOB NOT NULL,
            sum INTEGER)""",
        """CREATE TABLE text_key (
            key INTEGER NOT NULL,
            number INTEGER NOT NULL,
            PRIMARY KEY (key, number)) WITHOUT ROWID""",
        "INSERT INTO text_key SELECT checksum(value), id FROM text ORDER BY 1, 2",
    ):
        database.execute(statement)
    database.executemany(
        "INSERT INTO packed VALUES (?1, ?2, iif(?3, checksum(?2), NULL))", _packed_texts(database)
    )
    database.execute("DROP TABLE text")
    database.execute("ALTER TABLE packed RENAME TO text")


def _packed_texts(database: sqlite3.Connection) -> Iterator[tuple[int, bytes, bool]]:
    """Yield the packs of all texts, and whether they are intact: numbers in a pack have no gaps."""
    rows = database.execute("SELECT id, value, sum IS checksum(value) FROM text ORDER BY id")
    for (_, intact), texts in groupby(enumerate(rows), lambda row: (row[1][0] - row[0], row[1][2])):
        found = [(number, value) for _, (number, value, _) in texts]
        yield from ((*pack, bool(intact)) for pack in packs(found[0][0], [value for _, value in found]))


def pack_captures(database: sqlite3.Connection) -> None:
    """Pack the captures of each page in runs. A capture that was damaged keeps no checksum."""
    database.execute(
        """CREATE TABLE packed (
            page INTEGER NOT NULL REFERENCES page,
            time INTEGER NOT NULL,
            visits BLOB NOT NULL,
            sum INTEGER,
            PRIMARY KEY (page, time)) WITHOUT ROWID"""
    )
    database.executemany(
        "INSERT INTO packed VALUES (?1, ?2, ?3, iif(?4, checksum(?1, ?2, ?3), NULL))", _rows(database)
    )
    database.execute("DROP TABLE capture")
    database.execute("ALTER TABLE packed RENAME TO capture")


def _rows(database: sqlite3.Connection) -> Iterator[tuple[int, int, bytes, bool]]:
    """Yield the runs of all pages: page, time of the first capture, the captures, whether they are intact."""
    references: References = dict(
        database.execute(
            """SELECT shape.id, data FROM shape LEFT JOIN reference ON reference.id = reference
            WHERE shape.sum IS checksum(outcome, kind, status, origin, quality, reference)
            AND (reference IS NULL OR reference.sum IS checksum(host, data))"""
        )
    )
    captures = database.execute(
        """SELECT page, url, capture.sum IS checksum(page, time, version, shape, place, stored_bytes,
            new_blocks, links, reason, location, headers, wire), time, shape, place, version, stored_bytes,
            new_blocks, links, CAST(location AS BLOB), CAST(reason AS BLOB), headers, wire
            FROM capture LEFT JOIN page ON page.id = page ORDER BY page, time, version, shape"""
    )
    for (page, url), rows in groupby(captures, itemgetter(0, 1)):
        yield from ((page, *run) for run in _packed([row[2:] for row in rows], url or "", references))


def _packed(rows: list[Any], url: str, references: References) -> Iterator[tuple[int, bytes, bool]]:
    """Yield the runs of a page; damaged captures are in runs of their own, as far as they can be read."""

    def dictionary(shape: int) -> bytes:
        return dictionary_of(references[shape], url)

    intact: list[Visit] = []
    for time, same in groupby(rows, itemgetter(1)):
        read = [(fine, _visit(row, url, references)) for fine, *row in same]
        visits = [visit for _, visit in read if visit]
        if all(fine and visit for fine, visit in read):
            intact += visits
            continue
        yield from ((run.visits[0].time, run.data, True) for run in runs(intact, dictionary))
        intact = []
        yield time, b"".join(run.data for run in runs(visits, dictionary)), False
    yield from ((run.visits[0].time, run.data, True) for run in runs(intact, dictionary))


def _visit(row: list[Any], url: str, references: References) -> Visit | None:
    """Return a capture as a visit, None if it cannot be read."""
    time, shape, place, version, stored_bytes, new_blocks, links, location, reason, headers, wire = row
    visit = Visit(
        time=time,
        shape=shape,
        place=0 if place is None else place + 1,
        version=version,
        stored_bytes=stored_bytes,
        new_blocks=new_blocks,
        links=links,
        location=location,
        reason=reason,
        headers=headers,
    )
    if wire is None:
        return visit
    try:
        (lag, first_byte, ended, length), texts, record = parts_of(wire, url, references[shape])
    except (CorruptObject, ValueError, TypeError, LookupError):
        return None
    return visit._replace(
        record=record, texts=texts, lag=lag, first_byte=first_byte, ended=ended, length=length, wired=1
    )
