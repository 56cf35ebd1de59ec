"""Checkpoints: the size and the root of a log as a text that can be signed, published and compared later.

https://c2sp.org/tlog-checkpoint and https://c2sp.org/signed-note describe the text and its signatures.
"""

from __future__ import annotations

import base64
import binascii
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from archivebot.exceptions import UsageError

if TYPE_CHECKING:  # its library takes 70 ms to import
    from archivebot.proof.signing import PublicKey, Signer

_NOTE = re.compile(r"([!-~]+)\n(0|[1-9]\d{0,15})\n([A-Za-z0-9+/]{43}=)\n(?:[^\n]+\n)*")
_SIGNATURE = re.compile(r"— (\S+) ([A-Za-z0-9+/=]+)")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state of a log: its ``origin``, the number of its entries, and the root of its tree (32 bytes)."""

    origin: str
    size: int
    root: bytes

    @property
    def text(self) -> str:
        """The text that is signed.

        >>> print(Checkpoint("archivebot/0123456789abcdef", 1, bytes(32)).text, end="")
        archivebot/0123456789abcdef
        1
        AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=
        """
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"

    def note(self, signer: Signer | None = None) -> str:
        """Return the text, with an empty line and a signature after it if there is a signer."""
        if signer is None:
            return self.text
        data = signer.public.key_id + signer.der_signature(self.text)
        return f"{self.text}\n— {self.origin} {base64.b64encode(data).decode()}\n"


def origin_of(identity: str) -> str:
    """Return the name of the log of an archive, by the identity of the archive."""
    return f"archivebot/{identity}"


def read_checkpoint(note: str, key: PublicKey | None = None) -> Checkpoint:
    """Read a checkpoint, and check its signature if there is a key; raises UsageError if it is not valid.

    >>> note = Checkpoint("archivebot/0123456789abcdef", 7, bytes(32)).note()
    >>> read_checkpoint(note).size
    7
    """
    text, _, signatures = note.partition("\n\n")
    found = _NOTE.fullmatch(text if text.endswith("\n") else f"{text}\n")
    if not found:
        raise UsageError("it is no checkpoint: its lines are an origin, a size, and a root in base64")
    checkpoint = Checkpoint(found[1], int(found[2]), base64.b64decode(found[3]))
    if key is not None and not _is_signed(found[0], signatures, key):
        raise UsageError("the checkpoint has no valid signature of that key")
    return checkpoint


def _is_signed(text: str, signatures: str, key: PublicKey) -> bool:
    for line in signatures.splitlines():
        found = _SIGNATURE.fullmatch(line)
        try:
            data = base64.b64decode(found[2], validate=True) if found else b""
        except binascii.Error:
            continue
        # An id of four bytes may also be that of another key.
        if data[:4] == key.key_id and key.verifies(data[4:], text):
            return True
    return False
