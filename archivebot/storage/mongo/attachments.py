"""The attachments as documents of a MongoDB server; their blocks are among the frames."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from itertools import groupby
from operator import itemgetter

from archivebot.exceptions import CorruptObject
from archivebot.storage.attachments import Packed
from archivebot.storage.mongo.database import ASCENDING, MongoDatabase
from archivebot.storage.mongo.documents import Document, frame_name, page_id
from archivebot.storage.mongo.sums import sealed, whole
from archivebot.storage.times import milliseconds, moment

ORDER = [("page", ASCENDING), ("time", ASCENDING), ("_id", ASCENDING)]


class MongoAttachments:
    """The AttachmentStore of an archive in a database; ``read`` returns the frames with some names."""

    def __init__(self, database: MongoDatabase, read: Callable[[list[str]], list[bytes]]) -> None:
        self._database, self._read = database, read
        self._attachments = database.collection("attachments")
        self._left_over = database.collection("left_over")

    def add(self, packed: Packed) -> bool:
        self._database.put_frame(packed.frame)
        return self._database.insert(self._attachments, sealed("attachments", _document(packed)))

    def of(self, url: str, when: datetime | None = None) -> Iterator[Packed]:
        at = {} if when is None else {"time": milliseconds(when)}
        return self._found({"page": page_id(url), **at})

    def times(self, url: str) -> set[datetime]:
        found = self._database.rows(self._attachments, {"page": page_id(url)}, fields={"time": 1})
        return {moment(document["time"]) for document in found}

    def all(self) -> Iterator[Packed]:
        return self._found({})

    def places(self) -> Iterator[tuple[str, datetime]]:
        damaged = ""
        found = self._database.rows(self._attachments, {}, ORDER, fields={"url": 1, "page": 1, "time": 1})
        for (page, time), documents in groupby(found, itemgetter("page", "time")):
            for url in {str(document.get("url")) for document in documents}:
                if page_id(url) == page:
                    yield url, moment(time)
                else:
                    damaged = f"an attachment of {url} is not that of its page"
        if damaged:
            raise CorruptObject(damaged)

    def remove(self, url: str, times: Iterable[datetime]) -> None:
        query = {"page": page_id(url), "time": {"$in": [milliseconds(when) for when in times]}}
        found = list(self._database.rows(self._attachments, query))
        for name in sorted({document["frame"] for document in found}):
            self._database.upsert(self._left_over, name, {"$set": {"frame": name}})
        self._database.remove(self._attachments, [document["_id"] for document in found])

    def _found(self, query: Document) -> Iterator[Packed]:
        damaged: CorruptObject | None = None
        for document in self._database.rows(self._attachments, query, ORDER):
            try:
                frame = self._read([whole("attachments", document)["frame"]])[0]
            except CorruptObject as error:
                damaged = error
            else:
                yield _packed(document, frame)
        if damaged:
            raise damaged


def _document(packed: Packed) -> Document:
    return {
        "_id": packed.key.hex(),
        "url": packed.url,
        "page": page_id(packed.url),
        "time": milliseconds(packed.when),
        "head": packed.head,
        "digest": packed.digest.hex(),
        "frame": frame_name(packed.frame),
    }


def _packed(document: Document, frame: bytes) -> Packed:
    return Packed(
        bytes.fromhex(document["_id"]),
        document["url"],
        moment(document["time"]),
        bytes(document["head"]),
        bytes.fromhex(document["digest"]),
        frame,
    )
