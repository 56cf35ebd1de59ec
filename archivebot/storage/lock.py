"""The lock on a file that one process at a time may hold."""

from __future__ import annotations

import fcntl
import time
from pathlib import Path
from typing import IO

from archivebot.exceptions import StorageError

_PAUSE = 0.02  # seconds between two tries


def lock(file: IO[bytes], path: Path, seconds: float = 0.0) -> bool:
    """Lock an open file until it is closed; False if another holds the lock for ``seconds``.

    Raises StorageError if the file system has no locks; ``path`` is the file that it names.
    """
    end = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= end:
                return False
            time.sleep(_PAUSE)
        except OSError as error:
            raise StorageError(
                f"{path} cannot be locked: {error.strerror}; move it to a file system that has locks"
            ) from error
        else:
            return True
