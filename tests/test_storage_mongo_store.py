"""The MongoDB store: the contract, and what becomes of it when servers and writers die."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pymongo import MongoClient
from pymongo.database import Database
from pymongo.monitoring import CommandListener, CommandStartedEvent, register

from archivebot.exceptions import Conflict, CorruptObject, NotArchived, StorageError, UsageError
from archivebot.models import Duplicate, Fingerprint, FoundForm, Link
from archivebot.storage.base import LearnedTemplate, PageHead
from archivebot.storage.frames import encode
from archivebot.storage.mongo.database import INDEXES, SCHEMA
from archivebot.storage.mongo.store import MongoStore
from tests.commands import run_scrapy
from tests.contracts.store import (
    OTHER,
    ROOT,
    URL,
    StoreContract,
    at,
    digest_of,
    put,
    version_of,
    visit,
    wire_of,
)
from tests.servers import CuttingProxy, MongoServer, free_port, mongo_server, mongo_uri

__all__ = ["mongo_server", "mongo_uri"]

LARGE = 20_000_000


class TestMongoStore(StoreContract):
    @pytest.fixture
    def uri(self, mongo_uri: str) -> str:
        return mongo_uri


@pytest.fixture
def store(mongo_uri: str) -> Iterator[MongoStore]:
    store = MongoStore(mongo_uri)
    yield store
    store.close()


@pytest.fixture
def database(mongo_uri: str) -> Iterator[Database[dict[str, Any]]]:
    """The database behind the store's back."""
    with MongoClient[dict[str, Any]](mongo_uri) as client:
        yield client.get_default_database()


class Commands(CommandListener):
    """Notes the write concern with which captures are inserted, and the names of all commands."""

    def __init__(self) -> None:
        self.concerns: list[dict[str, Any]] = []
        self.names: list[str] = []

    def started(self, event: CommandStartedEvent) -> None:
        self.names.append(event.command_name)
        if event.command.get("insert") == "captures":
            self.concerns.append(event.command["writeConcern"])

    def succeeded(self, event: object) -> None: ...

    def failed(self, event: object) -> None: ...


def test_the_journal_of_the_server_is_awaited_for_each_capture(mongo_uri: str) -> None:
    commands = Commands()
    register(commands)  # with all clients made from now on
    with closing(MongoStore(mongo_uri)) as store:
        put(store, b"one", 0)
    assert commands.concerns == [{"w": "majority", "j": True}]


def test_only_the_sizes_of_frames_are_added_up_for_the_size_of_an_archive(mongo_uri: str) -> None:
    commands = Commands()
    register(commands)
    with closing(MongoStore(mongo_uri)) as store:
        put(store, random.Random(1).randbytes(100_000), 0)
        whole = store.totals()[""].bytes_stored
        commands.names.clear()
        assert store.size() == whole >= 100_000
        assert commands.names.count("aggregate") == 2


# Opening


@pytest.mark.parametrize(
    "uri", ["mongodb://localhost", "mongodb://me:secret@localhost/", "mongodb://localhost:x/a"]
)
def test_a_uri_that_names_no_database_is_refused_with_advice(uri: str) -> None:
    with pytest.raises(UsageError, match="write mongodb://host:27017/database") as raised:
        MongoStore(uri)
    assert "secret" not in str(raised.value)


def test_without_pymongo_the_user_is_told_to_install_it() -> None:
    code = (
        "import sys; sys.modules['pymongo'] = None; from archivebot.storage import open_store;"
        " open_store('mongodb://localhost/archive')"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.PIPE, text=True)
    assert "UsageError: a mongodb:// archive needs pymongo: pip install pymongo" in ran.stderr


@pytest.mark.long
def test_a_server_that_does_not_answer_is_named() -> None:
    port, start = free_port(), time.monotonic()
    with pytest.raises(
        StorageError, match=rf"127\.0\.0\.1:{port}/archive answers: is it running\?"
    ) as raised:
        MongoStore(f"mongodb://me:secret@127.0.0.1:{port}/archive")
    assert time.monotonic() - start < 10
    assert "secret" not in str(raised.value)


def test_indexes_are_made_once(mongo_uri: str, store: MongoStore, database: Database[dict[str, Any]]) -> None:
    MongoStore(mongo_uri).close()
    found = {
        (name, tuple(index["key"]), bool(index.get("unique")))
        for name in {name for name, _, _ in INDEXES}
        for key, index in database[name].index_information().items()
        if key != "_id_"
    }
    assert found == set(INDEXES)


