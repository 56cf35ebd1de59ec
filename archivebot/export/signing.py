"""Signatures by a private key on an elliptic curve."""

from __future__ import annotations

import base64
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
)

from archivebot.exceptions import UsageError

_MADE = "openssl ecparam -genkey -name secp384r1 -out key.pem makes one"


class Signer:
    """Signs texts with ECDSA and SHA-256, as browsers verify it: a signature is r and s as bytes, in base64.

    https://specs.webrecorder.net/wacz-auth/0.1.0/ describes the anonymous signatures of packages.
    """

    def __init__(self, path: Path) -> None:
        """Read a private key in PEM; raises UsageError if the file holds none."""
        try:
            key = load_pem_private_key(path.read_bytes(), None)
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from error
        except (ValueError, TypeError) as error:
            raise UsageError(f"{path} is no private key in PEM without a password: {_MADE}") from error
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise UsageError(f"{path} is a key of another kind: {_MADE}")
        self._key = key

    @property
    def public_key(self) -> str:
        """The public key in DER, in base64."""
        der = self._key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return base64.b64encode(der).decode()

    def signature(self, text: str) -> str:
        """Return the signature of a text in base64."""
        size = (self._key.curve.key_size + 7) // 8
        r, s = utils.decode_dss_signature(self._key.sign(text.encode(), ec.ECDSA(SHA256())))
        return base64.b64encode(r.to_bytes(size, "big") + s.to_bytes(size, "big")).decode()

    def signed(self, text: str, created: str, software: str) -> dict[str, str]:
        """Return the signature of a text with what it takes to verify it."""
        return {
            "hash": text,
            "signature": self.signature(text),
            "publicKey": self.public_key,
            "created": created,
            "software": software,
        }
