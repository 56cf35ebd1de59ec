"""The digests by which the records of WARC files name payloads."""

from __future__ import annotations

import base64
import binascii
import hashlib

# Bytes of each algorithm's digest.
_SIZES = {"md5": 16, "sha1": 20, "sha256": 32, "sha384": 48, "sha512": 64}

# Hex digits of a key. Of a billion payloads two share one with probability 1e-21.
_KEY = 32


def payload_key(digest: str) -> str:
    """Return the key of a digest, the same for all spellings, as 32 hex digits; "" if it is unknown.

    >>> payload_key("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ")
    'da39a3ee5e6b4b0d3255bfef95601890'
    >>> payload_key("SHA-1:DA39A3EE5E6B4B0D3255BFEF95601890AFD80709"), payload_key("crc:1")
    ('da39a3ee5e6b4b0d3255bfef95601890', '')
    """
    name, _, text = digest.partition(":")
    raw = _raw(name.strip().lower().replace("-", ""), text.strip())
    return raw.hex()[:_KEY] if raw else ""


def payload_keys(body: bytes) -> set[str]:
    """Return the keys of a payload, one for each algorithm.

    >>> payload_key("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ") in payload_keys(b"")
    True
    """
    return {hashlib.new(name, body).hexdigest()[:_KEY] for name in _SIZES}


def _raw(algorithm: str, text: str) -> bytes | None:
    """Read a digest in hexadecimal or base32; None if it is neither."""
    size = _SIZES.get(algorithm, 0)
    for read in (bytes.fromhex, lambda text: base64.b32decode(text.upper() + "=" * (-len(text) % 8))):
        try:
            raw = read(text)
        except (ValueError, binascii.Error):
            continue
        if len(raw) == size:
            return raw
    return None
