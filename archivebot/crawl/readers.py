"""The processes that cut the pages of a crawl."""

from __future__ import annotations

import asyncio
import os
from typing import Any

from archivebot.config import ArchiveConfig
from archivebot.crawl.worker import Crashed, Worker
from archivebot.exceptions import StorageError

# Processes that may die of a call, or while the archive is opened: one may have died for want of memory, by
# whatever it did.
CRASHES = 2


# Bytes that a process may take beside the hundred megabytes it begins with, so that no page makes it larger
# than 600 MB. The largest real page takes 340 MB.
MOST_MEMORY = 440 * 1024 * 1024


class Readers:
    """So many processes that read an archive; the one with the least to do is asked next.

    The archive has to be there when the first is asked. A process that dies, be it of a page that no
    parser stands, is replaced by another, and what it had not answered is asked again.
    """

    def __init__(self, config: ArchiveConfig, count: int) -> None:
        self._config = config
        self._readers = [_Reader(config) for _ in range(count)]

    def __len__(self) -> int:
        return len(self._readers)

    async def run(self, call: object) -> Any:
        """Give the answer to a call.

        Raises the error of the call, :class:`~archivebot.crawl.worker.Crashed` where two processes died
        of it, StorageError where the archive cannot be opened.
        """
        crashes = []
        while self._readers:
            reader = min(self._readers, key=lambda each: each.load)
            try:
                if not reader.is_open:
                    await reader.open()
                    continue
                return await reader.worker.run(call)
            except StorageError as error:
                crashed = isinstance(error, Crashed)
                if not crashed and not (reader.is_open and reader.worker.lost):
                    raise  # it is the archive's
                self._replace(reader)
                if crashed:
                    crashes.append(reader.is_open)
                if len(crashes) == CRASHES:
                    raise error if all(crashes) else StorageError(*error.args) from error
        raise StorageError("the archive of this crawl is closed")

    def close(self) -> None:
        """End the processes."""
        readers, self._readers = self._readers, []
        for reader in readers:
            reader.worker.hang_up()
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
        try:
            self.worker = Worker("archivebot.crawl.archivist")
        except OSError as error:
            raise StorageError(f"no process can be started to cut pages: {error.strerror}") from error
        self._config = config
        self._opening: asyncio.Task[None] | None = None

    @property
    def load(self) -> int:
        """The number of calls without an answer; one that is not open yet has one more."""
        return self.worker.waiting + (not self.is_open)

    @property
    def is_open(self) -> bool:
        opening = self._opening
        return opening is not None and opening.done() and not opening.exception()

    async def open(self) -> None:
        """Open the archive. Raises StorageError."""
        first = (os.getpid(), self._config, MOST_MEMORY)
        self._opening = self._opening or asyncio.ensure_future(self.worker.run(first))
        await asyncio.shield(self._opening)
