"""archivebot collects and keeps the history of web pages, block by block and byte for byte."""

from archivebot.archive import Archive
from archivebot.config import ArchiveConfig
from archivebot.exceptions import ArchiveError
from archivebot.models import Block, Capture, Delta, Page, Partition, Snapshot

__version__ = "0.1.0"

__all__ = [
    "Archive",
    "ArchiveConfig",
    "ArchiveError",
    "Block",
    "Capture",
    "Delta",
    "Page",
    "Partition",
    "Snapshot",
]