def test_an_opening_that_was_interrupted_is_completed(
    mongo_uri: str, database: Database[dict[str, Any]]
) -> None:
    name, keys, unique = INDEXES[0]
    database[name].create_index(list(keys), unique=unique)
    store = MongoStore(mongo_uri)
    assert len(database["captures"].index_information()) == 7
    assert put(store, b"body", 0).number == 1
    store.close()


def test_a_database_of_another_program_is_refused(mongo_uri: str, database: Database[dict[str, Any]]) -> None:
    database["theirs"].insert_one({"a": 1})
    with pytest.raises(StorageError, match="another program; give another ARCHIVE_URI"):
        MongoStore(mongo_uri)
    assert database.list_collection_names() == ["theirs"]


def test_a_newer_archive_is_refused(
    mongo_uri: str, store: MongoStore, database: Database[dict[str, Any]]
) -> None:
    database["archive"].update_one({"_id": "archive"}, {"$set": {"schema": SCHEMA + 1}})
    with pytest.raises(StorageError, match=rf"schema {SCHEMA + 1}\); upgrade archivebot"):
        MongoStore(mongo_uri)


def test_an_archive_of_schema_1_gets_what_it_lacks(
    mongo_uri: str, store: MongoStore, database: Database[dict[str, Any]]
) -> None:
    version = put(store, b"body", 0)
    database["links"].drop()
    database["archive"].update_one({"_id": "archive"}, {"$set": {"schema": 1}})
    again = MongoStore(mongo_uri)
    again.links.add(URL, [Link("http://example.org/")], at(1))
    assert len(database["links"].index_information()) == 2
    assert again.versions(URL) == [version]
    assert len(list(again.links.all())) == 1
    again.close()


def test_an_archive_of_schema_2_takes_fingerprints(
    mongo_uri: str, store: MongoStore, database: Database[dict[str, Any]]
) -> None:
    put(store, b"body", 0)
    database["fingerprints"].drop()
    database["archive"].update_one({"_id": "archive"}, {"$set": {"schema": 2}})
    again = MongoStore(mongo_uri)
    assert [*again.fingerprints.near([1]), *again.fingerprints.all(), *again.fingerprints.marks()] == []
    assert [capture.duplicate for capture in again.captures(URL)] == [None]
    assert len(database["fingerprints"].index_information()) == 2
    again.close()


@pytest.mark.long
def test_links_whose_answer_is_lost_were_stored_once(mongo_server: MongoServer) -> None:
    with CuttingProxy(mongo_server.port) as proxy:
        store = MongoStore(proxy.uri("archive_test_cut_links"))
        for words, command in ((b"first", b"insert"), (b"first", b"update"), (b"second", b"update")):
            proxy.cut(command, b"links")
            links = [Link("http://example.org/", words.decode()), Link("http://example.org/a")]
            store.links.add(URL, links, at(proxy.cuts))
        assert proxy.cuts == 3
        assert [(edge.target, edge.anchor, edge.first, edge.last) for edge in store.links.all()] == [
            ("http://example.org/", "second", at(0), at(2)),
            ("http://example.org/a", "", at(0), at(2)),
        ]
        store._client.drop_database("archive_test_cut_links")
        store.close()


@pytest.mark.long
def test_the_links_of_a_page_are_stored_again(store: MongoStore) -> None:
    """FerretDB waited for ever when one message changed a hundred documents."""
    for words, minute in (("first", 0), ("first", 1), ("second", 2)):
        store.links.add(URL, [Link(f"http://example.org/{n}", words) for n in range(150)], at(minute))
    edges = list(store.links.of(URL))
    assert len(edges) == 150
    assert {(edge.anchor, edge.first, edge.last) for edge in edges} == {("second", at(0), at(2))}


@pytest.mark.long
def test_a_database_without_an_archive_is_told_as_a_missing_file_is(mongo_uri: str, tmp_path: Path) -> None:
    for uri in (mongo_uri, f"sqlite:///{tmp_path}/a.db"):
        asked = run_scrapy(("stats", "-s", f"ARCHIVE_URI={uri}"))
        assert asked.returncode == 1
        told = f"scrapy stats: there is no archive at {uri} yet: crawl or ingest first, or set ARCHIVE_URI\n"
        assert asked.stderr == told
    with MongoClient[dict[str, Any]](mongo_uri) as client:
        assert client.get_default_database().list_collection_names() == []


def test_what_no_document_can_hold_is_a_storage_error(store: MongoStore) -> None:
    with pytest.raises(StorageError, match="too large"):
        store.add(visit(0, headers=(("X-Large", LARGE * "x"),)), PageHead(), None)
    assert list(store.captures(URL)) == []


