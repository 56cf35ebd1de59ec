"""The archive in one database of a MongoDB server, or of another server with its protocol.

One document of ``captures`` is one visit. A visit that brings a version also contains the record of that
version, so a single insert makes both visible. The parts of the frame (``frames``, named by their content)
and the entry of the page (``pages``) are written first; alone they are never shown. The fingerprint of the
page (``fingerprints``) is written afterwards, so that it never refers to a missing version. Links (``links``)
are separate documents, one for each pair of pages.

The store relies only on features that simple servers also have: unique indexes, inserts of one document, and
updates with the minimum or maximum of a field. It uses no transactions.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from functools import cache
from itertools import groupby
from operator import itemgetter

from archivebot.exceptions import Conflict, CorruptObject, NotArchived
from archivebot.models import Capture, Kind, Outcome
from archivebot.storage.attachments import AttachmentStore
from archivebot.storage.base import (
    Damaged,
    DictionaryStore,
    FingerprintStore,
    FormStore,
    NewVersion,
    PageHead,
    StoredVersion,
    TemplateStore,
    Totals,
    VersionId,
    When,
    raised,
)
from archivebot.storage.edges import LinkStore
from archivebot.storage.log import LogStore
from archivebot.storage.mongo.attachments import MongoAttachments
from archivebot.storage.mongo.database import ASCENDING, DESCENDING, MongoDatabase, Order, batches
from archivebot.storage.mongo.dictionaries import MongoDictionaries, is_dictionary
from archivebot.storage.mongo.documents import (
    Document,
    brief_of,
    bytes_of,
    capture_document,
    capture_of,
    captures_of,
    frame_name,
    head_of,
    is_page,
    named,
    page_id,
    part_ids,
    seq_of,
    slot,
    version_document,
    version_of,
    with_frame,
)
from archivebot.storage.mongo.fingerprints import MongoFingerprints
from archivebot.storage.mongo.forms import MongoForms
from archivebot.storage.mongo.links import MongoLinks
from archivebot.storage.mongo.log import MongoLog
from archivebot.storage.mongo.retention import MongoRetention
from archivebot.storage.mongo.revisits import MongoRevisits
from archivebot.storage.mongo.sums import SUMMED, is_whole, whole
from archivebot.storage.mongo.templates import MongoTemplates
from archivebot.storage.mongo.wire import MongoWire
from archivebot.storage.retention import RetentionStore
from archivebot.storage.revisits import RevisitStore
from archivebot.storage.sketch import NEIGHBOURS, shared
from archivebot.storage.times import milliseconds
from archivebot.urls import host_part

# Maximum of parts of large frames in one request: a message holds 48 MB.
PARTS_AT_ONCE = 4

# The documents that carry a version; only they have a sequence number.
BROUGHT = {"seq": {"$gt": 0}}
NEWEST = [("seq", DESCENDING)]
# The documents of visits: those of removals from the log belong to no page.
VISITS: Document = {"page": {"$gt": ""}}


class MongoStore(MongoDatabase):
    """Keeps an archive in one MongoDB database; ``uri`` is ``mongodb://host:port/database``.

    An instance belongs to the thread that opened it; several processes may write the same database.
    """

    undone = 0

    def __init__(self, uri: str, create: bool = True) -> None:
        super().__init__(uri, create)
        self._dictionaries = MongoDictionaries(self)
        self.dictionaries: DictionaryStore = self._dictionaries
        self.links: LinkStore = MongoLinks(self)
        self.fingerprints: FingerprintStore = MongoFingerprints(self)
        self.templates: TemplateStore = MongoTemplates(self)
        self.forms: FormStore = MongoForms(self)
        self._wire = MongoWire(self)
        self._log = MongoLog(self)
        self.log: LogStore = self._log
        self.revisits: RevisitStore = MongoRevisits(self, self._log)
        self.retention: RetentionStore = MongoRetention(self, self._held)
        self.attachments: AttachmentStore = MongoAttachments(self, self._read)

    def _complete(self) -> None:
        # It runs while the archive is opened, before this instance has its parts.
        reference = MongoWire(self).reference
        MongoLog(self).complete(lambda document: capture_of(document, dict, reference))

    def together(self) -> AbstractContextManager[None]:
        return nullcontext()  # transactions need a replica set

    def add(self, capture: Capture, head: PageHead, version: NewVersion | VersionId | None) -> bool:
        page = page_id(capture.url)
        last = self._one({"page": page, **BROUGHT}, NEWEST)
        if head_of(last) != head:
            raise Conflict(f"another writer stored a version of {capture.url}")
        document = capture_document(page, capture) | self._wire.fields(capture)
        if not isinstance(version, NewVersion):
            if last is None:
                self._put_page(page, capture)
            return self._log.insert(named(document, version), capture)
        known = self.find(capture.url, version.record.digest)
        if known and known.serves_as(version.record):
            raise Conflict("the same body was stored by another writer")
        seq = last["seq"] + 1 if last else 1
        name = version.record.base
        base = with_frame(self._held(name)) if name is not None else None
        document |= version_document(version, head, seq, base)
        self.put_frame(version.frame)
        self._put_page(page, capture, version.sketch)
        # If two writers read the same state, both reach this point, and one of them gets the slot.
        if not self._log.insert(named(document, slot(page, seq)), capture):
            raise Conflict(f"another writer stored a version of {capture.url}")
        if version.record.number is not None and version.latest:
            self.fingerprints.put(capture, version.fingerprint)
        return True

    def amend(self, old: Capture, new: Capture) -> None:
        page = page_id(old.url)
        same = {"page": page, "time": milliseconds(old.captured_at), "outcome": old.outcome.value}
        found = self._one(same | {"digest": old.sha256 or None})
        if found is None:
            raise NotArchived(f"the capture of {old.url} at {old.captured_at} is gone")
        if new.digest == old.digest:
            changed = found | {"kind": new.kind.value, "reason": new.reason}
            self._log.replace(found, changed, new)
            return
        version = self.find(new.url, new.sha256)
        # The new document first: a writer killed in between leaves two visits rather than none.
        document = capture_document(page, new) | self._wire.fields(new)
        document = named(document, version.id if version else None)
        self._log.insert(document, new)
        self._log.record_removal(found)
        self.retried(lambda: self._captures.delete_one({"_id": found["_id"]}))

    def _put_page(self, page: str, capture: Capture, sketch: tuple[int, ...] | None = None) -> None:
        names = {"url": capture.url, "urlkey": capture.urlkey}
        change = {"$setOnInsert": names} | ({"$set": {"sketch": list(sketch)}} if sketch is not None else {})
        self.upsert(self._pages, page, change)

    def head(self, url: str) -> PageHead:
        return head_of(self._one({"page": page_id(url), **BROUGHT}, NEWEST))

    def latest(self, url: str, when: datetime | None = None) -> StoredVersion | None:
        query: Document = {"page": page_id(url), "number": {"$gt": 0}, "kind": {"$ne": Kind.FAILED.value}}
        if when is not None:
            query["time"] = {"$lte": milliseconds(when)}
        seen = self._one(query, [("time", DESCENDING)])
        return self.version(seen["version"]) if seen else None

    def find(self, url: str, digest: str) -> StoredVersion | None:
        found = self._one({"page": page_id(url), "digest": digest, **BROUGHT}, [("number", DESCENDING)])
        return version_of(found) if found else None

    def version(self, version: VersionId) -> StoredVersion:
        return version_of(self._brought(version))

    def versions(self, url: str, last: int | None = None) -> list[StoredVersion]:
        if last == 0:
            return []  # no limit to MongoDB
        found = self.all(self._captures, {"page": page_id(url), **BROUGHT}, NEWEST, last or 0)
        return [version_of(whole("captures", document)) for document in reversed(found)]

    def versions_after(self, url: str, after: VersionId | None = None) -> Iterator[StoredVersion]:
        start = seq_of(str(after)) if after else 0
        query: Document = {"page": page_id(url), "seq": {"$gt": start}, "number": {"$gt": 0}}
        return map(version_of, self.whole(self._captures, query, [("seq", ASCENDING)]))

    def version_ids(self) -> Iterator[VersionId]:
        for document in self.rows(self._captures, BROUGHT, [("slot", ASCENDING)]):
            yield document.get("slot", "")

    def similar(self, urlkey: str, sketch: tuple[int, ...], most_cost: int) -> StoredVersion | None:
        host = f"{host_part(urlkey)})"
        before = {"urlkey": {"$gte": host, "$lte": urlkey}}
        after = {"urlkey": {"$gt": urlkey, "$lt": host + "\U0010ffff"}}
        near = self.all(self._pages, before, [("urlkey", DESCENDING)], NEIGHBOURS)
        near += self.all(self._pages, after, [("urlkey", ASCENDING)], NEIGHBOURS)
        likeness = {page["_id"]: shared(sketch, tuple(page.get("sketch", ()))) for page in near}
        for page in sorted(filter(likeness.get, likeness), key=lambda page: likeness[page], reverse=True):
            content = {
                "page": page,
                "cost": {"$gt": 0, "$lte": most_cost},
                "number": {"$ne": None},
                **BROUGHT,
            }
            found = self._one(content, NEWEST)
            if found:
                return version_of(found)
        return None

    def frame(self, version: VersionId) -> bytes:
        return self._read([self._held(version)["frame"]])[0]

    def frames(self, version: VersionId) -> list[bytes]:
        found = self._brought(version)
        return self._read([*found["chain"], found["frame"]])

    def _read(self, names: list[str]) -> list[bytes]:
        wanted = [part for name in names for part in part_ids(name)]
        query, batch = {"_id": {"$in": wanted}}, PARTS_AT_ONCE if len(wanted) > len(names) else len(wanted)
        found = self.retried(lambda: list(self._frames.find(query, batch_size=batch)))
        parts = {part["_id"]: bytes_of(part, "data") for part in found}
        try:
            frames = [b"".join(parts[part] for part in part_ids(name)) for name in names]
        except KeyError as error:
            raise CorruptObject(f"the frame {error} is missing") from error
        for name, frame in zip(names, frames, strict=True):
            if frame_name(frame) != name:
                raise CorruptObject(f"the frame {name} does not have its digest")
        return frames

    def captures(
        self,
        url: str,
        newest_first: bool = False,
        until: When = None,
        since: When = None,
        brief: bool = False,
        damaged: Damaged = raised,
    ) -> Iterator[Capture]:
        order = DESCENDING if newest_first else ASCENDING
        times = {"$lte": milliseconds(until)} if until else {}
        times |= {"$gt": milliseconds(since)} if since else {}
        query: Document = {"page": page_id(url)} | ({"time": times} if times else {})
        marks = cache(
            lambda: {} if brief else {number: mark for _, number, mark in self.fingerprints.marks(url)}
        )
        # By time alone, which is indexed, so that the server need not sort all of them first.
        found = self.whole(self._captures, query, [("time", order)], damaged=damaged)
        for _, moment in groupby(found, itemgetter("time")):
            documents = sorted(moment, key=_version_name, reverse=newest_first)
            shown = map(brief_of, documents) if brief else documents
            yield from captures_of(shown, marks, self._wire.reference, damaged)

    def state(self, url: str) -> Hashable:
        """Return the number of captures, and the position of the archive."""
        count = self.retried(lambda: self._captures.count_documents({"page": page_id(url)}))
        return count, self.position()

    def holds(self, url: str, when: datetime, outcome: Outcome, digest: str | None) -> bool:
        query = {"page": page_id(url), "time": milliseconds(when), "outcome": outcome.value}
        return self._one(query | ({"digest": digest} if digest else {})) is not None

    def urls(
        self, start: str, end: str, after: str = "", damaged: Damaged | None = None
    ) -> Iterator[tuple[str, str]]:
        order = [("urlkey", ASCENDING), ("url", ASCENDING)]
        query: Document = {"urlkey": {"$gte": start, "$lt": end}}
        if after:
            query["$or"] = [{"urlkey": {"$gt": start}}, {"url": {"$gt": after}}]
        faults: list[CorruptObject] = []
        tell = damaged or faults.append
        for pages in batches(self.rows(self._pages, query, order)):
            visited = self._present(self._captures, "page", [page["_id"] for page in pages])
            for page in pages:
                if page["_id"] in visited and is_page(page):
                    yield page["urlkey"], page["url"]
                elif page["_id"] in visited:
                    message = f"the document {page['_id']} of pages is not that of its URL"
                    tell(CorruptObject(f"{message} (scrapy verify lists all damage; restore a copy)"))
        if faults:
            raise faults[-1]

    def tallies(self, damaged: Damaged | None = None) -> Iterator[tuple[str, int]]:
        stages = [{"$match": VISITS}, {"$group": {"_id": "$url", "sum": {"$sum": "$sum"}}}]
        found = self.retried(lambda: list(self._captures.aggregate(stages)))
        return ((page["_id"], int(page["sum"])) for page in found)

    def totals(self) -> dict[str, Totals]:
        dictionaries = self._sums("$frame_bytes", collection="dictionaries")
        frames = self._sums("$frame_bytes", BROUGHT)
        columns = (
            self._sums(1, VISITS),
            self._sums(1, VISITS, distinct="page"),
            self._sums(1, {"number": {"$gt": 0}, **BROUGHT}),
            self._sums("$new_blocks", BROUGHT),
            self._sums("$size", {"outcome": {"$ne": Outcome.NOT_MODIFIED.value}, **VISITS}),
            {host: size + dictionaries.get(host, 0) for host, size in frames.items()},
            frames,
            dictionaries,
        )
        hosts = {host: Totals(*(column.get(host, 0) for column in columns)) for host in sorted(columns[0])}
        sums = Totals(*(sum(column.values()) for column in columns))
        return hosts | {"": replace(sums, bytes_stored=max(sums.bytes_stored, self._size()))}

    def size(self) -> int:
        held = self._sums("$frame_bytes", BROUGHT), self._sums("$frame_bytes", collection="dictionaries")
        return max(sum(sum(sums.values()) for sums in held), self._size())

    def _sums(
        self,
        amount: int | str,
        query: Document | None = None,
        distinct: str | None = None,
        collection: str = "captures",
    ) -> dict[str, int]:
        """Return a sum for each host; one sum per query, as FerretDB 1 returns 0 for a second one."""
        stages: list[Document] = [{"$match": query or {}}]
        if distinct:
            stages.append({"$group": {"_id": {"host": "$host", "value": f"${distinct}"}}})
        stages.append({"$group": {"_id": "$_id.host" if distinct else "$host", "sum": {"$sum": amount}}})
        found = self.retried(lambda: list(self._database[collection].aggregate(stages)))
        return {group["_id"]: int(group["sum"]) for group in found}

    def check(self) -> list[str]:
        return [*self._changed(), *self._lost_versions(), *self._lost_frames(), *self._lost_references()]

    def _intact(self, name: str, query: Document) -> Iterator[Document]:
        """Yield the documents with their checksums; the others are reported as changed."""
        return (each for each in self.rows(self._database[name], query) if is_whole(name, each))

    def _changed(self) -> Iterator[str]:
        for name in SUMMED:
            for document in self.rows(self._database[name], {}):
                if not is_whole(name, document):
                    yield f"the document {document['_id']} of {name} does not have its checksum"
        for page in self.rows(self._pages, {}):
            if not is_page(page):
                yield f"the document {page['_id']} of pages is not that of its URL"

    def _lost_versions(self) -> Iterator[str]:
        for batch in batches(self._intact("captures", {"version": {"$ne": None}})):
            wanted = [document["base"] if "seq" in document else document["version"] for document in batch]
            names = [name for name in wanted if name]
            present = self._present(self._captures, "slot", names)
            present |= self._present(self._database["dictionaries"], "_id", [*filter(is_dictionary, names)])
            for document, name in zip(batch, wanted, strict=True):
                if name and name not in present:
                    yield f"the capture of {document['url']} at {document['time']} points at no version"

    def _lost_frames(self) -> Iterator[str]:
        for batch in batches(self._intact("captures", {**BROUGHT, "cost": {"$gt": 0}})):
            parts: dict[str, Document] = {}
            for document in batch:
                try:
                    parts |= dict.fromkeys(part_ids(document["frame"]), document)
                except CorruptObject as error:
                    yield f"version {document['number']} of {document['url']}: {error}"
            present = self._present(self._frames, "_id", list(parts))
            for part in parts.keys() - present:
                yield f"the frame of version {parts[part]['number']} of {parts[part]['url']} is missing"
        for document in self._intact("dictionaries", {}):
            wanted = part_ids(document["frame"])
            if len(self._present(self._frames, "_id", wanted)) < len(wanted):
                yield f"the frame of the dictionary {document['_id']} is missing"

    def _lost_references(self) -> Iterator[str]:
        for batch in batches(self._intact("captures", {"reference": {"$gt": ""}})):
            names = list({document["reference"] for document in batch})
            present = self._present(self._database["references"], "_id", names)
            for document in batch:
                if document["reference"] not in present:
                    yield f"the capture of {document['url']} at {document['time']} has lost its reference"

    def _brought(self, version: VersionId) -> Document:
        found = self._one({"slot": version, **BROUGHT})
        if found is None:
            raise NotArchived(f"there is no version {version}")
        return found

    def _held(self, name: VersionId) -> Document:
        """Return the document of a version or a dictionary, which names the frames that it needs."""
        return self._dictionaries.document(str(name)) if is_dictionary(name) else self._brought(name)

    def _one(self, query: Document, order: Order | None = None) -> Document | None:
        found = self.retried(lambda: self._captures.find_one(query, sort=order))
        return whole("captures", found) if found else None


def _version_name(document: Document) -> str:
    return str(document["version"] or "")
