"""The archive: stores pages and reads them back; connects the stages with the store."""

from __future__ import annotations

from datetime import datetime

from archivebot.archive.inspection import Inspector, snapshot_of
from archivebot.archive.lookup import ArchiveReader
from archivebot.archive.pruning import PrunedPage, Pruner
from archivebot.archive.recorder import Recorder
from archivebot.archive.revisits import Revisits
from archivebot.config import ArchiveConfig
from archivebot.exceptions import NotArchived, Outdated, StorageError
from archivebot.garbage import keep_memory
from archivebot.markup.contenttype import content_type
from archivebot.models import Capture, Page, Position, Snapshot
from archivebot.storage import open_reader, open_store
from archivebot.storage.base import ArchiveStore
from archivebot.versioning.keep import Keep
from archivebot.wire import Attachment


class Archive(ArchiveReader):
    """An archive that stores pages, over one store.

    All calls must come from the thread that opened it.
    """

    def __init__(self, store: ArchiveStore, config: ArchiveConfig) -> None:
        super().__init__(store, config)
        self._inspector = Inspector(
            store, self._bodies, self.readings, self._comparison, config, self.sites, self.collections
        )
        self._zstd_level = config.zstd_level
        self._revisits = Revisits(store, self._bodies)
        self._pruner = Pruner(store, self._bodies, config)
        self._recorder = Recorder(store, self._bodies, self._inspector, config)

    @classmethod
    def open(cls, config: ArchiveConfig, create: bool = True) -> Archive:
        """Open the archive that the configuration names, and create it if it does not exist yet.

        Raises StorageError if it cannot be opened, NotArchived if there is none and ``create`` is false.
        """
        return cls(open_store(config.uri, create), config)

    @classmethod
    def read_only(cls, config: ArchiveConfig) -> Archive:
        """Open the archive to analyse pages while another process stores them.

        It waits for no writer. Raises StorageError if the archive does not exist or cannot be read; a call
        that stores something raises it as well.
        """
        try:
            return cls(open_reader(config.uri), config)
        except Outdated:  # it is read as it is, if it cannot be written
            return cls.open(config, create=False)
        except NotArchived as error:
            raise StorageError(*error.args) from error

    @staticmethod
    def reader(config: ArchiveConfig) -> ArchiveReader:
        """Open the archive that the configuration names for reading, even while other processes write to it.

        The archive is not created, its schema is not upgraded, and nothing is stored in it. A reader may pass
        from thread to thread, but only one thread may use it at a time: a server opens one reader for each of
        its threads, or keeps a pool. Each reader caches the bodies it read last, up to 4 MB.

        Raises NotArchived if there is no archive, Outdated if an older archivebot wrote it, and StorageError
        if a newer archivebot wrote it or it cannot be read. A closed reader raises Closed.
        """
        keep_memory()
        return ArchiveReader(open_reader(config.uri), config)

    def follow(self, page: Page) -> None:
        """Take over what is known of a page from its latest version, before the page is read."""
        self._inspector.follow(page)

    def segment(self, page: Page) -> Snapshot:
        """Analyse a page: :meth:`cut`, :meth:`extract`, :meth:`mark` and :meth:`judge` in one call."""
        return self.judge(self.mark(self.extract(self.cut(snapshot_of(page)))))

    def analyse(self, page: Page) -> tuple[Snapshot, str | None]:
        """Analyse a page as :meth:`segment` does, without its mark, which :meth:`add` finds.

        So the result depends only on the page and the stored visits of its URL, not on other pages. Also
        returns the main text if the page has a fingerprint.
        """
        found = self.judge(self._inspector.fingerprint(self.extract(self.cut(snapshot_of(page)))))
        read = self.readings.of(page.body, content_type(page.headers)) if found.fingerprint else None
        return found, read.main_text if read else None

    def cut(self, snapshot: Snapshot) -> Snapshot:
        """Cut a page into blocks, at the level that its history or the page itself asks for."""
        return self._inspector.cut(snapshot)

    def extract(self, snapshot: Snapshot) -> Snapshot:
        """Read the fields of a page by the selectors of the configuration."""
        return self._inspector.extract(snapshot)

    def mark(self, snapshot: Snapshot) -> Snapshot:
        """Compute the fingerprint of a page, and mark it if it repeats a page of the archive."""
        return self._inspector.mark(snapshot)

    def judge(self, snapshot: Snapshot) -> Snapshot:
        """Add the capture quality and the changes since the previous version."""
        return self._inspector.judge(snapshot)

    def add(self, snapshot: Snapshot, with_blocks: bool = True, text: str | None = None) -> Capture:
        """Store one capture; it survives a crash of the process, and after :meth:`sync` a power cut.

        The capture that is returned lists its blocks only if ``with_blocks`` is true. ``text`` is the main
        text of the page, if the caller knows it.

        The page that it repeats may have been stored since the cut, so it is compared with the archive again.
        Raises StorageError if the store fails. In that case nothing of the capture is stored.
        """
        return self._recorder.add(self._inspector.confirmed(snapshot, text), with_blocks)

    @property
    def is_durable(self) -> bool:
        """Whether everything stored so far survives a power cut."""
        return self._store.is_durable

    def sync(self) -> Position | None:
        """Make everything stored so far survive a power cut; return the position of the archive.

        Returns None if there was nothing to do. Raises StorageError if that fails, or if the archive was
        deleted.
        """
        return self._store.sync()

    def resolved(self, page: Page) -> Page:
        """Return a revisit with the body that it repeats; unresolved if the archive does not hold it."""
        return self._revisits.resolved(page)

    def attach(self, attachment: Attachment) -> bool:
        """Store a WARC record that is not a capture; False if it was already stored."""
        return self.attachments.add(attachment, self._zstd_level)

    def remember(self, page: Page) -> None:
        """Record the payload of a page stored earlier; :meth:`add` records the payloads of new pages."""
        self._recorder.remember(page)

    def released(self, page: Page) -> list[Page]:
        """Return the unresolved captures that repeat a stored page, each with its body."""
        return list(self._revisits.released(page))

    def planned(self, url: str, keep: Keep, now: datetime) -> PrunedPage:
        """Return the versions of a page that :meth:`prune` would remove."""
        return self._pruner.plan(url, keep, now)

    def prune(self, url: str, keep: Keep, now: datetime) -> PrunedPage:
        """Prune the versions of a page that a rule does not keep; see :meth:`Pruner.prune`."""
        return self._pruner.prune(url, keep, now)

    def size(self) -> int:
        """Return the bytes that the whole archive takes."""
        return self._store.size()

    def compact(self) -> None:
        """Make everything durable, and return the free space of the archive to the file system."""
        self._store.sync()
        self._store.retention.compact()

    def settle(self, snapshot: Snapshot, with_blocks: bool = True, text: str | None = None) -> Capture:
        """Replace an unresolved capture by its resolved version; see :meth:`add`."""
        with self._store.together():
            capture = self.add(snapshot, with_blocks, text)
            self._store.revisits.release(capture.url, capture.captured_at)
        return capture
