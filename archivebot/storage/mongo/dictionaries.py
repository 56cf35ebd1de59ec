"""The dictionaries of hosts, as documents of a MongoDB server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import nlargest
from itertools import chain

from archivebot.exceptions import NotArchived
from archivebot.storage.base import StoredDictionary, StoredVersion, VersionId
from archivebot.storage.mongo.database import ASCENDING, DESCENDING, MongoDatabase, batches
from archivebot.storage.mongo.documents import Document, frame_name, version_of
from archivebot.storage.mongo.sums import sealed, whole

# Stands between the host and the number in the id of a dictionary; the id of a version has none.
_MARK = " "

# Pages of a host whose versions are asked for with one request: a message holds 48 MB.
PAGES = 50_000


class MongoDictionaries:
    """The DictionaryStore of an archive in a database.

    The document of each version names all frames that it needs, so frames are never replaced and
    dictionaries never removed.
    """

    def __init__(self, database: MongoDatabase) -> None:
        self._database = database
        self._dictionaries = database.collection("dictionaries")

    def is_dictionary(self, base: VersionId | None) -> bool:
        return base is not None and is_dictionary(base)

    def latest(self, host: str) -> StoredDictionary | None:
        found = self._database.all(self._dictionaries, {"host": host}, [("number", DESCENDING)], 1)
        return dictionary_of(whole("dictionaries", found[0])) if found else None

    def add(self, host: str, length: int, frame: bytes) -> StoredDictionary:
        latest = self._database.all(self._dictionaries, {"host": host}, [("number", DESCENDING)], 1)
        number = latest[0]["number"] + 1 if latest else 1
        name = f"{host}{_MARK}{number:06d}"
        self._database.put_frame(frame)
        document = {
            "_id": name,
            "host": host,
            "number": number,
            "length": length,
            "frame": frame_name(frame),
            "frame_bytes": len(frame),
        }
        if not self._database.insert(self._dictionaries, sealed("dictionaries", document)):
            return dictionary_of(self.document(name))  # another writer was first
        return StoredDictionary(name, host, length)

    def origins(self, host: str, most: int) -> list[StoredVersion]:
        within: Document = {"urlkey": {"$gt": f"{host})", "$lt": f"{host})\U0010ffff"}}
        pages = self._database.rows(self._database.collection("pages"), within, fields={"_id": True})
        begun = chain.from_iterable(map(self._begun, batches(pages, PAGES)))
        last = nlargest(most, begun, key=lambda document: int(document["entry"]))
        query: Document = {"_id": {"$in": [document["_id"] for document in last]}}
        captures = self._database.collection("captures")
        return [version_of(each) for each in self._database.whole(captures, query, [("entry", ASCENDING)])]

    def _begun(self, pages: list[Document]) -> Iterator[Document]:
        """Yield the entries of versions of content of pages without an earlier version as their base."""
        query: Document = {"page": {"$in": [page["_id"] for page in pages]}, "seq": {"$gt": 0}}
        query |= {"number": {"$gt": 0}, "cost": {"$gt": 0}}
        fields: Document = {"page": True, "base": True, "entry": True}
        for document in self._database.rows(self._database.collection("captures"), query, fields=fields):
            if not str(document["base"]).startswith(document["page"]):
                yield document

    def rebase(self, dictionary: StoredDictionary, frames: Iterable[tuple[StoredVersion, bytes]]) -> None:
        return

    def remove(self, dictionary: StoredDictionary) -> None:
        return

    def document(self, name: str) -> Document:
        """Return the document of a dictionary; raises NotArchived."""
        found = self._database.retried(lambda: self._dictionaries.find_one({"_id": name}))
        if found is None:
            raise NotArchived(f"there is no dictionary {name}")
        return {**whole("dictionaries", found), "chain": []}


def is_dictionary(name: VersionId) -> bool:
    """Return whether an id names a dictionary and not a version.

    >>> is_dictionary("com,example 000001"), is_dictionary("2a1b-00000007")
    (True, False)
    """
    return _MARK in str(name)


def dictionary_of(document: Document) -> StoredDictionary:
    """Read a dictionary."""
    return StoredDictionary(document["_id"], document["host"], document["length"])
