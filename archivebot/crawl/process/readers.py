"""The processes that cut the pages of a crawl."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from typing import Any

from archivebot.config import ArchiveConfig
from archivebot.crawl.process.worker import Crashed, Worker
from archivebot.exceptions import StorageError

# Processes that may die of a call that they had for themselves alone: one may have been killed from outside,
# or have died for want of memory, by whatever others did.
CRASHES = 2

# Processes in a row that may die while they open the archive, before a call is given up.
OPENINGS = 5

# Pages of which it is remembered which process read them last.
REMEMBERED = 1000

CLOSED = "the archive of this crawl is closed"


# Bytes that a process may take beside the hundred megabytes it begins with, so that no page makes it larger
# than 600 MB. The largest real page takes 340 MB.
MOST_MEMORY = 440 * 1024 * 1024


class Readers:
    """So many processes that read an archive; the one with the least to do is asked next.

    The archive has to be there when the first is asked. A process that dies, be it of a page that no
    parser stands, is replaced by another, and what it had not answered is asked again. The call that it
    was at is asked alone, in a process of its own: whoever kills all the readers does not make all their
    pages suspect.
    """

    def __init__(self, config: ArchiveConfig, count: int, patience: float | None = None) -> None:
        self._config, self._patience = config, patience
        self._readers = [_Reader(config, patience) for _ in range(count)]
        self._alone: _Reader | None = None
        self._last: OrderedDict[str, _Reader] = OrderedDict()
        self._suspects = asyncio.Semaphore(1)

    def __len__(self) -> int:
        return len(self._readers)

    async def run(self, call: object, url: str = "") -> Any:
        """Return the answer to a call; of calls about one page, by its URL, the process that has it parsed.

        Raises the error of the call, :class:`~archivebot.crawl.process.worker.Crashed` if processes died of
        it that had nothing else to do, StorageError if the archive cannot be opened.
        """
        openings = 0
        while self._readers:
            reader = self._chosen(url)
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
                    if reader.is_open:
                        return await self._run_alone(call)
                    openings += 1
                if openings == OPENINGS:
                    raise StorageError(*error.args) from error
        raise StorageError(CLOSED)

    async def _run_alone(self, call: object) -> Any:
        """Return the answer to a call of which a process may have died, from processes with nothing else."""
        async with self._suspects:
            crashes = openings = 0
            while self._readers:
                reader = self._alone = _Reader(self._config, self._patience)
                try:
                    await reader.open()
                    return await reader.worker.run(call)
                except Crashed as error:
                    crashes += reader.is_open
                    openings += not reader.is_open
                    if crashes == CRASHES and self._readers:
                        raise
                    if openings == OPENINGS:
                        raise StorageError(*error.args) from error
                finally:
                    self._alone = None
                    reader.worker.close()
        raise StorageError(CLOSED)

    def _chosen(self, url: str) -> _Reader:
        """Return the process that read a page last, else the one with the least to do."""
        if len(self._readers) == 1 or not url:
            return min(self._readers, key=lambda each: each.load)
        last = self._last.pop(url, None)
        chosen = last if last in self._readers else min(self._readers, key=lambda each: each.load)
        self._last[url] = chosen
        if len(self._last) > REMEMBERED:
            self._last.popitem(last=False)
        return chosen

    def close(self) -> None:
        """End the processes."""
        readers = self._taken()
        for reader in readers:
            reader.worker.hang_up()
        for reader in readers:
            reader.worker.close()

    def give_up(self) -> None:
        """End the processes at once, whatever they do."""
        for reader in self._taken():
            reader.worker.kill("was not done in time")
            reader.worker.close()

    def _taken(self) -> list[_Reader]:
        """Return all processes, and be closed from now on."""
        readers, self._readers = [*self._readers, *filter(None, [self._alone])], []
        return readers

    def _replace(self, dead: _Reader) -> None:
        """Start another process, unless somebody has."""
        if dead in self._readers:
            dead.worker.close()
            self._readers[self._readers.index(dead)] = _Reader(self._config, self._patience)


class _Reader:
    """One process, which opens the archive when it is needed."""

    def __init__(self, config: ArchiveConfig, patience: float | None) -> None:
        try:
            self.worker = Worker("archivebot.crawl.process.archivist", patience)
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
