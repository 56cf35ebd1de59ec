"""Verifies an archive: rebuilds and hashes the bodies, compares the checksums."""

from __future__ import annotations

import random

from archivebot.archive.bodies import Bodies
from archivebot.archive.consistency import inconsistencies
from archivebot.exceptions import ArchiveError, CorruptObject, Pruned
from archivebot.models import Damage
from archivebot.proof.checkpoint import Checkpoint
from archivebot.storage.base import ArchiveStore, VersionId


def verify(
    store: ArchiveStore, bodies: Bodies, sample: int | None = None, checkpoint: Checkpoint | None = None
) -> tuple[int, list[Damage]]:
    """Rebuild all versions or a random sample, and compare all stored data with its checksums and its log.

    The log is compared with an earlier ``checkpoint`` of it, if there is one. Returns the number of versions
    checked and the damage found. A pruned version has no bytes to rebuild, and does not count. Nothing is
    changed.
    """
    try:
        ids = list(store.version_ids())
    except CorruptObject:  # the store reports it
        ids = []
    if sample is not None and sample < len(ids):
        ids = sorted(random.sample(ids, sample))
    checked, damage = len(ids), list[Damage]()
    for identity in ids:
        try:
            found = _damage(store, bodies, identity)
        except Pruned:
            checked -= 1
            continue
        damage += [found] if found else []
    damage += [Damage("", None, "", reason) for reason in store.check()]
    damage += _damaged_attachments(store) if sample is None else []
    damage += inconsistencies(store, checkpoint)
    return checked, damage


def _damaged_attachments(store: ArchiveStore) -> list[Damage]:
    found = []
    try:
        for packed in store.attachments.all():
            try:
                packed.unpacked()
            except CorruptObject as error:
                found.append(Damage(packed.url, None, packed.digest.hex(), str(error)))
    except ArchiveError as error:
        found.append(Damage("", None, "", str(error)))
    return found


def _damage(store: ArchiveStore, bodies: Bodies, identity: VersionId) -> Damage | None:
    try:
        version = store.version(identity)
    except ArchiveError as error:
        return Damage("", None, f"version {identity}", str(error))
    try:
        slots = bodies.get(version).slots
        if len(slots) != version.blocks or (slots and slots[-1].end > version.length):
            raise CorruptObject("its block table is not that of its body")
    except Pruned:
        raise
    except ArchiveError as error:
        return Damage(version.url, version.number, version.digest, str(error))
    return None
