"""archivebot collects and keeps the history of web pages, block by block and byte for byte."""

import os

# The matrices here are small, and threads of OpenBLAS would only wait for each other: the main text of a page
# takes 15.4 ms of CPU with one thread and 22.5 ms with two. OpenBLAS reads this when numpy is first imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from archivebot.archive import Archive, ArchiveReader
from archivebot.config import ArchiveConfig
from archivebot.exceptions import ArchiveError
from archivebot.models import Block, Capture, Delta, Page, Partition, Snapshot

__version__ = "0.1.0"

__all__ = [
    "Archive",
    "ArchiveConfig",
    "ArchiveError",
    "ArchiveReader",
    "Block",
    "Capture",
    "Delta",
    "Page",
    "Partition",
    "Snapshot",
]
