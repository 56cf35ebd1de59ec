"""Prunes the versions of a page, after the frames of the kept versions no longer need them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from archivebot.archive.bodies import Bodies
from archivebot.archive.dictionaries import Base, Dictionaries
from archivebot.config import ArchiveConfig
from archivebot.exceptions import Conflict, CorruptObject
from archivebot.storage import frames
from archivebot.storage.base import ArchiveStore, StoredVersion, VersionId
from archivebot.urls import host_part, urlkey
from archivebot.versioning.keep import Keep

# Attempts to rewrite a page while other processes store versions against those that are to go.
ATTEMPTS = 8


@dataclass(frozen=True, slots=True)
class PrunedPage:
    """The versions that a page lost, the number of those kept, and the bytes by which other frames grew."""

    url: str
    kept: int
    versions: tuple[StoredVersion, ...] = ()
    grown: int = 0

    @property
    def bytes(self) -> int:
        """The bytes of the frames of these versions."""
        return sum(version.stored_bytes for version in self.versions)


class Pruner:
    """Prunes the pages of one archive."""

    def __init__(self, store: ArchiveStore, bodies: Bodies, config: ArchiveConfig) -> None:
        self._store, self._bodies, self._config = store, bodies, config
        self._dictionaries = Dictionaries(store, bodies, config.zstd_level)

    def plan(self, url: str, keep: Keep, now: datetime) -> PrunedPage:
        """Return the versions of a page that a rule does not keep; ``grown`` is not known and 0."""
        captures = list(self._store.captures(url, brief=True))
        kept = keep.digests(captures, now)
        shown = {capture.sha256 for capture in captures if capture.digest}
        content = [each for each in self._store.versions(url) if each.number is not None and not each.pruned]
        gone = tuple(each for each in content if each.digest in shown - kept)
        return PrunedPage(url, len(content) - len(gone), gone)

    def prune(self, url: str, keep: Keep, now: datetime) -> PrunedPage:
        """Prune the versions of a page that a rule does not keep.

        Raises CorruptObject if a version that stays is damaged: in that case nothing is changed. Raises
        Conflict if other processes stored versions of the page in every attempt.
        """
        for _ in range(ATTEMPTS - 1):
            try:
                return self._prune(url, keep, now)
            except Conflict:
                self._dictionaries.forget()
        return self._prune(url, keep, now)

    def _prune(self, url: str, keep: Keep, now: datetime) -> PrunedPage:
        plan = self.plan(url, keep, now)
        if not plan.versions:
            return plan
        rewritten = self._rewritten(url, plan.versions)
        # An error may have the bytes of a version as a body of its own, which stays.
        gone = {(version.digest, version.number) for version in plan.versions}
        captures = list(self._store.captures(url, brief=True))
        stay = {each.captured_at for each in captures if (each.sha256, each.number) not in gone}
        times = [each.captured_at for each in captures if each.captured_at not in stay]
        with self._store.together():
            self._store.attachments.remove(url, times)
            self._store.retention.rewrite(plan.versions, rewritten)
        for version in plan.versions:
            self._bodies.forget(version)  # if it is restored, its blocks may be others
        grown = sum(len(frame) - version.stored_bytes for version, frame in rewritten.items() if frame)
        return replace(plan, grown=grown)

    def _rewritten(self, url: str, gone: Sequence[StoredVersion]) -> dict[StoredVersion, bytes]:
        """Return the versions that stay with new bases and costs, each with its frame if that is new."""
        ids = {version.id for version in gone}
        found: dict[StoredVersion, bytes] = {}
        costs: dict[VersionId, int] = {}
        last: StoredVersion | None = None
        versions = self._store.versions(url)
        for version in versions:
            if version.id in ids or version.pruned:
                continue
            new, frame = self._against(version, last, ids, costs)
            costs[version.id] = new.cost
            if frame or new != version:
                found[new] = frame
            if version.number is not None:
                last = new
        for version in self._store.retention.dependents(gone):
            if version.url != url:
                before = [each for each in versions if each.id not in ids and not each.pruned and each.number]
                base = self._before(version, before)
                new, frame = self._against(version, base, ids, costs)
                found[new] = frame
        return found

    def _before(self, version: StoredVersion, others: Sequence[StoredVersion]) -> StoredVersion | None:
        """Return the version stored last before the base of another page's version."""
        stored = [each for each in others if _order(each.id) < _order(version.base)]
        return stored[-1] if stored else None

    def _against(
        self,
        version: StoredVersion,
        last: StoredVersion | None,
        gone: set[VersionId],
        costs: dict[VersionId, int],
    ) -> tuple[StoredVersion, bytes]:
        """Return a version with its base and cost, and its frame if its base is another one than before.

        A version whose base goes is compressed against the version ``last``. So is a version that started a
        new chain because the old chain was too long, if the chain is short enough now.
        """
        own = frames.cost(version.length)
        bound = frames.most_cost(version.length, self._config.frame_bound)
        before = costs.get(last.id, last.cost) if last else 0
        fits = last is not None and before + own <= bound
        is_first = version.base is None or self._store.dictionaries.is_dictionary(version.base)
        moves = version.base in gone or (is_first and fits and version.number is not None)
        if not moves:
            cost = own + costs[version.base] if version.base in costs else version.cost
            return replace(version, cost=cost), b""
        packed = self._bodies.get(version).packed
        base = self._base(version, replace(last, cost=before) if last and fits else None)
        frame = base.encode(packed, self._config.zstd_level)
        if is_first and len(frame) >= version.stored_bytes:
            return version, b""
        content = base.content.content if isinstance(base.content, frames.Dictionary) else base.content
        if frames.decode([frame], content or b"") != packed:
            raise CorruptObject(f"a frame of {version.url} did not decode to its version; nothing was pruned")
        new = replace(version, base=base.id, cost=frames.cost(version.length, base.cost))
        return new, frame

    def _base(self, version: StoredVersion, last: StoredVersion | None) -> Base:
        if last:
            return Base.of(last, self._bodies.get(last))
        return self._dictionaries.of(host_part(urlkey(version.url))) or Base()


def _order(identity: VersionId | None) -> tuple[int, str]:
    """Return the sort key of the ids of one page, which are numbers or texts."""
    return (identity, "") if isinstance(identity, int) else (0, str(identity))
