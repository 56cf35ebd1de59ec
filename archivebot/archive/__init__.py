"""The archive: connects a store with the stages that read, compare and place pages."""

from archivebot.archive.archive import Archive
from archivebot.archive.inspection import is_readable, snapshot_of
from archivebot.archive.lookup import ArchiveReader
from archivebot.archive.readings import PageReading

__all__ = ["Archive", "ArchiveReader", "PageReading", "is_readable", "snapshot_of"]
