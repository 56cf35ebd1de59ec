"""The log of an archive in a MongoDB database.

The entry of a capture is in the document of the capture: ``entry`` is its index, and ``leaf`` the entry. An
index is taken once, because ``entry`` has a unique index. A removal is a document of ``captures`` that
belongs to no page: it also holds the removed entry, whose index is ``removed``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from archivebot.exceptions import CorruptObject
from archivebot.models import Capture
from archivebot.proof.merkle import WIDTH, leaf_hash, root_of
from archivebot.storage.log import lost_entry
from archivebot.storage.mongo.database import ASCENDING, BATCH, DESCENDING, MongoDatabase
from archivebot.storage.mongo.documents import Document, bytes_of, page_id
from archivebot.storage.mongo.sums import sealed, whole
from archivebot.storage.record import digest_of, removal_of, removed_by
from archivebot.storage.times import milliseconds

# What is read of the documents of captures.
_FIELDS = {"entry": True, "leaf": True, "removed": True}


class MongoLog:
    """A LogStore in the documents of captures."""

    def __init__(self, database: MongoDatabase) -> None:
        self._database = database
        self._captures = database.collection("captures")
        self._subtrees = database.collection("subtrees")
        self._next: int | None = None  # the index of the next entry, if no other process writes

    def insert(self, document: Document, capture: Capture) -> bool:
        """Insert the document of a capture with its entry; False if its id or its slot is taken."""
        return self._insert(document, digest_of(capture))

    def replace(self, before: Document, after: Document, capture: Capture) -> None:
        """Replace the document of a capture by another with the same id, which gets a new entry."""
        self.record_removal(before)
        self._enter(after, digest_of(capture))

    def record_removal(self, document: Document) -> None:
        """Write the entry that removes the capture of a document; once, however often it is called."""
        name = f"removed {document['entry']}"
        removal = {"_id": name, "slot": name, "removed": document["entry"]}
        self._insert(removal, removal_of(bytes(document["leaf"])))

    def complete(self, capture_of: Callable[[Document], Capture]) -> None:
        """Write the entries of the captures of an older archive; may be interrupted and continued."""
        last = ""
        while some := self._database.all(
            self._captures, {"_id": {"$gt": last}, "entry": {"$exists": False}}, [("_id", ASCENDING)], BATCH
        ):
            for document in some:
                last = str(document["_id"])
                with suppress(CorruptObject):  # scrapy verify reports it
                    self._enter(document, digest_of(capture_of(whole("captures", document))))

    def _enter(self, document: Document, leaf: bytes) -> None:
        """Write a stored document again, with a new entry."""

        def replaced(index: int) -> bool | None:
            entered = sealed("captures", {**document, "entry": index, "leaf": leaf})
            return self._database.replace(self._captures, entered)

        self._written(replaced)

    def _insert(self, document: Document, leaf: bytes) -> bool:
        names: list[Document] = [{key: document[key]} for key in ("_id", "slot")]

        def inserted(index: int) -> bool | None:
            entered = sealed("captures", {**document, "entry": index, "leaf": leaf})
            if self._database.insert(self._captures, entered):
                return True
            # The document is there, or its index was taken by another one.
            known = any(self._database.all(self._captures, name, [("_id", ASCENDING)], 1) for name in names)
            return None if known else False

        return self._written(inserted)

    def _written(self, write: Callable[[int], bool | None]) -> bool:
        """Write an entry at the next free index; return whether that was possible.

        ``write`` returns False if the index is taken, None if the document is.
        """
        index = self.size() if self._next is None else self._next
        while not (done := write(index)):
            if done is None:
                return False
            index = max(index + 1, self.size())
        self._next = index + 1
        if self._next % WIDTH == 0:
            # The capture is stored. If an entry is lost, there is no root, and scrapy verify reports it.
            with suppress(CorruptObject):
                self._keep_root(self._next - WIDTH)
        return True

    def _keep_root(self, start: int) -> None:
        """Store the root of the subtree from an entry on."""
        root = root_of([leaf_hash(entry) for entry in self.entries(start, start + WIDTH)])
        self._database.insert(self._subtrees, {"_id": start // WIDTH, "root": root})

    def size(self) -> int:
        query: Document = {"entry": {"$gte": 0}}
        last = self._database.all(self._captures, query, [("entry", DESCENDING)], 1)
        return int(last[0]["entry"]) + 1 if last else 0

    def entries(self, start: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield entries; the removed entries are known from their removals, which are few."""
        removed = dict(self._removed())
        query: Document = {"entry": {"$gte": start, **({} if end is None else {"$lt": end})}}
        expected = start
        found = self._database.rows(self._captures, query, [("entry", ASCENDING)], fields=_FIELDS)
        for document in found:
            yield from self._between(removed, expected, int(document["entry"]))
            expected = int(document["entry"]) + 1
            yield bytes_of(document, "leaf")
        if end is not None:
            yield from self._between(removed, expected, end)

    @staticmethod
    def _between(removed: Mapping[int, bytes], start: int, end: int) -> Iterator[bytes]:
        for index in range(start, end):
            if index not in removed:
                raise lost_entry(index)
            yield removed[index]

    def _removed(self) -> Iterator[tuple[int, bytes]]:
        for document in self._database.rows(self._captures, {"removed": {"$gte": 0}}, fields=_FIELDS):
            yield int(document["removed"]), removed_by(bytes_of(document, "leaf")) or b""

    def index(self, capture: Capture) -> int | None:
        query: Document = {"page": page_id(capture.url), "time": milliseconds(capture.captured_at)}
        digest = digest_of(capture)
        found = self._database.rows(self._captures, query, fields=_FIELDS)
        return next((int(each["entry"]) for each in found if bytes_of(each, "leaf") == digest), None)

    def subtrees(self) -> Mapping[int, bytes]:
        found = self._database.rows(self._subtrees, {})
        return {int(document["_id"]): bytes_of(document, "root") for document in found}
