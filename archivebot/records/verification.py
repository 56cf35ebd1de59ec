"""The result of a verification, proofs and checkpoints as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from archivebot.models import Damage
from archivebot.proof.checkpoint import Checkpoint
from archivebot.proof.proof import Proof
from archivebot.timestamps import timestamp


def verification_record(checked: int, pruned: int, damaged: Iterable[Damage]) -> dict[str, Any]:
    """Return the numbers of versions checked and of pruned versions, and the damage found, as a record."""
    return {"checked": checked, "pruned": pruned, "damaged": list(map(asdict, damaged))}


def proof_record(proof: Proof, note: str) -> dict[str, Any]:
    """Return a proof as a record; ``note`` is its checkpoint as text, signed or not."""
    return {
        "url": proof.url,
        "captured_at": timestamp(proof.captured_at),
        "leaf": proof.leaf.hex(),
        "index": proof.index,
        "size": proof.checkpoint.size,
        "path": [value.hex() for value in proof.path],
        "root": proof.checkpoint.root.hex(),
        "checkpoint": note,
        "record": proof.record,
    }


def checkpoint_record(checkpoint: Checkpoint, note: str) -> dict[str, Any]:
    """Return a checkpoint as a record; ``note`` is the checkpoint as text, signed or not."""
    return {
        "origin": checkpoint.origin,
        "size": checkpoint.size,
        "root": checkpoint.root.hex(),
        "checkpoint": note,
    }
