"""Fingerprints and marks of near-duplicates as the documents of a MongoDB server, and back."""

from __future__ import annotations

from archivebot.models import Duplicate, Fingerprint
from archivebot.storage.base import Fingerprinted, Marked
from archivebot.storage.mongo.documents import Document
from archivebot.storage.mongo.sums import sum_of


def fingerprint_change(url: str, number: int, fingerprint: Fingerprint, when: int) -> Document:
    """Write what storing the fingerprint of a version changes; ``when`` is its time in milliseconds.

    BSON has no unsigned numbers: the SimHash is written as 16 hex digits.

    >>> fingerprint = Fingerprint(digest=-7, simhash=1 << 63, keys=(5, -1), words=40)
    >>> fingerprint_change("http://example.com/", 2, fingerprint, 1500)["$set"]["simhash"]
    '8000000000000000'
    """
    simhash = fingerprint.simhash
    told = {
        "url": url,
        "number": number,
        "digest": fingerprint.digest,
        "simhash": f"{simhash:016x}" if simhash is not None else None,
        "words": fingerprint.words,
        "keys": list(fingerprint.keys),
    }
    return {"$set": {**told, "sum": sum_of("fingerprints", told)}, "$min": {"first": when}}


def fingerprint_of(document: Document) -> Fingerprinted:
    """Read a fingerprint with the page and the version that it is of."""
    simhash = document["simhash"]
    fingerprint = Fingerprint(
        digest=int(document["digest"]),
        simhash=int(simhash, 16) if simhash is not None else None,
        keys=tuple(map(int, document["keys"])),
        words=document["words"],
    )
    return document["url"], document["number"], fingerprint


def mark_of(document: Document) -> Marked:
    """Read the mark that a capture carries."""
    return document["url"], document["number"], Duplicate(**document["duplicate"])
