"""The archive in one database of a MongoDB server, opened read-only."""

from __future__ import annotations

from archivebot.config import without_password
from archivebot.storage.base import outdated, read_only
from archivebot.storage.mongo.database import SCHEMA
from archivebot.storage.mongo.store import MongoStore


class MongoReader(MongoStore):
    """Reads an archive in a database while other processes may write to it.

    Any thread may use an instance. Raises NotArchived if there is no archive, Outdated if its schema is older
    than the schema of this version, and StorageError if it is newer or no server answers.
    """

    def __init__(self, uri: str) -> None:
        super().__init__(uri, create=False)

    def _prepare(self, create: bool) -> None:
        schema = self._schema(create)
        if schema < SCHEMA:
            raise outdated(without_password(self.uri), schema)
        self._identity = self.position().archive

    def _writing(self) -> None:
        raise read_only(without_password(self.uri))
