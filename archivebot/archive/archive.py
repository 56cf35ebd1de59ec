"""The archive: put pages in, look back at them. The one place where stages and store meet."""

from __future__ import annotations

from archivebot.archive.inspection import Inspector, snapshot_of
from archivebot.archive.lookup import ArchiveReader
from archivebot.archive.recorder import Recorder
from archivebot.archive.revisits import Revisits
from archivebot.config import ArchiveConfig
from archivebot.models import Capture, Page, Position, Snapshot
from archivebot.storage import open_reader, open_store
from archivebot.storage.base import ArchiveStore


class Archive(ArchiveReader):
    """An archive that pages are put into, over one store.

    All calls must come from the thread that opened it.
    """

    def __init__(self, store: ArchiveStore, config: ArchiveConfig) -> None:
        super().__init__(store, config)
        self._inspector = Inspector(store, self._bodies, self.readings, self._comparison, config)
        self._revisits = Revisits(store, self._bodies)
        self._recorder = Recorder(store, self._bodies, self._inspector, config)

    @classmethod
    def open(cls, config: ArchiveConfig, create: bool = True) -> Archive:
        """Open the archive that the configuration names; it is made where it does not exist yet.

        Raises StorageError if it cannot be opened, NotArchived if there is none and ``create`` is false.
        """
        return cls(open_store(config.uri, create), config)

    @staticmethod
    def reader(config: ArchiveConfig) -> ArchiveReader:
        """Open the archive that the configuration names to be read only, also while others write to it.

        It is neither made nor brought up to a newer schema, and nothing is stored in it. A reader may go from
        thread to thread, but serves one at a time: a server has one for each of its threads, or a pool. Each
        keeps the bodies read last, up to 48 MB.

        Raises NotArchived if there is no archive, Outdated if an older archivebot wrote it, and StorageError
        if a newer one did or it cannot be read. A reader that was closed raises Closed.
        """
        return ArchiveReader(open_reader(config.uri), config)

    def segment(self, page: Page) -> Snapshot:
        """Return a page with all that is read of it: :meth:`cut`, :meth:`mark` and :meth:`judge` in one."""
        return self.judge(self.mark(self.cut(snapshot_of(page))))

    def cut(self, snapshot: Snapshot) -> Snapshot:
        """Cut a page into blocks, as deep as its history or its own wish says."""
        return self._inspector.cut(snapshot)

    def mark(self, snapshot: Snapshot) -> Snapshot:
        """Compute the fingerprint of a page, and mark it if it repeats a page of the archive."""
        return self._inspector.mark(snapshot)

    def judge(self, snapshot: Snapshot) -> Snapshot:
        """Add whether the fetch brought the page, and what changed since the version before."""
        return self._inspector.judge(snapshot)

    def add(self, snapshot: Snapshot) -> Capture:
        """Store one visit; it survives the death of the process, and after :meth:`sync` that of the machine.

        The page that it repeats may have come since it was cut, so it is held against the archive once
        more. Raises StorageError where the store fails; nothing of the visit is stored then.
        """
        return self._recorder.add(self._inspector.confirmed(snapshot))

    @property
    def is_durable(self) -> bool:
        """Whether all that was stored survives a power cut."""
        return self._store.is_durable

    def sync(self) -> Position | None:
        """Make durable what was stored, so that it survives a power cut; return how far the archive has come.

        None if there was nothing to do. Raises StorageError if it cannot be done, or the archive was deleted.
        """
        return self._store.sync()

    def resolved(self, page: Page) -> Page:
        """Return a revisit with the body that it repeats, or as unresolved where the archive has none."""
        return self._revisits.resolved(page)

    def remember(self, page: Page) -> None:
        """Store which payload a page has that was stored before; what is stored now is remembered anyway."""
        self._recorder.remember(page)

    def released(self, page: Page) -> list[Page]:
        """Return the unresolved visits that repeat a stored page, each with its body."""
        return list(self._revisits.released(page))

    def settle(self, snapshot: Snapshot) -> Capture:
        """Store a visit that was unresolved, in place of what was stored of it."""
        with self._store.together():
            capture = self._recorder.add(self._inspector.confirmed(snapshot))
            self._store.revisits.release(capture.url, capture.captured_at)
        return capture
