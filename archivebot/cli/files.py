"""Files that a command is given by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from archivebot.exceptions import UsageError


def named_files(names: Sequence[str]) -> list[Path]:
    """Return the paths of files, once all of them are known to be there; raises UsageError."""
    for name in names:
        if not Path(name).is_file():
            raise UsageError(f"{name} is no file")
    return list(map(Path, names))


def file_body(path: Path) -> bytes:
    """Read a file; raises UsageError."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
