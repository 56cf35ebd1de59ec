"""Payload digests and waiting visits as documents of a MongoDB server.

A document of ``payloads`` names the version that has a payload, a document of ``waiting`` a visit whose
payload is not in the archive yet.
"""

from __future__ import annotations

from datetime import datetime

from archivebot.models import Outcome, Payload
from archivebot.storage.mongo.database import MongoDatabase
from archivebot.storage.mongo.documents import Document, page_id
from archivebot.storage.mongo.log import MongoLog
from archivebot.storage.mongo.sums import sealed, sum_of, whole
from archivebot.storage.revisits import Waiting
from archivebot.storage.times import milliseconds, moment


class MongoRevisits:
    """The RevisitStore of an archive in a database."""

    def __init__(self, database: MongoDatabase, log: MongoLog) -> None:
        self._retried, self._log = database.retried, log
        self._payloads, self._waiting = database.collection("payloads"), database.collection("waiting")
        self._captures = database.collection("captures")

    def remember(self, payload: str, url: str, digest: str, again: bool) -> None:
        version: Document = {"url": url, "digest": digest}
        version["sum"] = sum_of("payloads", {"_id": payload, **version})
        change = {"$set" if again else "$setOnInsert": version}
        self._retried(lambda: self._payloads.update_one({"_id": payload}, change, upsert=True))

    def payload(self, payload: str) -> tuple[str, str] | None:
        found = self._retried(lambda: self._payloads.find_one({"_id": payload}))
        if found is None:
            return None
        version = whole("payloads", found)
        return version["url"], version["digest"]

    def wait(self, waiting: Waiting) -> None:
        url, when, payload = waiting
        document = {
            "url": url,
            "page": page_id(url),
            "time": milliseconds(when),
            "payload": payload.digest,
            "refers_to": payload.url,
            "refers_time": milliseconds(payload.when) if payload.when else None,
        }
        change = {"$setOnInsert": sealed("waiting", document)}
        self._retried(lambda: self._waiting.update_one({"_id": _id(url, when)}, change, upsert=True))

    def waiting(self, payload: str, url: str, when: datetime) -> list[Waiting]:
        second = milliseconds(when) // 1000 * 1000
        refers = {"refers_to": url, "refers_time": {"$gte": second, "$lt": second + 1000}}
        found = self._found(refers) | (self._found({"payload": payload}) if payload else {})
        return [_waiting(whole("waiting", found[name])) for name in sorted(found)]

    def _found(self, query: Document) -> dict[str, Document]:
        found = self._retried(lambda: list(self._waiting.find(query)))
        return {each["_id"]: each for each in found}

    def release(self, url: str, when: datetime) -> None:
        # The capture first: if the writer is killed in between, the visit is recorded as waiting again.
        capture = {
            "page": page_id(url),
            "time": milliseconds(when),
            "outcome": Outcome.UNRESOLVED.value,
        }
        for document in self._retried(lambda: list(self._captures.find(capture))):
            self._log.record_removal(whole("captures", document))
        self._retried(lambda: self._captures.delete_many(capture))
        self._retried(lambda: self._waiting.delete_one({"_id": _id(url, when)}))


def _id(url: str, when: datetime) -> str:
    return f"{page_id(url)} {milliseconds(when)}"


def _waiting(document: Document) -> Waiting:
    refers = document.get("refers_time")  # FerretDB 1 keeps no null that an upsert inserts
    when = moment(refers) if refers is not None else None
    payload = Payload(document["payload"], document.get("refers_to"), when)
    return document["url"], moment(document["time"]), payload
