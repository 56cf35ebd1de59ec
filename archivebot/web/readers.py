"""The threads of a server, each with its own reader of the archive."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier, local
from typing import TypeVar

from archivebot.archive import ArchiveReader
from archivebot.exceptions import StorageError

Answer = TypeVar("Answer")

# Python computes in one thread at a time; the others wait for the store. Threads that compute at the same
# time take turns at each step of the store: with 8 clients a replay took 29 ms of CPU in four threads, 16 in
# two and 9 in one. A second thread answers while the first one waits. Each reader caches up to 48 MB.
THREADS = 2


class Readers:
    """Answers questions to an archive in a few threads; ``opened`` opens a reader.

    A thread whose reader met an error of the store opens the archive again for the next question.
    """

    def __init__(self, opened: Callable[[], ArchiveReader], threads: int = THREADS) -> None:
        self._opened = opened
        self._threads = ThreadPoolExecutor(threads, "reader")
        self._own = local()
        self._count = 0

    async def ask(self, question: Callable[[ArchiveReader], Answer]) -> Answer:
        """Return what a question returns of the reader of one thread; raises its errors."""
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, partial(self._answer, question)
        )

    def _answer(self, question: Callable[[ArchiveReader], Answer]) -> Answer:
        reader: ArchiveReader | None = getattr(self._own, "reader", None)
        if reader is None:
            reader = self._own.reader = self._opened()
            self._count += 1
        try:
            return question(reader)
        except StorageError:
            self._close_own()
            raise

    def _close_own(self) -> None:
        self._own.reader.close()
        self._own.reader = None
        self._count -= 1

    def close(self) -> None:
        """Close the readers, each in its thread, and end the threads."""
        together = Barrier(self._count) if self._count else None
        for _ in range(self._count):
            self._threads.submit(self._close_together, together)
        self._threads.shutdown()

    def _close_together(self, together: Barrier | None) -> None:
        if together is not None and getattr(self._own, "reader", None) is not None:
            together.wait(timeout=5)  # or a thread would take the task of another
            self._close_own()
