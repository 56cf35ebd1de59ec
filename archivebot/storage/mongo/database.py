"""One database of a MongoDB server or of a compatible server, with retries."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from typing import TypeVar

from archivebot.config import without_password
from archivebot.exceptions import ArchiveError, Closed, CorruptObject, StorageError, UsageError
from archivebot.models import Position
from archivebot.storage.base import Damaged, missing, raised
from archivebot.storage.mongo.documents import Document, part_documents
from archivebot.storage.mongo.sums import SUMMED, sum_of, whole

try:
    from bson.errors import BSONError
    from pymongo import MongoClient, UpdateOne
    from pymongo.collection import Collection
    from pymongo.errors import (
        BulkWriteError,
        ConnectionFailure,
        DuplicateKeyError,
        InvalidOperation,
        PyMongoError,
    )
    from pymongo.write_concern import WriteConcern
except ImportError as error:
    raise UsageError("a mongodb:// archive needs pymongo: pip install pymongo") from error

Item = TypeVar("Item")
Result = TypeVar("Result")
Order = list[tuple[str, int]]

ASCENDING, DESCENDING = 1, -1

# The number of the layout of the documents, kept in the collection "archive".
SCHEMA = 11

# (collection, keys, unique); every _id is unique as well. Indexes are created one by one: FerretDB 1 drops
# the connection if several are requested and one of them exists.
INDEXES: tuple[tuple[str, tuple[tuple[str, int], ...], bool], ...] = (
    ("captures", (("slot", ASCENDING),), True),
    ("captures", (("page", ASCENDING), ("seq", DESCENDING)), False),
    ("captures", (("page", ASCENDING), ("time", DESCENDING)), False),
    ("captures", (("page", ASCENDING), ("digest", ASCENDING)), False),
    ("pages", (("urlkey", ASCENDING), ("url", ASCENDING)), False),
    ("links", (("to", ASCENDING),), False),
    ("fingerprints", (("keys", ASCENDING), ("first", ASCENDING)), False),
    ("templates", (("site", ASCENDING), ("time", DESCENDING)), False),
    ("forms", (("site", ASCENDING),), False),
    ("form_pages", (("form", ASCENDING),), False),
    ("waiting", (("payload", ASCENDING),), False),
    ("waiting", (("refers_to", ASCENDING), ("refers_time", ASCENDING)), False),
    ("references", (("host", ASCENDING), ("time", DESCENDING)), False),
    ("dictionaries", (("host", ASCENDING), ("number", DESCENDING)), False),
    ("attachments", (("page", ASCENDING), ("time", ASCENDING)), False),
    ("attachments", (("frame", ASCENDING),), False),
    ("captures", (("entry", ASCENDING),), True),
    ("captures", (("removed", ASCENDING),), False),
)
# Fields that not all documents of a collection have.
SPARSE = frozenset({"entry", "removed"})
COLLECTIONS = frozenset(
    {"archive", "frames", "left_over", "payloads", "subtrees", *(name for name, _, _ in INDEXES)}
)

# Timeouts in seconds for the connection to a server and for its answer: FerretDB 1 reads 20,000 documents per
# second, whatever the query.
FIND_TIMEOUT = 5
ANSWER_TIMEOUT = 120

# Seconds for which an interrupted operation is retried: by then a server has restarted, or a replica set has
# elected a primary.
PATIENCE = 30
PAUSE = 0.2

# Documents that are checked with one request to the server.
BATCH = 500

# Changes of documents in one message. FerretDB 1.24 holds a connection to its SQLite for each change until
# the last is done, and then waits endlessly for another connection: always with 100 changes, never with 20
# from each of four processes.
UPDATES = 20

DUPLICATE_KEY = 11000


class MongoDatabase:
    """The collections of an archive, and the methods to read and write documents.

    Raises UsageError if the URI names no database, StorageError if no server answers or if the database
    belongs to another program or a newer archivebot, and NotArchived if it is empty and ``create`` is false.
    """

    def __init__(self, uri: str, create: bool = True) -> None:
        self.uri = uri
        self._place = without_password(uri).partition("://")[2].rpartition("@")[2].partition("?")[0]
        try:
            # All writes can be repeated (see retried), on servers without retryable writes as well.
            self._client: MongoClient[Document] = MongoClient(
                uri,
                connect=False,
                retryWrites=False,
                serverSelectionTimeoutMS=FIND_TIMEOUT * 1000,
                connectTimeoutMS=FIND_TIMEOUT * 1000,
                socketTimeoutMS=ANSWER_TIMEOUT * 1000,
            )
            database = self._client.get_default_database(write_concern=WriteConcern(w="majority"))
        except (PyMongoError, ValueError) as error:
            advice = "write mongodb://host:27017/database"
            raise UsageError(f"mongodb://{self._place} names no archive ({error}): {advice}") from error
        self._database = database
        self._pages, self._frames = database["pages"], database["frames"]
        # The journal is awaited only for captures, which make all documents before them visible.
        self._captures = database.get_collection("captures", write_concern=WriteConcern(w="majority", j=True))
        self._unsynced = False  # whether anything was written since the last sync
        try:
            with self._translated():
                self._prepare(create)
        except ArchiveError:
            self.close()
            raise

    def _prepare(self, create: bool) -> None:
        schema = self._schema(create)
        archive = self._database["archive"]
        if schema < SCHEMA:
            for name, keys, unique in INDEXES:
                self._database[name].create_index(list(keys), unique=unique, sparse=keys[0][0] in SPARSE)
            new = {"identity": secrets.token_hex(8), "position": 0}
            upsert(archive, "archive", {"$setOnInsert": {"schema": schema, **new}})
            archive.update_one({"_id": "archive", "identity": {"$exists": False}}, {"$set": new})
            self._add_sums()
            self._complete()
            upsert(archive, "archive", {"$set": {"schema": SCHEMA}})
        self._identity = self.position().archive

    def _schema(self, create: bool) -> int:
        """Return the schema of the archive, 0 if there is none and it is to be created."""
        found = self._database["archive"].find_one({"_id": "archive"})
        if found is None:
            names = self._database.list_collection_names()
            if any(name not in COLLECTIONS and not name.startswith("system.") for name in names):
                raise StorageError(f"{self._place} belongs to another program; give another ARCHIVE_URI")
            if self._captures.find_one() is not None:
                raise CorruptObject(f"{self._place}: the document of the archive is lost; restore a copy")
            if not create:
                raise missing(without_password(self.uri))
        schema = found["schema"] if found else 0
        if schema > SCHEMA:
            raise StorageError(
                f"{self._place} was written by a newer archivebot (schema {schema}); upgrade archivebot"
            )
        return int(schema)

    def _add_sums(self) -> None:
        """Write the checksums of documents of an older schema; may be interrupted and continued."""
        for name in SUMMED:
            for document in self._database[name].find({"sum": {"$exists": False}}):
                change = {"$set": {"sum": sum_of(name, document)}}
                self._database[name].update_one({"_id": document["_id"]}, change)

    def _complete(self) -> None:
        """Add to an older archive what follows from its documents; may be interrupted and continued."""

    def collection(self, name: str) -> Collection[Document]:
        """Return a collection of the archive."""
        return self._captures if name == "captures" else self._database[name]

    def position(self) -> Position:
        found = self.retried(lambda: self._database["archive"].find_one({"_id": "archive"}))
        if found is None:
            raise StorageError(f"{self._place}: the database was dropped; give the same command again")
        try:
            return Position(found["identity"], int(found["position"]))
        except (LookupError, TypeError, ValueError) as error:
            raise CorruptObject(
                f"{self._place}: the document of the archive is damaged; restore a copy"
            ) from error

    def changes(self) -> Hashable | None:
        return None  # a question to the server takes as long as reading

    @property
    def is_durable(self) -> bool:
        return not self._unsynced

    def sync(self) -> Position | None:
        if self.is_durable:
            return None
        # Captures are in the journal when they are stored; this check shows that they are still there.
        moved = self.retried(
            lambda: self._database["archive"].update_one(
                {"_id": "archive", "identity": self._identity}, {"$inc": {"position": 1}}
            )
        )
        if not moved.matched_count:
            raise StorageError(f"{self._place}: the database was dropped or replaced while it was written to")
        self._unsynced = False
        return self.position()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except ConnectionFailure as error:
            reason = str(error).partition(" (configured")[0]
            raise StorageError(f"no MongoDB at {self._place} answers: is it running? ({reason})") from error
        except InvalidOperation as error:
            if "after close" in str(error):
                raise Closed(f"mongodb://{self._place} was closed: open it again") from error
            raise StorageError(f"{self._place}: {error}") from error
        except (PyMongoError, BSONError) as error:
            raise StorageError(f"{self._place}: {error}") from error

    def retried(self, operation: Callable[[], Result]) -> Result:
        """Run a repeatable operation until a server answers, or the retry time is over."""
        deadline = time.monotonic() + PATIENCE
        with self._translated():
            while True:
                try:
                    return operation()
                except ConnectionFailure:
                    if time.monotonic() > deadline:
                        raise
                time.sleep(PAUSE)

    def _writing(self) -> None:
        """Note that something is about to be written."""
        self._unsynced = True

    def insert(self, collection: Collection[Document], document: Document) -> bool:
        """Insert a document; False if its id or slot is taken by another one."""
        attempts = 0

        def insert() -> bool:
            nonlocal attempts
            attempts += 1
            try:
                collection.insert_one(document)
            except DuplicateKeyError:
                # The answer to an earlier attempt of our own may have been lost.
                return attempts > 1 and collection.find_one({"_id": document["_id"]}) == document
            return True

        self._writing()
        return self.retried(insert)

    def put_frame(self, frame: bytes) -> None:
        """Store a frame, unless it is there already."""
        for part in part_documents(frame):
            self.insert(self._frames, part)

    def replace(self, collection: Collection[Document], document: Document) -> bool:
        """Replace the document with the same id; False if a unique value is taken by another one."""

        def replace() -> bool:
            try:
                collection.replace_one({"_id": document["_id"]}, document)
            except DuplicateKeyError:
                return False
            return True

        self._writing()
        return self.retried(replace)

    def upsert(self, collection: Collection[Document], identity: str, change: Document) -> None:
        """Change a document, creating it if it does not exist."""
        self._writing()
        self.retried(lambda: upsert(collection, identity, change))

    def insert_many(self, collection: Collection[Document], documents: list[Document]) -> bool:
        """Insert documents; False if another writer, or an earlier attempt of ours, stored some of them."""

        def insert() -> bool:
            try:
                collection.insert_many(documents, ordered=False)
            except BulkWriteError as error:
                if any(failed["code"] != DUPLICATE_KEY for failed in error.details["writeErrors"]):
                    raise
                return False
            return True

        if not documents:
            return True
        self._writing()
        return self.retried(insert)

    def update_many(self, collection: Collection[Document], changes: list[tuple[Document, Document]]) -> None:
        """Change documents, given as (filter, change), in no order."""
        if changes:
            self._writing()
        updates = [UpdateOne(which, change) for which, change in changes]
        for few in batches(updates, UPDATES):
            self.retried(partial(collection.bulk_write, few, ordered=False))

    def update_all(self, collection: Collection[Document], which: Document, change: Document) -> None:
        """Change all documents that a filter selects."""
        self._writing()
        self.retried(lambda: collection.update_many(which, change))

    def remove(self, collection: Collection[Document], identities: list[str]) -> None:
        """Remove the documents with some ids, as far as they are there."""
        self._writing()
        self.retried(lambda: collection.delete_many({"_id": {"$in": identities}}))

    def _size(self) -> int:
        # A server may count a page of its files only once it was written back.
        return int(self.retried(lambda: self._database.command("dbStats")).get("totalSize", 0))

    def close(self) -> None:
        """Close the connections; everything stored is in the journal of the server."""
        self._client.close()

    def _present(self, collection: Collection[Document], key: str, values: list[str]) -> set[str]:
        return set(self.retried(lambda: collection.distinct(key, {key: {"$in": values}})))

    def all(
        self, collection: Collection[Document], query: Document, order: Order, limit: int
    ) -> list[Document]:
        return self.retried(lambda: list(collection.find(query, sort=order, limit=limit)))

    def rows(
        self,
        collection: Collection[Document],
        query: Document,
        order: Order | None = None,
        limit: int | None = None,
        fields: Document | None = None,
    ) -> Iterator[Document]:
        with self._translated():
            yield from collection.find(query, fields, sort=order, limit=limit or 0)

    def whole(
        self,
        collection: Collection[Document],
        query: Document,
        order: Order | None = None,
        limit: int | None = None,
        damaged: Damaged = raised,
    ) -> Iterator[Document]:
        """Yield the documents that have their checksums; ``damaged`` gets the errors of those that do not."""
        for document in self.rows(collection, query, order, limit):
            try:
                checked = whole(collection.name, document)
            except CorruptObject as error:
                damaged(error)
            else:
                yield checked


def upsert(collection: Collection[Document], identity: str, change: Document) -> None:
    """Change a document, creating it if it does not exist."""
    with suppress(DuplicateKeyError):  # another process inserted it at this very moment
        collection.update_one({"_id": identity}, change, upsert=True)


def batches(items: Iterable[Item], size: int | None = None) -> Iterator[list[Item]]:
    """Split items into lists for one request each."""
    iterator = iter(items)
    while batch := list(islice(iterator, size or BATCH)):
        yield batch
