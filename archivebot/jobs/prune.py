"""Pruning of an archive: removes the versions that a rule does not keep, page by page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from datetime import datetime

from archivebot.archive import Archive
from archivebot.exceptions import CorruptObject
from archivebot.versioning.keep import Keep


@dataclass(slots=True)
class Pruning:
    """The counts of a run: pages that lost versions, versions, and bytes of frames.

    ``freed`` are the bytes of the frames that went less the bytes that other frames grew by; a dry run does
    not know it. ``before`` and ``after`` are the bytes of the archive.
    """

    pages: int = 0
    kept: int = 0
    pruned: int = 0
    frames: int = 0
    freed: int | None = None
    before: int = 0
    after: int = 0
    damaged: list[str] = field(default_factory=list)

    def record(self) -> dict[str, object]:
        """Return the counts as a record for ``--json``."""
        return asdict(self)


class PruneProgress:
    """What is called while an archive is pruned; a subclass prints it."""

    def pruned(self, url: str, kept: int, gone: int, size: int) -> None:
        """A page lost versions with frames of ``size`` bytes, or would lose them in a dry run."""

    def damaged(self, message: str) -> None:
        """A page was left as it is, because a version that stays is damaged."""


def prune(
    archive: Archive,
    urls: Iterable[str],
    keep: Keep,
    now: datetime,
    progress: PruneProgress,
    *,
    dry: bool = False,
    unread: Iterable[CorruptObject] = (),
) -> Pruning:
    """Prune pages, or only count what would go, and free the space.

    A damaged page is left as it is; ``unread`` are the errors of pages that cannot be read at all. An
    interrupted run leaves each page as it was or as it will be.
    """
    done = Pruning(freed=None if dry else 0, before=archive.size())

    def leave(error: CorruptObject) -> None:
        done.damaged.append(str(error))
        progress.damaged(str(error))

    for error in unread:
        leave(error)
    for url in urls:
        try:
            found = archive.planned(url, keep, now) if dry else archive.prune(url, keep, now)
        except CorruptObject as error:
            leave(error)
            continue
        done.kept += found.kept
        if found.versions:
            done.pages += 1
            done.pruned += len(found.versions)
            done.frames += found.bytes
            if done.freed is not None:
                done.freed += found.bytes - found.grown
            progress.pruned(url, found.kept, len(found.versions), found.bytes)
    if not dry:
        archive.compact()
    done.after = done.before if dry else archive.size()
    return done