def test_a_refusal_of_the_server_is_a_storage_error_without_the_password(mongo_server: MongoServer) -> None:
    uri = mongo_server.uri("archive").replace("//", "//nobody:secret@")
    with pytest.raises(StorageError, match=r"127\.0\.0\.1.*(?i:authentication)") as raised:
        MongoStore(uri)
    assert "secret" not in str(raised.value)


def test_pages_are_looked_through_in_batches(store: MongoStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("archivebot.storage.mongo.database.BATCH", 3)
    urls = [f"http://example.com/{number}" for number in range(8)]
    for url in urls:
        put(store, b"body", 0, url=url)
    assert [url for _, url in store.urls("", "\U0010ffff")] == urls
    assert store.check() == []


def test_frames_against_a_dictionary_are_not_made_in_vain(store: MongoStore) -> None:
    version = put(store, b"body", 0)
    known = store.dictionaries.add("com,example", 4, encode(b"body", None, 1))
    frames = iter([(version, encode(b"body", b"body", 1))])
    store.dictionaries.rebase(known, frames)
    assert len(list(frames)) == 1  # none was taken
    assert store.dictionaries.origins("com,example", 9) == [version]


def test_a_capture_is_stored_although_an_entry_of_the_log_is_lost(
    store: MongoStore, database: Database[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("archivebot.storage.mongo.log.WIDTH", 4)
    for number in range(3):
        put(store, b"body", 0, url=f"http://example.com/{number}")
    database["captures"].delete_one({"entry": 1})
    fourth = visit(1, url="http://example.com/4")
    assert store.add(fourth, PageHead(), None)
    assert (store.log.index(fourth), store.log.size()) == (3, 4)
    with pytest.raises(CorruptObject, match="the entry 1 of the log is lost"):
        list(store.log.entries())
    for minute in range(2, 6):
        assert store.add(visit(minute, url="http://example.com/4"), PageHead(), None)
    assert store.log.subtrees().keys() == {1}  # the next subtree is whole


# Writers that die


DYING = """
import os, signal
from archivebot.storage.mongo import store as mongo
from tests.contracts import store as contract

class Dying(mongo.MongoStore):
    def insert(self, collection, document):
        if collection.name == "captures" or document["_id"].endswith(":1"):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().insert(collection, document)

contract.put(Dying({uri!r}), b"body", 0, frame=bytes({size}), sketch=(1, 2))
"""


@pytest.mark.long
@pytest.mark.parametrize("size", [100, LARGE])
def test_what_a_writer_left_that_died_before_its_capture_is_never_seen(
    mongo_uri: str, store: MongoStore, database: Database[dict[str, Any]], size: int
) -> None:
    code = DYING.format(uri=mongo_uri, size=size)
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT).returncode == -9
    assert database["frames"].count_documents({}) == 1
    assert store.head(URL) == PageHead()
    assert not [*store.versions(URL), *store.version_ids(), *store.captures(URL), *store.check()]
    assert store.latest(URL) is store.find(URL, digest_of(b"body")) is None
    assert store.similar("com,example)/", (1, 2), 1 << 40) is None
    assert list(store.urls("", "\U0010ffff")) == []
    assert list(store.totals()) == [""]
    version = put(store, b"body", 0, frame=bytes(size))
    assert version.number == 1
    assert store.frame(version.id) == bytes(size)
    assert store.versions(URL) == [version]
    assert len(list(store.urls("", "\U0010ffff"))) == 1


UNKNOWING = """
import os, signal
from dataclasses import replace
from archivebot.models import Fingerprint
from archivebot.storage.mongo import fingerprints, store as mongo
from tests.contracts import store as contract

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

fingerprints.MongoFingerprints.put = die

new = contract.version_of(b"next", contract.PageHead(1, 2))
new = replace(new, fingerprint=Fingerprint(digest=8, simhash=None, keys=(8,), words=3))
mongo.MongoStore({uri!r}).add(contract.visit(1, new.record), contract.PageHead(1, 2), new)
"""


@pytest.mark.long
def test_a_writer_that_died_before_its_fingerprint_leaves_that_of_the_version_before(
    mongo_uri: str, store: MongoStore
) -> None:
    before = Fingerprint(digest=7, simhash=None, keys=(7,), words=3)
    new = replace(version_of(b"body", PageHead()), fingerprint=before)
    assert store.add(visit(0, new.record), PageHead(), new)
    ran = subprocess.run([sys.executable, "-c", UNKNOWING.format(uri=mongo_uri)], cwd=ROOT)
    assert ran.returncode == -9
    assert store.head(URL).versions == 2
    assert list(store.fingerprints.near([7, 8])) == [(URL, 1, before)]
    assert store.check() == []


def test_a_page_whose_document_is_damaged_is_not_left_out_without_an_error(
    store: MongoStore, database: Database[dict[str, Any]]
) -> None:
    put(store, b"body", 0)
    put(store, b"body", 0, url=OTHER)
    database["pages"].update_one({"url": URL}, {"$set": {"url": f"{URL}x"}})
    found = store.urls("", "\U0010ffff")
    assert next(found)[1] == OTHER
    with pytest.raises(CorruptObject, match="is not that of its URL"):
        next(found)


def test_of_two_writers_that_read_the_same_state_one_gets_the_number(
    mongo_uri: str, store: MongoStore
) -> None:
    class Overtaken(MongoStore):
        def put_frame(self, frame: bytes) -> None:
            put(store, b"early", 0)
            super().put_frame(frame)

    late = Overtaken(mongo_uri)
    new = version_of(b"late", PageHead())
    with pytest.raises(Conflict):
        late.add(visit(1, new.record), PageHead(), new)
    assert [version.digest for version in late.versions(URL)] == [digest_of(b"early")]
    late.close()


# Servers that die


@pytest.fixture
def server(mongo_server: MongoServer, tmp_path: Path) -> Iterator[MongoServer]:
    """A server that may be killed."""
    server = MongoServer(tmp_path)
    server.start()
    yield server
    server.kill()


@pytest.mark.long
def test_a_server_that_is_killed_and_comes_back_loses_nothing(server: MongoServer) -> None:
    store = MongoStore(server.uri("archive"))

    def fail() -> None:
        for _ in range(3):
            time.sleep(0.2)
            server.kill()
            time.sleep(0.3)
            server.start()

    failing = threading.Thread(target=fail)
    failing.start()
    count = 0
    while failing.is_alive() or count < 20:
        put(store, b"body %d" % count, count, frame=random.Random(count).randbytes(3000))
        count += 1
    failing.join()
    assert [version.number for version in store.versions(URL)] == list(range(1, count + 1))
    assert [capture.number for capture in store.captures(URL)] == list(range(1, count + 1))
    assert store.check() == []
    store.close()


@pytest.mark.long
def test_a_server_that_stays_away_is_named(server: MongoServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("archivebot.storage.mongo.database.PATIENCE", 0.5)
    monkeypatch.setattr("archivebot.storage.mongo.database.ANSWER_TIMEOUT", 1)
    store = MongoStore(server.uri("archive"))
    server.kill()
    with pytest.raises(StorageError, match="is it running"):
        put(store, b"body", 0)
    with pytest.raises(StorageError, match="is it running"):
        list(store.captures(URL))
    store.close()


@pytest.mark.long
def test_a_write_whose_answer_is_lost_was_made_once(mongo_server: MongoServer) -> None:
    with CuttingProxy(mongo_server.port) as proxy:
        store = MongoStore(proxy.uri("archive_test_cut"))
        proxy.cut(b"insert", b"captures")
        version = put(store, b"body", 0)
        assert proxy.cuts == 1
        proxy.cut(b"insert", b"captures")
        assert store.add(visit(1, version), store.head(URL), version.id)
        assert proxy.cuts == 2
        assert [capture.number for capture in store.captures(URL)] == [1, 1]
        store._client.drop_database("archive_test_cut")
        store.close()


# Damage


def test_a_frame_that_is_missing_is_corrupt_and_found_by_a_check(
    store: MongoStore, database: Database[dict[str, Any]]
) -> None:
    first = put(store, b"first", 0)
    second = put(store, b"second", 1, base=first)
    database["frames"].delete_one({"_id": {"$regex": "^" + _frame(database, first.id)}})
    for read, version in ((store.frame, first), (store.frames, second)):
        with pytest.raises(CorruptObject, match="is missing"):
            read(version.id)
    assert store.check() == [f"the frame of version 1 of {URL} is missing"]


def _frame(database: Database[dict[str, Any]], slot: object) -> str:
    document = database["captures"].find_one({"slot": slot})
    assert document is not None
    return str(document["frame"]).partition("/")[0]


def test_a_check_names_captures_of_versions_that_are_gone(
    store: MongoStore, database: Database[dict[str, Any]]
) -> None:
    first = put(store, b"first", 0)
    store.add(visit(1, first), store.head(URL), first.id)
    put(store, b"second", 2, base=first)
    database["captures"].delete_one({"slot": first.id})
    assert len(store.check()) == 2
    assert all("points at no version" in line for line in store.check())
    with pytest.raises(NotArchived):
        store.version(first.id)


# Damage, and how far the archive has come


@pytest.mark.parametrize(
    ("collection", "change"),
    [
        ("captures", {"status": 201}),
        ("captures", {"headers": [{"name": "A", "value": "c"}]}),
        ("captures", {"wire": b"0"}),
        ("references", {"data": b"0"}),
        ("fingerprints", {"words": 4}),
        ("links", {"anchor": "wordz"}),
        ("templates", {"pages": 4}),
        ("forms", {"data": "[2]"}),
    ],
)
def test_a_changed_document_is_found_and_not_read(
    mongo_uri: str,
    store: MongoStore,
    database: Database[dict[str, Any]],
    collection: str,
    change: dict[str, Any],
) -> None:
    head = store.head(URL)
    fingerprint = Fingerprint(digest=-1, simhash=1 << 63, keys=(1, -2), words=3)
    duplicate = Duplicate("http://example.org/", 1, 2, 1.0, "shingles")
    new = replace(version_of(b"body", head), fingerprint=fingerprint, duplicate=duplicate)
    assert store.add(visit(0, new.record, headers=(("A", "b"),), wire=wire_of(0)), head, new)
    store.links.add(URL, [Link("http://example.org/", "words")], at(0))
    store.links.add(URL, [Link("http://example.org/", "other words")], at(1))
    store.templates.add(LearnedTemplate("example.com", at(0), 3, "{}"))
    for minute in (0, 1):
        store.forms.add("example.com", URL, [FoundForm("ab", f"[{minute}]")], at(minute))

    def read() -> None:
        with closing(MongoStore(mongo_uri)) as store:
            (
                list(store.captures(URL)),
                list(store.links.all()),
                list(store.fingerprints.all()),
                list(store.forms.all()),
            )
            store.templates.latest("example.com")

    read()
    assert store.check() == []
    database[collection].update_one({}, {"$set": change})
    assert [line.rpartition(" of ")[2] for line in store.check()] == [
        f"{collection} does not have its checksum"
    ]
    with pytest.raises(CorruptObject, match=f"of {collection} does not have its checksum"):
        read()


@pytest.mark.parametrize("change", [{"lineages": 9}, {"charset": "utf-9"}, {"kind": "failed"}])
def test_a_changed_version_is_neither_read_nor_built_upon(
    store: MongoStore, database: Database[dict[str, Any]], change: dict[str, Any]
) -> None:
    version = put(store, b"body", 0, sketch=(1, 2))
    head, capture = store.head(URL), next(store.captures(URL))
    database["captures"].update_one({}, {"$set": change})
    for use in (
        lambda: store.head(URL),
        lambda: store.find(URL, digest_of(b"body")),
        lambda: store.version(version.id),
        lambda: store.similar("com,example)/other", (1, 2), 1 << 40),
        lambda: store.holds(URL, at(0), capture.outcome, None),
        lambda: store.add(visit(1), head, version_of(b"next", head)),
        lambda: store.amend(capture, replace(capture, reason="other")),
    ):
        with pytest.raises(CorruptObject, match="of captures does not have its checksum"):
            use()
    assert len(store.check()) == 1


def test_a_changed_fingerprint_is_no_neighbour(store: MongoStore, database: Database[dict[str, Any]]) -> None:
    fingerprint = Fingerprint(digest=1, simhash=None, keys=(1,), words=3)
    new = replace(version_of(b"body", PageHead()), fingerprint=fingerprint)
    assert store.add(visit(0, new.record), PageHead(), new)
    database["fingerprints"].update_one({}, {"$set": {"words": 4}})
    with pytest.raises(CorruptObject, match="of fingerprints does not have its checksum"):
        list(store.fingerprints.near([1]))


def test_an_archive_of_schema_4_gets_an_identity_and_checksums(
    mongo_uri: str, store: MongoStore, database: Database[dict[str, Any]]
) -> None:
    put(store, b"body", 0)
    database["captures"].update_many({}, {"$unset": {"sum": ""}})
    database["archive"].update_one({}, {"$set": {"schema": 4}, "$unset": {"identity": "", "position": ""}})
    again = MongoStore(mongo_uri)
    assert again.check() == []
    assert len(again.position().archive) == 16
    assert len(list(again.captures(URL))) == 1
    again.close()


def test_a_database_that_is_dropped_under_way_is_an_error(
    mongo_uri: str, store: MongoStore, database: Database[dict[str, Any]]
) -> None:
    put(store, b"body", 0)
    store.sync()
    database.client.drop_database(database.name)
    put(store, b"next", 1)
    with pytest.raises(StorageError, match="the database was dropped or replaced while it was written to"):
        store.sync()
