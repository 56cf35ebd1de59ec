"""Checksums of rows and documents, which detect changes by a faulty disk or memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from zlib import crc32


def checksum(*values: object) -> int:
    """Return the CRC-32 of values, as a signed number: SQLite keeps such a number in 4 bytes.

    Values are separated by a zero byte. Bytes are written as an ``x`` and the bytes, all other values as
    Python writes them, in UTF-8: numbers in decimal, ``None`` for NULL.

    >>> checksum("fetched", 200, None, b"x") == checksum("fetched", 201, None, b"x")
    False
    >>> checksum("a"), checksum(b"a")
    (-390611389, -1668632369)
    """
    written = [b"x" + value if type(value) is bytes else str(value).encode() for value in values]
    return (crc32(b"\0".join(written)) ^ 0x80000000) - 0x80000000


def document_checksum(document: Mapping[str, object], *fields: str) -> int:
    """Return the checksum of some fields of a document, each written as JSON with sorted keys.

    >>> document_checksum({"a": 1, "b": ["x"]}, "b") == checksum('["x"]')
    True
    """
    return checksum(*(_written(document.get(field)) for field in fields))


def _written(value: object) -> object:
    return value if isinstance(value, bytes) else json.dumps(value, sort_keys=True, separators=(",", ":"))
