"""The lock by which only one program at a time visits the pages of an archive again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from archivebot.config import beside
from archivebot.exceptions import Busy, StorageError
from archivebot.storage.lock import lock

_LONGEST = 20  # bytes of the number of a process


@contextmanager
def only_instance(archive_uri: str, name: str = "recrawl") -> Iterator[None]:
    """Hold the lock ``name`` of an archive until the block ends, or until this process does.

    The lock is on a file beside the archive, in the working directory if the archive is on a server. The file
    stays. Raises Busy if another process holds the lock, StorageError if the file cannot be written or
    locked.
    """
    path = beside(archive_uri, name).with_suffix(".lock")
    with _opened(path) as file:
        if not lock(file, path):
            holder = file.read(_LONGEST).decode("ascii", "replace").strip() or "unknown"
            raise Busy(
                f"process {holder} already visits the pages of {archive_uri} (lock {path}): wait until it"
                " has ended, or stop it"
            )
        try:
            os.ftruncate(file.fileno(), 0)
            os.write(file.fileno(), b"%d\n" % os.getpid())
        except OSError as error:
            raise _failed(path, error) from error
        yield


def _opened(path: Path) -> IO[bytes]:
    try:
        return open(os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666), "rb", buffering=0)
    except OSError as error:
        raise _failed(path, error) from error


def _failed(path: Path, error: OSError) -> StorageError:
    return StorageError(f"the lock {path} cannot be written: {error.strerror}")
