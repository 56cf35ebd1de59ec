"""Files named on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from archivebot.exceptions import UsageError


def named_files(names: Sequence[str]) -> list[Path]:
    """Return the paths of files; raises UsageError if one of them does not exist."""
    for name in names:
        if not Path(name).is_file():
            raise UsageError(f"{name} is no file")
    return list(map(Path, names))


def file_body(path: Path) -> bytes:
    """Return the bytes of a file; raises UsageError if it cannot be read."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
