"""One changed byte of a capture, a version or an entry of the log is found, in both stores."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.collection import Collection
from pymongo.errors import OperationFailure

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import CorruptObject, Outdated
from archivebot.models import Outcome, Page
from archivebot.storage.mongo.database import SCHEMA
from archivebot.storage.mongo.sums import sealed
from archivebot.storage.record import canonical_record
from archivebot.storage.sqlite.sums import SUMMED, enable, sum_of
from archivebot.wire import Wire
from tests.contracts.reader import keep
from tests.factories import START, URL
from tests.servers import mongo_server, mongo_uri

__all__ = ["mongo_server", "mongo_uri"]

HEAD = b"HTTP/1.1 301 Moved\r\nLocation: http://example.com/new\r\n\r\n"
REQUEST = b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n"

# The tables of captures and versions; their keys repeat what other columns have.
TABLES = ("capture", "shape", "version", "page", "reference", "frame", "log")
# The columns whose change is found although the checksum of the row was made anew.
RECORDED = {
    "capture": ("time", "visits"),
    "shape": ("outcome", "kind", "status", "origin"),
    "version": ("digest", "length", "number"),
    "log": ("entry",),
}

DOCUMENTED = (
    *("time", "outcome", "kind", "status", "number", "digest", "size", "links", "reason", "location"),
    *("origin", "headers", "wire", "leaf"),
)


def filled(uri: str) -> None:
    """Write an archive: versions of two pages, and a redirect with its exchange."""
    with Archive.open(ArchiveConfig(uri=uri)) as archive:
        for day in (0, 1):
            keep(archive, day, links=2)
        keep(archive, 2, url="http://example.com/other")
        when = START + timedelta(days=3)
        wire = Wire(HEAD, REQUEST, ip="192.0.2.1", protocols=("http/1.1",), started=when, length=0)
        moved = Page(
            URL,
            when,
            Outcome.REDIRECT,
            301,
            wire.headers,
            reason="it moved",
            location=f"{URL}/new",
            wire=wire,
        )
        archive.add(archive.segment(moved))


def is_found(uri: str, what: object) -> None:
    """Assert that a verification finds damage."""
    try:
        with Archive.reader(ArchiveConfig(uri=uri)) as archive:
            found = archive.verify()[1]
    except CorruptObject:
        return
    assert found, what


def records(uri: str) -> list[dict[str, Any]] | None:
    """Return the canonical records of all captures; None if they cannot be read."""
    try:
        with Archive.reader(ArchiveConfig(uri=uri)) as archive:
            return [
                canonical_record(capture) for _, url in archive.pages() for capture in archive.captures(url)
            ]
    except CorruptObject:
        return None


def others(value: Any, chance: random.Random) -> Iterator[Any]:
    """Yield values that differ from one in a byte: the first, the last, and any byte."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield value ^ 1
    elif isinstance(value, str | bytes) and value:
        for at in sorted({0, len(value) - 1, chance.randrange(len(value))}):
            if isinstance(value, bytes):
                yield value[:at] + bytes([value[at] ^ 1]) + value[at + 1 :]
            else:
                yield value[:at] + chr(ord(value[at]) ^ 1) + value[at + 1 :]
    elif isinstance(value, list) and value:
        yield value[:-1]


@pytest.mark.long
@pytest.mark.parametrize("renewed", [False, True])
def test_each_changed_byte_of_an_archive_file_is_found(tmp_path: Path, renewed: bool) -> None:
    path, chance = tmp_path / "a.db", random.Random(19)
    uri = f"sqlite:///{path}"
    filled(uri)
    whole, before, count = path.read_bytes(), records(uri), 0
    for table, row, column in _cells(path, RECORDED if renewed else dict.fromkeys(TABLES, ())):
        for other in others(row[column], chance):
            with closing(sqlite3.connect(path)) as database:
                enable(database)
                place = " AND ".join(f"{name} IS ?" for name in row)
                statement = f"UPDATE OR IGNORE {table} SET {column} = ? WHERE {place}"
                if not database.execute(statement, (other, *row.values())).rowcount:
                    continue  # another row has this key
                if renewed and table in SUMMED:
                    database.execute(f"UPDATE {table} SET sum = {sum_of(table)}")
                database.commit()
            if not renewed or table == "log" or records(uri) != before:
                is_found(uri, (table, row, column, other))
                count += 1
            path.write_bytes(whole)
    assert count > (20 if renewed else 80)


