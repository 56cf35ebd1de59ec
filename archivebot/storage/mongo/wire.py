"""The exchanges of captures as documents of a MongoDB server, and the references to compress them."""

from __future__ import annotations

from functools import lru_cache
from hashlib import sha256

from archivebot.exceptions import CorruptObject
from archivebot.models import Capture
from archivebot.storage.mongo.database import DESCENDING, MongoDatabase
from archivebot.storage.mongo.documents import Document
from archivebot.storage.mongo.sums import sealed, whole
from archivebot.storage.times import milliseconds
from archivebot.storage.wire import CANDIDATES, exchange_of, nearest, packed, reference_of
from archivebot.urls import host_part

# References in the cache while captures are read and written; they never change.
REMEMBERED = 256


class MongoWire:
    """The references of an archive in a database; a reference is named by its host and its bytes."""

    def __init__(self, database: MongoDatabase) -> None:
        self._database = database
        self._references = database.collection("references")
        self.reference = lru_cache(maxsize=REMEMBERED)(self._reference)

    def fields(self, capture: Capture) -> Document:
        """Store the reference of a capture's exchange if necessary; return the exchange's document fields."""
        wire = capture.wire
        if wire is None:
            return {"reference": None, "wire": None}
        exchange = exchange_of(wire, capture.captured_at)
        host = host_part(capture.urlkey)
        order = [("time", DESCENDING), ("_id", DESCENDING)]
        found = self._database.all(self._references, {"host": host}, order, CANDIDATES)
        known = [(document["_id"], bytes(whole("references", document)["data"])) for document in found]
        name, data = nearest(exchange, capture.url, known)
        if name is None:
            reference = reference_of(exchange)
            name = f"{host} {sha256(reference).hexdigest()[:32]}"
            time = milliseconds(capture.captured_at)
            document = {"_id": name, "host": host, "time": time, "data": reference}
            self._database.insert(self._references, sealed("references", document))
            data = packed(exchange, capture.url, reference)
        return {"reference": name, "wire": data}

    def _reference(self, name: str) -> bytes:
        found = self._database.retried(lambda: self._references.find_one({"_id": name}))
        if found is None:
            raise CorruptObject(f"the reference {name} of the wire is lost")
        return bytes(whole("references", found)["data"])
