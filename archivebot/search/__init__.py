"""The index of the words of all blocks through time, in a SQLite file beside the archive."""

from __future__ import annotations

from pathlib import Path

from archivebot.config import ArchiveConfig, SearchConfig, whole_uri
from archivebot.exceptions import UsageError

__all__ = ["index_path"]


def index_path(archive: ArchiveConfig, search: SearchConfig) -> str:
    """Return the path of the index: the configured one, or one beside the file of the archive.

    The index of an archive on a server is in the working directory. Raises UsageError if the setting names no
    file.

    >>> index_path(ArchiveConfig(uri="sqlite:///pages/archive.db"), SearchConfig())
    'pages/archive.search.db'
    >>> index_path(ArchiveConfig(uri="mongodb://localhost/archive"), SearchConfig())
    'archive.search.db'
    >>> index_path(ArchiveConfig(), SearchConfig(search_index="sqlite:////srv/words.db"))
    '/srv/words.db'
    """
    if search.search_index:
        scheme, _, path = search.search_index.partition(":///")
        if scheme != "sqlite" or not path:
            raise UsageError(
                f"ARCHIVE_SEARCH_INDEX is {search.search_index!r}: write sqlite:///archive.search.db"
            )
        if whole_uri(search.search_index) == whole_uri(archive.uri):
            raise UsageError("ARCHIVE_SEARCH_INDEX names the archive itself: name another file")
        return path
    scheme, _, path = archive.uri.partition(":///")
    return str(Path(path).with_suffix(".search.db")) if scheme == "sqlite" else "archive.search.db"
