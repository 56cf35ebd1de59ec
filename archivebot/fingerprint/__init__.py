"""Digests and fingerprints of bytes and texts."""

from archivebot.fingerprint.digest import piece_id, sha256_hex

__all__ = ["piece_id", "sha256_hex"]
