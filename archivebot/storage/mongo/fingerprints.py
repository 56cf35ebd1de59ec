"""Converts fingerprints and marks of near-duplicates to documents of a MongoDB server, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from archivebot.models import Capture, Duplicate, Fingerprint
from archivebot.storage.base import MOST_NEAR, Fingerprinted, Marked
from archivebot.storage.mongo.database import ASCENDING, MongoDatabase
from archivebot.storage.mongo.documents import Document, page_id
from archivebot.storage.mongo.sums import sum_of, whole
from archivebot.storage.times import milliseconds

MARKED = {"duplicate.number": {"$gt": 0}}
FIRST = [("first", ASCENDING)]


class MongoFingerprints:
    """The FingerprintStore of an archive in a database; fingerprints are stored with their version."""

    def __init__(self, database: MongoDatabase) -> None:
        self._database = database
        self._pages, self._captures = database.collection("fingerprints"), database.collection("captures")

    def put(self, capture: Capture, fingerprint: Fingerprint | None) -> None:
        page, number, when = page_id(capture.url), capture.number or 0, milliseconds(capture.captured_at)
        if fingerprint:
            self._database.upsert(
                self._pages, page, fingerprint_change(capture.url, number, fingerprint, when)
            )
        else:
            self._database.retried(lambda: self._pages.delete_one({"_id": page}))

    def near(self, keys: Sequence[int]) -> Iterator[Fingerprinted]:
        found = self._having({"$in": list(keys)})
        if len(found) == MOST_NEAR:  # a key shared by many pages would hide pages with other keys
            pages = {page["_id"]: page for key in keys for page in self._having(key)}
            found = sorted(pages.values(), key=lambda page: int(page["first"]))
        yield from (fingerprint_of(whole("fingerprints", page)) for page in found)

    def _having(self, keys: object) -> list[Document]:
        return self._database.all(self._pages, {"keys": keys}, FIRST, MOST_NEAR)

    def all(self) -> Iterator[Fingerprinted]:
        yield from map(fingerprint_of, self._database.whole(self._pages, {}))

    def marks(self, url: str | None = None) -> Iterator[Marked]:
        query = MARKED if url is None else {"page": page_id(url), **MARKED}
        yield from map(mark_of, self._database.whole(self._captures, query, [("slot", ASCENDING)]))


def fingerprint_change(url: str, number: int, fingerprint: Fingerprint, when: int) -> Document:
    """Return the change that stores the fingerprint of a version; ``when`` is in milliseconds.

    BSON has no unsigned numbers: the SimHash is written as 16 hex digits.

    >>> fingerprint = Fingerprint(digest=-7, simhash=1 << 63, keys=(5, -1), words=40)
    >>> fingerprint_change("http://example.com/", 2, fingerprint, 1500)["$set"]["simhash"]
    '8000000000000000'
    """
    simhash = fingerprint.simhash
    fields = {
        "url": url,
        "number": number,
        "digest": fingerprint.digest,
        "simhash": f"{simhash:016x}" if simhash is not None else None,
        "words": fingerprint.words,
        "keys": list(fingerprint.keys),
    }
    return {"$set": {**fields, "sum": sum_of("fingerprints", fields)}, "$min": {"first": when}}


def fingerprint_of(document: Document) -> Fingerprinted:
    """Read a fingerprint with its page and version."""
    simhash = document["simhash"]
    fingerprint = Fingerprint(
        digest=int(document["digest"]),
        simhash=int(simhash, 16) if simhash is not None else None,
        keys=tuple(map(int, document["keys"])),
        words=document["words"],
    )
    return document["url"], document["number"], fingerprint


def mark_of(document: Document) -> Marked:
    """Read the mark of a capture."""
    return document["url"], document["number"], Duplicate(**document["duplicate"])
