"""Checks the log of an archive: against itself, against the captures, and against a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime

from archivebot.exceptions import CorruptObject
from archivebot.models import Damage
from archivebot.proof.checkpoint import Checkpoint, origin_of
from archivebot.proof.merkle import WIDTH, leaf_hash, root_of
from archivebot.storage.balance import Balance
from archivebot.storage.base import ArchiveStore
from archivebot.storage.record import digest_of, removed_by
from archivebot.timestamps import timestamp

# Every urlkey is before this one.
_LAST_KEY = "\U0010ffff"


def inconsistencies(store: ArchiveStore, checkpoint: Checkpoint | None = None) -> Iterator[Damage]:
    """Yield what shows that the log, or a capture, is not what was written.

    Every capture has an entry, every entry has a capture or was removed by a later entry, and the stored
    roots follow from the entries. The tree over the first entries has the root of the ``checkpoint``. Other
    processes may write meanwhile.
    """
    try:
        yield from _inconsistencies(store, checkpoint)
    except CorruptObject as error:
        yield _damage(str(error))


def _inconsistencies(store: ArchiveStore, checkpoint: Checkpoint | None) -> Iterator[Damage]:
    size = store.log.size()
    if checkpoint and not _is_of(checkpoint, store):
        yield _damage(f"the checkpoint is of {checkpoint.origin}, not of this archive")
        checkpoint = None
    if checkpoint and checkpoint.size > size:
        yield _damage(f"the checkpoint has {checkpoint.size} entries, and the log {size}: entries are lost")
    with Balance() as balance:
        yield from _tree(store, size, balance, checkpoint)
        changed: list[tuple[bytes, Damage]] = []
        yield from _captures(store, balance, changed)
        for index, entry in enumerate(store.log.entries(size), size):  # of captures stored meanwhile
            _count(balance, entry, index)
        yield from (damage for digest, damage in changed if balance.is_short_of(digest))
        for index in balance.rest(size):
            yield _damage(f"the entry {index} of the log has no capture: it was changed or lost")


def _is_of(checkpoint: Checkpoint, store: ArchiveStore) -> bool:
    """Return whether a checkpoint is of this archive, as far as the identity of the archive can be read."""
    with suppress(CorruptObject):  # the store reports it
        return checkpoint.origin == origin_of(store.position().archive)
    return True


def _tree(
    store: ArchiveStore, size: int, balance: Balance, checkpoint: Checkpoint | None
) -> Iterator[Damage]:
    """Check the stored roots and the checkpoint, and count the entries in ``balance``."""
    known = store.log.subtrees()
    last = store.log.size() // WIDTH  # read after the roots: meanwhile others may store entries and roots
    roots: list[bytes] = []
    hashes: list[bytes] = []
    if checkpoint and checkpoint.size == 0 and checkpoint.root != root_of([]):
        yield _damage("the checkpoint of no entries has another root than an empty log")
    for index, entry in enumerate(store.log.entries(end=size)):
        if not _count(balance, entry, index):
            yield _damage(f"the entry {index} of the log removes no capture")
        hashes.append(leaf_hash(entry))
        before = checkpoint if checkpoint and checkpoint.size == index + 1 else None
        if before and root_of([*roots, root_of(hashes)]) != before.root:
            yield _damage(
                f"the first {before.size} entries of the log do not have the root of the checkpoint"
            )
        if len(hashes) == WIDTH:
            number = len(roots)
            roots.append(root_of(hashes))
            hashes = []
            if known.get(number, roots[-1]) != roots[-1]:
                yield _damage(f"the entries of the log from {number * WIDTH} do not have their stored root")
    if any(number >= last for number in known):
        yield _damage("the log has roots of entries that are lost")


def _count(balance: Balance, entry: bytes, index: int) -> bool:
    """Count an entry; False if it removes a capture that has none."""
    removed = removed_by(entry)
    if removed is not None:
        return balance.take(removed)
    balance.add(entry, index)
    return True


def _captures(store: ArchiveStore, balance: Balance, changed: list[tuple[bytes, Damage]]) -> Iterator[Damage]:
    """Take the captures out of the balance; ``changed`` receives those that it does not have."""
    try:
        for _, url in store.urls("", _LAST_KEY):
            try:
                for capture in store.captures(url):
                    digest = digest_of(capture)
                    if not balance.take(digest):
                        damage = Damage(url, capture.number, capture.sha256, _changed(capture.captured_at))
                        changed.append((digest, damage))
            except CorruptObject as error:
                yield Damage(url, None, "", f"its captures cannot be compared with the log: {error}")
    except CorruptObject as error:  # about pages; it comes after those that can be read
        yield _damage(str(error))


def _changed(when: datetime) -> str:
    return f"the log does not have the capture at {timestamp(when)} as it is stored: it was changed"


def _damage(reason: str) -> Damage:
    return Damage("", None, "", reason)
