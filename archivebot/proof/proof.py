"""The proof that a capture is in the log of its archive."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from archivebot.proof.checkpoint import Checkpoint


@dataclass(frozen=True, slots=True)
class Proof:
    """The proof that a capture is in the log: its record, the digest of it, and the path to the root.

    ``leaf`` is the digest (32 bytes), ``index`` its place in the log, from 0; ``path`` has the hashes beside
    the way from the leaf to the root of the ``checkpoint``.
    """

    url: str
    captured_at: datetime
    record: dict[str, Any] = field(repr=False)
    leaf: bytes
    index: int
    path: tuple[bytes, ...]
    checkpoint: Checkpoint
