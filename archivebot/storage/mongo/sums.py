"""The checksums of the documents of a MongoDB archive."""

from __future__ import annotations

from archivebot.exceptions import CorruptObject
from archivebot.storage.checksum import document_checksum
from archivebot.storage.mongo.documents import Document

# The fields that the checksum of a document covers: all fields of captures, and of other documents the fields
# that a writer sets in one operation. Frames and their parts are named by their digest.
SUMMED: dict[str, tuple[str, ...]] = {
    "captures": (),
    "dictionaries": ("host", "number", "length", "frame", "frame_bytes"),
    "fingerprints": ("url", "number", "digest", "simhash", "words", "keys"),
    "links": ("source", "target", "anchor", "role", "kind"),
    "templates": ("site", "time", "pages", "tree"),
    "forms": ("site", "signature", "data"),
    "payloads": ("_id", "url", "digest"),
    "references": ("host", "data", "time"),
    "waiting": ("url", "page", "time", "payload", "refers_to", "refers_time"),
    "attachments": ("_id", "url", "page", "time", "head", "digest", "frame"),
}


def sum_of(collection: str, document: Document) -> int:
    """Return the checksum of a document."""
    return document_checksum(document, *(SUMMED[collection] or sorted(document.keys() - {"sum"})))


def is_whole(collection: str, document: Document) -> bool:
    """Return whether a document matches its checksum."""
    return bool(document.get("sum") == sum_of(collection, document))


def sealed(collection: str, document: Document) -> Document:
    """Return a document with its checksum."""
    return {**document, "sum": sum_of(collection, document)}


def whole(collection: str, document: Document) -> Document:
    """Return a document if it matches its checksum, else raise CorruptObject."""
    if not is_whole(collection, document):
        raise CorruptObject(
            f"the document {document['_id']} of {collection} does not have its checksum"
            " (scrapy verify lists all damage; restore a copy)"
        )
    return document
