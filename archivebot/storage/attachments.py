"""The contract of attachments, which are WARC records that are not captures, and how they are packed."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Protocol

from archivebot.exceptions import CorruptObject
from archivebot.storage import frames
from archivebot.storage.times import milliseconds
from archivebot.wire import Attachment

# The dictionary that all heads are compressed with: the usual names of their fields, in their usual order.
USUAL = (
    b"WARC/1.0\r\nWARC/1.1\r\nContent-Length: \r\nWARC-Payload-Digest: sha256:\r\nWARC-Block-Digest: sha1:"
    b"\r\nContent-Type: text/plain\r\nContent-Type: application/json\r\nContent-Type: "
    b"application/warc-fields\r\nWARC-Type: conversion\r\nWARC-Type: resource\r\nWARC-Type: metadata\r\n"
    b"WARC-Record-ID: <urn:uuid:\r\nWARC-Warcinfo-ID: <urn:uuid:\r\nWARC-Refers-To: <urn:uuid:\r\n"
    b"WARC-Concurrent-To: <urn:uuid:\r\nWARC-Date: 20\r\nWARC-Target-URI: "
)

_KEY = 16  # bytes of a digest

# Bytes of a decoded head: a reader of WARC files takes no longer ones.
_LONGEST_HEAD = 1 << 20


@dataclass(frozen=True, slots=True)
class Packed:
    """An attachment as it is stored.

    ``key`` is the digest of what makes it this attachment, so that it is not stored twice. ``head`` is
    compressed; ``frame`` is the frame of its block, which stands alone, and ``digest`` the SHA-256 of the
    block.
    """

    key: bytes
    url: str
    when: datetime
    head: bytes = field(repr=False)
    digest: bytes
    frame: bytes = field(repr=False)

    @classmethod
    def of(cls, attachment: Attachment, level: int) -> Packed:
        """Compress an attachment, its block at a Zstandard level."""
        digest = sha256(attachment.block).digest()
        names = (attachment.url, str(milliseconds(attachment.when)), attachment.kind, attachment.record)
        named = "\0".join((*names, attachment.target, digest.hex()))
        key = sha256(named.encode("utf-8", "replace")).digest()[:_KEY]
        coder = zlib.compressobj(9, zlib.DEFLATED, -15, zdict=USUAL + attachment.url.encode())
        head = coder.compress(attachment.head) + coder.flush()
        return cls(
            key, attachment.url, attachment.when, head, digest, frames.encode(attachment.block, None, level)
        )

    def unpacked(self) -> Attachment:
        """Return the attachment; raises CorruptObject if it cannot be read or does not have its digest."""
        decoder = zlib.decompressobj(-15, zdict=USUAL + self.url.encode())
        try:
            head = decoder.decompress(self.head, _LONGEST_HEAD)
        except zlib.error as error:
            raise CorruptObject(
                f"the head of an attachment of {self.url} cannot be read ({error})"
            ) from error
        block = frames.decode([self.frame])
        if sha256(block).digest() != self.digest:
            raise CorruptObject(f"the block of an attachment of {self.url} does not have its digest")
        return Attachment(self.url, self.when, head, block)


class AttachmentStore(Protocol):
    """The attachments of an archive, by the URL and the time of the capture to which each belongs.

    If some that are asked for cannot be read, CorruptObject is raised after the others.
    """

    def add(self, packed: Packed) -> bool:
        """Store an attachment; False if it was already stored."""

    def of(self, url: str, when: datetime | None = None) -> Iterator[Packed]:
        """Yield the attachments of a URL, all or those of a time, sorted by time and key."""

    def times(self, url: str) -> set[datetime]:
        """Return the times of the attachments of a URL."""

    def all(self) -> Iterator[Packed]:
        """Yield all attachments, those of one URL together, sorted by time."""

    def places(self) -> Iterator[tuple[str, datetime]]:
        """Yield each URL and time that attachments have, those of one URL together, sorted by time."""

    def remove(self, url: str, times: Iterable[datetime]) -> None:
        """Remove the attachments of a URL at some times.

        Blocks that no attachment has any more are removed when the archive is made compact.
        """
