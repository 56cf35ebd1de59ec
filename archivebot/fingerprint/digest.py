"""Digests of bytes: of whole bodies, and short ones that distinguish the pieces of a page."""

from __future__ import annotations

from hashlib import sha256


def sha256_hex(data: bytes) -> str:
    """Return the SHA-256 of some bytes as 64 hex digits.

    >>> sha256_hex(b"")[:16]
    'e3b0c44298fc1c14'
    """
    return sha256(data).hexdigest()


def piece_id(data: bytes) -> int:
    """Return the first 8 bytes of the SHA-256 as a signed number, the id of a block's bytes.

    It finds equal blocks; it is never used to rebuild a body. Among the blocks of ten million
    pages of 50 blocks two different ones share an id with probability 0.007.

    >>> piece_id(b"") == int.from_bytes(sha256(b"").digest()[:8], "big", signed=True)
    True
    """
    return int.from_bytes(sha256(data).digest()[:8], "big", signed=True)
