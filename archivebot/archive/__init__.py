"""The archive: the one place where a store and the stages that read, compare and place pages meet."""

from archivebot.archive.archive import Archive, BlockState
from archivebot.archive.inspection import is_readable, snapshot_of
from archivebot.archive.readings import PageReading
from archivebot.archive.verification import Damage

__all__ = ["Archive", "BlockState", "Damage", "PageReading", "is_readable", "snapshot_of"]
