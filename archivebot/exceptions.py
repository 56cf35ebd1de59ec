"""Every error that archivebot raises on purpose.

::

    ArchiveError
    ├── UsageError        a wrong argument, option or setting            exit 2
    ├── NotArchived       the archive does not hold what was asked for   exit 1
    │   └── Pruned        it held these bytes, and scrapy prune removed them
    ├── StorageError      the archive cannot be opened, read or written  exit 3
    │   ├── Closed        it was closed; open it again
    │   ├── Outdated      an older archivebot wrote it; a reader does not upgrade it
    │   ├── Conflict      another writer was first; try again
    │   ├── Crashed       a process of a crawl died (archivebot.archive.process.worker)
    │   └── CorruptObject stored bytes do not match their digest         exit 4
    ├── TooLarge          a page takes more memory than a process may have
    ├── WarcError         a WARC or ARC file cannot be read              exit 5
    ├── Undelivered       an alert was not taken; a later run sends it   exit 6
    │   └── Refused       the receiver refused this alert
    ├── Busy              another program visits the pages of the archive   exit 7
    └── NothingFetched    no request of a crawl was answered                exit 8
"""

from __future__ import annotations


class ArchiveError(Exception):
    """Base of all errors of archivebot; the message names a remedy."""

    exit_code = 3


class UsageError(ArchiveError):
    """An argument, option or setting has a value that cannot be used."""

    exit_code = 2


class NotArchived(ArchiveError):
    """The archive holds no such capture, version or block."""

    exit_code = 1


class Pruned(NotArchived):
    """The bytes of a version were removed by ``scrapy prune``; its captures are still recorded."""


class StorageError(ArchiveError):
    """The archive cannot be opened, read or written."""

    exit_code = 3


class Closed(StorageError):
    """The archive or the frontier was used after it was closed."""


class Outdated(StorageError):
    """The archive or the frontier has the schema of an older archivebot and was opened read-only."""


class Conflict(StorageError):
    """Another writer stored a version of the same page in the meantime; the caller tries again."""


class CorruptObject(StorageError):
    """Stored bytes do not match the digest recorded with them."""

    exit_code = 4


class TooLarge(ArchiveError):
    """A page takes more memory than a process may have; its bytes can be read."""


class WarcError(ArchiveError):
    """A WARC or ARC file cannot be read."""

    exit_code = 5


class NothingFetched(ArchiveError):
    """No server answered any request of a crawl; the failures are captures."""

    exit_code = 8


class Undelivered(ArchiveError):
    """An output did not take an alert; it stays in the outbox, and a later run sends it."""

    exit_code = 6


class Refused(Undelivered):
    """The receiver of an output refused one alert; it may take others."""


class Busy(ArchiveError):
    """Another program visits the pages of the archive again; only one may."""

    exit_code = 7