def _cells(path: Path, columns: Mapping[str, Iterable[str]]) -> list[tuple[str, dict[str, Any], str]]:
    """Return the cells of tables, as table, row and column; without columns all of them but ids.

    They are of the first and of the last row of each table.
    """
    found = []
    with closing(sqlite3.connect(path)) as database:
        for table, chosen in columns.items():
            rows = database.execute(f"SELECT * FROM {table}")
            names = [each[0] for each in rows.description]
            some = [dict(zip(names, values, strict=True)) for values in rows]
            for row in some[:1] + some[1:][-1:]:
                found += [
                    (table, row, name)
                    for name, value in row.items()
                    if value is not None and (name in chosen or (not chosen and name != "id"))
                ]
    return found


@pytest.mark.long
@pytest.mark.parametrize("renewed", [False, True])
def test_each_changed_byte_of_a_database_is_found(mongo_uri: str, renewed: bool) -> None:
    filled(mongo_uri)
    chance, before, count = random.Random(19), records(mongo_uri), 0
    with MongoClient[dict[str, Any]](mongo_uri) as client:
        database = client.get_default_database()
        captures = list(database["captures"].find(sort=[("entry", 1)]))
        assert len(captures) == 4
        fields = DOCUMENTED if renewed else sorted({*captures[0], *captures[-1]} - {"_id"})
        for field in fields:
            known = [document for document in captures if document.get(field) not in (None, "", [], b"")]
            for document in known[-1:]:
                for other in others(document[field], chance):
                    after = {**document, field: other}
                    after = sealed("captures", after) if renewed else after
                    if not _change(database["captures"], after):
                        continue
                    if not renewed or field == "leaf" or records(mongo_uri) != before:
                        is_found(mongo_uri, after)
                        count += 1
                database["captures"].replace_one({"_id": document["_id"]}, document)
        for document in () if renewed else list(database["frames"].find().limit(2)):
            for other in others(document["data"], chance):
                assert _change(database["frames"], {**document, "data": other})
                is_found(mongo_uri, document)
                count += 1
            database["frames"].replace_one({"_id": document["_id"]}, document)
    with Archive.reader(ArchiveConfig(uri=mongo_uri)) as archive:
        assert archive.verify()[1] == []
    assert count > (20 if renewed else 60)


@pytest.mark.long
def test_each_lost_field_of_a_database_is_found(mongo_uri: str) -> None:
    filled(mongo_uri)
    with MongoClient[dict[str, Any]](mongo_uri) as client:
        database = client.get_default_database()
        for name, fields in (
            ("captures", ("slot", "frame", "base", "leaf", "entry")),
            ("frames", ("data",)),
            ("pages", ("url",)),
            ("archive", ("position",)),
        ):
            for document in list(database[name].find(sort=[("entry", -1)]).limit(2)):
                for field in set(fields) & document.keys():
                    lost = {key: value for key, value in document.items() if key != field}
                    for other in (lost, {**document, field: None}, {**document, field: "text"}):
                        if other != document and _change(database[name], other):
                            is_found(mongo_uri, other)
                database[name].replace_one({"_id": document["_id"]}, document)
        with Archive.reader(ArchiveConfig(uri=mongo_uri)) as archive:
            assert archive.verify()[1] == []
        database["archive"].drop()
        for opened in (Archive.reader, Archive.open):
            with pytest.raises(CorruptObject, match="the document of the archive is lost; restore a copy"):
                opened(ArchiveConfig(uri=mongo_uri))


def _change(collection: Collection[dict[str, Any]], document: dict[str, Any]) -> bool:
    """Put another document in place of a stored one; return False if a third one has its key."""
    with suppress(OperationFailure):
        return bool(collection.replace_one({"_id": document["_id"]}, document).modified_count)
    return False


@pytest.mark.long
def test_an_older_database_gets_its_log_also_after_an_interruption(mongo_uri: str) -> None:
    filled(mongo_uri)
    with MongoClient[dict[str, Any]](mongo_uri) as client:
        database = client.get_default_database()
        database["subtrees"].drop()
        for first, schema in ((0, 1), (0, SCHEMA - 1), (2, SCHEMA - 1)):
            for document in database["captures"].find({"entry": {"$gte": first}}):
                older = {
                    name: value for name, value in document.items() if name not in ("entry", "leaf", "sum")
                }
                database["captures"].replace_one({"_id": document["_id"]}, sealed("captures", older))
            database["archive"].update_one({"_id": "archive"}, {"$set": {"schema": schema}})
            with pytest.raises(Outdated), Archive.reader(ArchiveConfig(uri=mongo_uri)):
                pass
            with Archive.open(ArchiveConfig(uri=mongo_uri)) as archive:
                assert archive.verify()[1] == []
                assert archive.proofs.checkpoint().size == 4
                proofs = [
                    archive.proofs.proof(capture)
                    for _, url in archive.pages()
                    for capture in archive.captures(url)
                ]
                assert sorted(proof.index for proof in proofs) == [0, 1, 2, 3]
                keep(archive, 4 + first + schema)
                assert archive.proofs.checkpoint().size == 5
            database["captures"].delete_one({"entry": 4})
