"""The processes that cut the pages of a crawl."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from archivebot.config import ArchiveConfig
from archivebot.crawl.worker import Crashed, Worker
from archivebot.exceptions import StorageError

# Processes that a call may kill: one may have been killed for want of memory, by whatever it did.
CRASHES = 2


class Readers:
    """So many processes that read an archive and write nothing; the one with the least to do is asked next.

    The archive has to be there when the first is asked. A process that dies, be it of a page that no
    parser stands, is replaced by another, and what it had not answered is asked again.
    """

    def __init__(self, config: ArchiveConfig, count: int) -> None:
        self._config = config
        self._readers = [_Reader(config) for _ in range(count)]

    async def run(self, call: object) -> Any:
        """Give the answer to a call.

        Raises the error of the call, :class:`~archivebot.crawl.worker.Crashed` where two processes died
        of it, StorageError where the archive cannot be opened.
        """
        crashes = 0
        while self._readers:
            reader = min(self._readers, key=lambda each: each.worker.waiting)
            if not reader.is_open:
                await reader.open()
                continue
            try:
                return await reader.worker.run(call)
            except StorageError as error:
                crashes += isinstance(error, Crashed)
                if not reader.worker.lost or crashes == CRASHES:
                    raise
                self._replace(reader)
        raise StorageError("the archive of this crawl is closed")

    def close(self) -> None:
        """End the processes."""
        readers, self._readers = self._readers, []
        for reader in readers:
            reader.worker.close()

    def _replace(self, dead: _Reader) -> None:
        """Start another process, unless somebody has."""
        if dead in self._readers:
            dead.worker.close()
            self._readers[self._readers.index(dead)] = _Reader(self._config)


class _Reader:
    """One process, which opens the archive when it is needed."""

    def __init__(self, config: ArchiveConfig) -> None:
        self.worker = Worker("archivebot.crawl.archivist")
        self._config = config
        self._opening: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        return self._opening is not None and self._opening.done() and not self._opening.exception()

    async def open(self) -> None:
        """Open the archive. Raises StorageError."""
        self._opening = self._opening or asyncio.ensure_future(self.worker.run((os.getpid(), self._config)))
        try:
            await asyncio.shield(self._opening)
        except Crashed as error:  # of no page
            raise StorageError(*error.args) from error
