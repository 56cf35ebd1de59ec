"""Signatures by a private key on an elliptic curve, and the public keys that verify them."""

from __future__ import annotations

import base64
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import ec, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from archivebot.exceptions import UsageError

_MADE = "openssl ecparam -genkey -name secp384r1 -out key.pem makes one"


class PublicKey:
    """A public key on an elliptic curve."""

    def __init__(self, key: ec.EllipticCurvePublicKey) -> None:
        self._key = key
        self.der = key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)

    @classmethod
    def read(cls, path: Path) -> PublicKey:
        """Read a public or private key in PEM; raises UsageError if the file holds none."""
        data = _bytes(path)
        if b"PRIVATE KEY" in data:
            return Signer(path).public
        try:
            key = load_pem_public_key(data)
        except ValueError as error:
            raise UsageError(f"{path} is no key in PEM: {_MADE}") from error
        except UnsupportedAlgorithm as error:
            raise UsageError(f"{path} is a key of another kind ({error}): {_MADE}") from error
        if not isinstance(key, ec.EllipticCurvePublicKey):
            raise UsageError(f"{path} is a key of another kind: {_MADE}")
        return cls(key)

    @property
    def key_id(self) -> bytes:
        """The four bytes by which a signed note names a key of ECDSA (https://c2sp.org/signed-note)."""
        return sha256(self.der).digest()[:4]

    def verifies(self, signature: bytes, text: str) -> bool:
        """Return whether a signature in DER is of this key and of a text."""
        try:
            self._key.verify(signature, text.encode(), ec.ECDSA(SHA256()))
        except InvalidSignature:
            return False
        return True


class Signer:
    """Signs texts with ECDSA and SHA-256.

    Browsers verify a signature of r and s as bytes, in base64: https://specs.webrecorder.net/wacz-auth/0.1.0/
    describes the anonymous signatures of packages. Signed notes have signatures in DER.
    """

    def __init__(self, path: Path) -> None:
        """Read a private key in PEM; raises UsageError if the file holds none."""
        try:
            key = load_pem_private_key(_bytes(path), None)
        except (ValueError, TypeError) as error:
            raise UsageError(f"{path} is no private key in PEM without a password: {_MADE}") from error
        except UnsupportedAlgorithm as error:
            raise UsageError(f"{path} is a key of another kind ({error}): {_MADE}") from error
        if not isinstance(key, ec.EllipticCurvePrivateKey):
            raise UsageError(f"{path} is a key of another kind: {_MADE}")
        self._key = key
        self.public = PublicKey(key.public_key())

    def der_signature(self, text: str) -> bytes:
        """Return the signature of a text in DER."""
        return self._key.sign(text.encode(), ec.ECDSA(SHA256()))

    def signature(self, text: str) -> str:
        """Return the signature of a text in base64."""
        size = (self._key.curve.key_size + 7) // 8
        r, s = utils.decode_dss_signature(self.der_signature(text))
        return base64.b64encode(r.to_bytes(size, "big") + s.to_bytes(size, "big")).decode()

    def signed(self, text: str, created: str, software: str) -> dict[str, str]:
        """Return the signature of a text with the data that verify it."""
        return {
            "hash": text,
            "signature": self.signature(text),
            "publicKey": base64.b64encode(self.public.der).decode(),
            "created": created,
            "software": software,
        }


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
