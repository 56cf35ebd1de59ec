"""The processes that read pages while another process stores them."""

from __future__ import annotations

import asyncio
import os
from collections import OrderedDict
from contextlib import suppress
from typing import Any, Self

from archivebot.archive.process.worker import Crashed, Late, Worker
from archivebot.config import ArchiveConfig
from archivebot.exceptions import StorageError

# Maximum of processes that may die during one call that they execute alone: a single one may have been killed
# from outside, or have died because other processes used up the memory. One that is late is enough.
CRASHES = 2

# Maximum of processes in a row that may die while opening the archive, before a call is given up.
OPENINGS = 5

# Maximum seconds for a process to start and open the archive, unless the patience is longer.
OPENING = 60.0

# Calls that wait for each process when another one is started. A crawl of a few pages needs no more than one,
# and its start takes as long as reading thirty pages.
BUSY = 2

# Maximum of pages for which the last process that read them is remembered.
REMEMBERED = 1000

CLOSED = "the archive of this crawl is closed"


# Maximum bytes that a process may use beside its initial hundred megabytes, so that no page makes it larger
# than 600 MB. The largest real page takes 340 MB.
MOST_MEMORY = 440 * 1024 * 1024


class Readers:
    """A pool of processes that read an archive; the process with the fewest open calls gets the next.

    One of ``count`` processes starts at once, another whenever :data:`BUSY` calls wait for each of them.
    The archive must exist before the first call. If a process dies, for example because a page crashes the
    parser, it is replaced and its unanswered calls are repeated. The call that it was executing is repeated
    alone, in a separate process: so if all readers are killed from outside, their pages are not given up.
    """

    def __init__(self, config: ArchiveConfig, count: int, patience: float | None = None) -> None:
        self._config, self._patience, self._count = config, patience, count
        self._readers = [_Reader(config, patience)]
        self._alone: _Reader | None = None
        self._last: OrderedDict[str, _Reader] = OrderedDict()
        self._suspects = asyncio.Semaphore(1)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: object, *_: object) -> None:
        """End the processes: after an error at once, because nobody waits for their answers."""
        self.give_up() if error else self.close()

    def __len__(self) -> int:
        return self._count

    async def run(self, call: object, url: str = "") -> Any:
        """Return the answer to a call; ``url`` selects the process that has the page parsed.

        Raises the error of the call, :class:`~archivebot.archive.process.worker.Crashed` if processes died of
        it that executed only this call, and StorageError if the archive cannot be opened.
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
                    raise  # the error of the archive itself
                self._replace(reader)
                if crashed:
                    if reader.is_open:
                        return await self._run_alone(call)
                    openings += 1
                if openings == OPENINGS:
                    raise StorageError(*error.args) from error
        raise StorageError(CLOSED)

    async def _run_alone(self, call: object) -> Any:
        """Return the answer to a call that may have killed a process, from a process that does only this."""
        async with self._suspects:
            crashes = openings = 0
            while self._readers:
                reader = self._alone = _Reader(self._config, self._patience)
                try:
                    await reader.open()
                    return await reader.worker.run(call)
                except Crashed as error:
                    if reader.is_open:
                        crashes += CRASHES if isinstance(error, Late) else 1
                    else:
                        openings += 1
                    if crashes >= CRASHES and self._readers:
                        raise
                    if openings == OPENINGS:
                        raise StorageError(*error.args) from error
                finally:
                    self._alone = None
                    reader.worker.close()
        raise StorageError(CLOSED)

    async def prepare(self, call: object) -> None:
        """Open the archive in all processes and execute a call there; errors are left to the next call.

        Raises StorageError if a process cannot be started.
        """
        while 0 < len(self._readers) < self._count:
            self._readers.append(_Reader(self._config, self._patience))
        calls = (self.run(call) for _ in self._readers)
        await asyncio.gather(*calls, return_exceptions=True)

    def _chosen(self, url: str) -> _Reader:
        """Return the process that read a page last, else the process with the fewest open calls.

        If several have as few, it is the process with the fewest calls so far.
        """
        last = self._last.pop(url, None)
        idlest = min(self._readers, key=lambda each: (each.load, each.calls))
        if idlest.worker.waiting >= BUSY and len(self._readers) < self._count:
            with suppress(StorageError):  # the others go on
                idlest = _Reader(self._config, self._patience)
                self._readers.append(idlest)
        chosen = last if last in self._readers else idlest
        chosen.calls += 1
        if not url:
            return chosen
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
        """Kill the processes at once."""
        for reader in self._taken():
            reader.worker.kill("was not done in time")
            reader.worker.close()

    def _taken(self) -> list[_Reader]:
        """Return all processes, and mark this pool as closed."""
        readers, self._readers = [*self._readers, *filter(None, [self._alone])], []
        return readers

    def _replace(self, dead: _Reader) -> None:
        """Replace a dead process, unless that is already done."""
        if dead in self._readers:
            dead.worker.close()
            self._readers[self._readers.index(dead)] = _Reader(self._config, self._patience)


class _Reader:
    """One process of the pool; it opens the archive on its first call."""

    def __init__(self, config: ArchiveConfig, patience: float | None) -> None:
        try:
            self.worker = Worker("archivebot.archive.process.archivist", patience)
        except OSError as error:
            raise StorageError(f"no process can be started to cut pages: {error.strerror}") from error
        self._config = config
        self._longest_opening = max(OPENING, patience or 0.0)
        self.calls = 0  # the number of calls that it was chosen for
        self._opening: asyncio.Task[None] | None = None

    @property
    def load(self) -> int:
        """The number of unanswered calls, plus one if the archive is not open yet."""
        return self.worker.waiting + (not self.is_open)

    @property
    def is_open(self) -> bool:
        opening = self._opening
        return opening is not None and opening.done() and not opening.exception()

    async def open(self) -> None:
        """Open the archive; a process that takes too long is killed. Raises StorageError."""
        if self._opening is None:
            first = (os.getpid(), self._config, MOST_MEMORY)
            self._opening = asyncio.ensure_future(self.worker.run(first))
            late = f"did not open it within {self._longest_opening:g} seconds"
            alarm = asyncio.get_running_loop().call_later(self._longest_opening, self.worker.kill, late)
            self._opening.add_done_callback(lambda _: alarm.cancel())
        await asyncio.shield(self._opening)
