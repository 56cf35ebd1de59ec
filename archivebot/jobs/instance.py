"""The lock by which only one program at a time visits the pages of an archive again."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from archivebot.config import beside
from archivebot.exceptions import Busy, StorageError


@contextmanager
def only_instance(archive_uri: str, name: str = "recrawl") -> Iterator[None]:
    """Hold the lock ``name`` of an archive until the block ends, or until this process does.

    The lock is on a file beside the archive, in the working directory if the archive is on a server. The file
    stays. Raises Busy if another process holds the lock, StorageError if the file cannot be written.
    """
    path = beside(archive_uri, name).with_suffix(".lock")
    try:
        file = path.open("a+")
    except OSError as error:
        raise StorageError(f"the lock {path} cannot be written: {error.strerror}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            file.seek(0)
            holder = file.read().strip() or "unknown"
            raise Busy(
                f"process {holder} already visits the pages of {archive_uri} (lock {path}): wait until it"
                " has ended, or stop it"
            ) from error
        file.truncate(0)
        file.write(f"{os.getpid()}\n")
        file.flush()
        yield
