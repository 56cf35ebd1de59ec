"""Work on files without the right to write."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

NOBODY = 65534


def forbid(folder: Path) -> None:
    """Take the right to write from a folder and the files in it."""
    for path in (*folder.iterdir(), folder):
        path.chmod(0o555 if path.is_dir() else 0o444)


def as_nobody(work: Callable[[], bool]) -> bool:
    """Return whether work succeeds in a process that is not root."""
    child = os.fork()
    if child == 0:
        if os.getuid() == 0:
            os.setuid(NOBODY)
        try:
            os._exit(not work())
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(2)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
