"""The store of captures, versions, blocks and frames: one contract, several back ends."""

from __future__ import annotations

from pathlib import Path

from archivebot.storage.base import ArchiveStore, missing

__all__ = ["ArchiveStore", "open_reader", "open_store"]


def open_store(uri: str, create: bool = True) -> ArchiveStore:
    """Open the store that a URI names, and create it if it does not exist yet.

    ``sqlite:///archive.db`` is a file in the working directory, ``sqlite:////srv/archive.db`` one
    by its full path, ``mongodb://host/database`` a database of a MongoDB server.

    Raises StorageError if the store cannot be opened, and NotArchived if the file or the database does
    not exist and ``create`` is false. A URI of another kind is refused by :class:`ArchiveConfig`.
    """
    scheme, _, rest = uri.partition("://")
    if scheme == "sqlite":
        from archivebot.storage.sqlite.store import SQLiteStore

        path = Path(rest[1:])
        if not create and not (path.exists() and path.stat().st_size):
            raise missing(uri)
        return SQLiteStore(rest[1:], create)

    from archivebot.storage.mongo.store import MongoStore

    return MongoStore(uri, create)


def open_reader(uri: str) -> ArchiveStore:
    """Open the store that a URI names read-only: it is not created, upgraded or written to.

    Raises NotArchived if there is none, Outdated if an older archivebot wrote it, and StorageError if a newer
    archivebot wrote it, if it belongs to another program, or if it cannot be read.
    """
    scheme, _, rest = uri.partition("://")
    if scheme == "sqlite":
        from archivebot.storage.sqlite.reader import SQLiteReader

        return SQLiteReader(rest[1:])

    from archivebot.storage.mongo.reader import MongoReader

    return MongoReader(uri)
