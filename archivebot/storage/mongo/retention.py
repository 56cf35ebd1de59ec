"""Removes the frames of versions in a database of a MongoDB server.

Nothing that a version needs is removed before no document names it: first the new frames are inserted, then
the documents name them, then the frames that are to go are noted in ``left_over``, and at last removed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial

from archivebot.exceptions import Conflict
from archivebot.storage.base import PageHead, StoredDictionary, StoredVersion, VersionId
from archivebot.storage.mongo.database import DESCENDING, MongoDatabase, batches
from archivebot.storage.mongo.documents import (
    Document,
    frame_name,
    head_of,
    page_id,
    part_ids,
    version_of,
    with_frame,
)
from archivebot.storage.mongo.sums import sealed, whole


class MongoRetention:
    """The RetentionStore of an archive in a database; ``held`` returns the document of a base."""

    def __init__(self, database: MongoDatabase, held: Callable[[VersionId], Document]) -> None:
        self._database, self._held = database, held
        self._captures = database.collection("captures")
        self._frames = database.collection("frames")
        self._left_over = database.collection("left_over")

    def dependents(self, bases: Sequence[StoredVersion | StoredDictionary]) -> list[StoredVersion]:
        found = self._brought({"base": {"$in": [base.id for base in bases]}})
        return sorted(map(version_of, found), key=lambda version: str(version.id))

    def rewrite(self, pruned: Sequence[StoredVersion], frames: Mapping[StoredVersion, bytes]) -> None:
        self._sweep()
        ids = {version.id for version in pruned}
        needed = {version.id for version in self.dependents(pruned)} - {
            version.id for version, frame in frames.items() if frame
        }
        if needed - ids:
            raise Conflict("another writer stored a version against one that is to be pruned")
        self._require(frames)
        for frame in filter(None, frames.values()):
            self._database.put_frame(frame)
        old: set[str] = set()
        for version, frame in frames.items():
            document = with_frame(self._held(version.id))
            changed: Document = {"cost": version.cost}
            if frame:
                old.add(document["frame"])
                changed |= {"base": version.base, "frame": frame_name(frame), "frame_bytes": len(frame)}
                changed["chain"] = self._chain(version.base)
            self._change(document, changed)
        gone = [self._held(version.id) for version in pruned]
        old.update(document["frame"] for document in gone if document["frame"])
        self._chain_again(old, ids)
        self._note(old)
        # The captures that show the version later first: they never show bytes that are gone.
        for version in pruned:
            for document in self._showing(version):
                if document["_id"] not in {each["_id"] for each in gone}:
                    self._change(document, {"pruned": True})
        nothing: Document = {
            "base": None,
            "cost": 0,
            "frame": "",
            "frame_bytes": 0,
            "chain": [],
            "pruned": True,
        }
        for document in gone:
            self._change(document, nothing)
        payloads = self._database.collection("payloads")
        for version in pruned:
            which = {"url": version.url, "digest": version.digest}
            self._database.retried(partial(payloads.delete_many, which))
        self._sweep()

    def restore(self, version: StoredVersion, frame: bytes, head: PageHead, lineages: int) -> None:
        chain = self._chain(version.base)
        if self._held(version.id)["frame"]:
            raise Conflict("another writer restored the version")
        # First, because a number that no block has does no harm, and a number that two have does.
        self._count_lineages(version.url, head, lineages)
        document = self._held(version.id)
        self._database.put_frame(frame)
        changed: Document = {
            "base": version.base,
            "cost": version.cost,
            "frame": frame_name(frame),
            "frame_bytes": len(frame),
            "chain": chain,
            "charset": version.charset,
            "segmenter": version.segmenter,
            "layout": version.layout,
        }
        shown: Document = {"pruned": False, "level": version.level, "block_count": version.blocks}
        self._change(document, changed | shown)
        for document in self._showing(version):
            if document.get("pruned"):
                self._change(document, shown)

    def _count_lineages(self, url: str, head: PageHead, lineages: int) -> None:
        """Write the counter of lineages of a page, which its last version has; raises Conflict."""
        brought: Document = {"page": page_id(url), "seq": {"$gt": 0}}
        (last,) = self._database.all(self._captures, brought, [("seq", DESCENDING)], 1)
        if head_of(whole("captures", last)) != head:
            raise Conflict(f"another writer stored a version of {url}")
        self._change(last, {"lineages": lineages})

    def count(self) -> int:
        return self._database.retried(lambda: self._captures.count_documents({"seq": {"$gt": 0}, "cost": 0}))

    def compact(self) -> None:
        """Remove the frames that an interrupted run has left; the server gives the space back."""
        self._sweep()

    def _require(self, frames: Mapping[StoredVersion, bytes]) -> None:
        """Raise Conflict if one of the versions or of the bases of their new frames was pruned."""
        for version, frame in frames.items():
            with_frame(self._held(version.id))
            if frame:
                self._chain(version.base)

    def _chain(self, base: VersionId | None) -> list[str]:
        """Return the names of the frames that a version on a base needs before its own.

        Raises Conflict if the base was pruned.
        """
        document = with_frame(self._held(base)) if base is not None else None
        return [*document["chain"], document["frame"]] if document else []

    def _chain_again(self, old: set[str], except_for: set[VersionId]) -> None:
        """Write the chains that name replaced frames again, the shortest first: others build on them."""
        found = self._brought({"chain": {"$in": sorted(old)}})
        for document in sorted(found, key=lambda document: len(document["chain"])):
            if document["slot"] not in except_for:
                self._change(document, {"chain": self._chain(document["base"])})

    def _brought(self, query: Document) -> list[Document]:
        return list(self._database.whole(self._captures, {**query, "seq": {"$gt": 0}}))

    def _showing(self, version: StoredVersion) -> list[Document]:
        """Return the documents of all captures that show a version."""
        return list(self._database.whole(self._captures, {"version": version.id}))

    def _change(self, document: Document, changed: Document) -> None:
        """Replace a document, which is complete before and after."""
        self._database.replace(self._captures, sealed("captures", {**document, **changed}))

    def _note(self, frames: Iterable[str]) -> None:
        for name in sorted(frames):
            self._database.upsert(self._left_over, name, {"$set": {"frame": name}})

    def _sweep(self) -> None:
        """Remove the noted frames that no version and no dictionary needs."""
        for few in batches(self._database.rows(self._left_over, {})):
            names = [document["_id"] for document in few]
            using = self._brought({"$or": [{"frame": {"$in": names}}, {"chain": {"$in": names}}]})
            used = {name for document in using for name in (document["frame"], *document["chain"])}
            dictionaries = self._database.collection("dictionaries")
            found = self._database.rows(dictionaries, {"frame": {"$in": names}})
            used |= {whole("dictionaries", document)["frame"] for document in found}
            attachments = self._database.collection("attachments")
            found = self._database.rows(attachments, {"frame": {"$in": names}})
            used |= {document["frame"] for document in found}
            parts = [part for name in names if name not in used for part in part_ids(name)]
            self._database.remove(self._frames, parts)
            self._database.remove(self._left_over, names)
