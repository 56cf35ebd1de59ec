"""Answers that may read the whole archive: computed beside the others, and kept for a while."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from threading import Event
from time import monotonic
from typing import Any, cast

from starlette.exceptions import HTTPException

from archivebot.archive import ArchiveReader
from archivebot.exceptions import Closed, StorageError
from archivebot.models import Position

# Seconds until a client is asked to come again. The answer is computed on.
PATIENCE = 10.0
RETRY_AFTER = "10"

# Answers that are computed or wait to be, and answers that are kept.
MOST_WAITING, MOST_KEPT = 8, 64

# Seconds for which an answer is kept: while the archive does not change, and while it does. A crawl changes
# it every second, so that an answer that takes longer would never come. The second also holds for an answer
# about a crawl, or up to now.
KEPT, KEPT_CHANGING = 3600.0, 60.0

Compute = Callable[[ArchiveReader], Any]
Answer = Coroutine[Any, Any, Any]


@dataclass(slots=True)
class _Kept:
    task: asyncio.Future[Any]
    position: Position
    passing: bool
    ended: float | None = None

    def is_fresh(self, position: Position) -> bool:
        if self.ended is None:
            return True
        is_lasting = self.position == position and not self.passing
        return monotonic() - self.ended < (KEPT if is_lasting else KEPT_CHANGING)


class LongAnswers:
    """Computes answers one at a time in a thread of its own, and beside it those that read no pages.

    ``opened`` opens a reader for each of the two threads.
    """

    def __init__(self, opened: Callable[[], ArchiveReader]) -> None:
        self._ending = Event()
        self._threads = {
            reads_pages: _Thread(lambda: cast(ArchiveReader, _Stoppable(opened(), self._ending)))
            for reads_pages in (True, False)
        }
        self._kept: OrderedDict[object, _Kept] = OrderedDict()

    async def ask(
        self, key: object, position: Position, compute: Compute, *, passing: bool, reads_pages: bool = True
    ) -> Any:
        """Return the answer named by a key, for an archive at a position; raises the errors of ``compute``.

        An answer that is ``passing`` may change while the archive does not. Raises HTTPException with the
        status 503 if it is not known after PATIENCE seconds, or if too many others wait.
        """
        kept = self._kept.get(key)
        if kept is None or not kept.is_fresh(position):
            ask = partial(self._threads[reads_pages].ask, compute)
            kept = self._begun(key, position, ask, passing)
        await asyncio.wait([kept.task], timeout=PATIENCE)
        if not kept.task.done():
            raise HTTPException(
                503,
                f"the answer takes longer than {PATIENCE:.0f} seconds and is computed on: ask again later",
                {"Retry-After": RETRY_AFTER},
            )
        return kept.task.result()

    def _begun(self, key: object, position: Position, ask: Callable[[], Answer], passing: bool) -> _Kept:
        if sum(each.ended is None for each in self._kept.values()) >= MOST_WAITING:
            raise HTTPException(
                503, "too many long answers are being computed: ask again later", {"Retry-After": RETRY_AFTER}
            )
        kept = _Kept(asyncio.ensure_future(ask()), position, passing)
        kept.task.add_done_callback(partial(self._end, key, kept))
        self._kept[key] = kept
        self._kept.move_to_end(key)
        for name in [name for name, each in self._kept.items() if each.ended is not None][:-MOST_KEPT]:
            del self._kept[name]
        return kept

    def _end(self, key: object, kept: _Kept, task: asyncio.Future[Any]) -> None:
        kept.ended = monotonic()
        if (task.cancelled() or task.exception() is not None) and self._kept.get(key) is kept:
            del self._kept[key]

    def close(self) -> None:
        """End the answers that are computed at their next step, and the threads."""
        self._ending.set()
        for thread in self._threads.values():
            thread.close()


class _Thread:
    """A thread with its own reader, which is opened again after an error of the store."""

    def __init__(self, opened: Callable[[], ArchiveReader]) -> None:
        self._opened = opened
        self._pool = ThreadPoolExecutor(1, "long")
        self._reader: ArchiveReader | None = None

    async def ask(self, compute: Compute) -> Any:
        """Return what a question returns; raises its errors."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._answer, compute)

    def _answer(self, compute: Compute) -> Any:
        if self._reader is None:
            self._reader = self._opened()
        try:
            return compute(self._reader)
        except StorageError:
            self._close()
            raise

    def _close(self) -> None:
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def close(self) -> None:
        """Close the reader and end the thread."""
        self._pool.submit(self._close)
        self._pool.shutdown()


class _Stoppable:
    """A reader of an archive that raises Closed at the next call once an event is set."""

    def __init__(self, reader: ArchiveReader, ending: Event) -> None:
        self._reader, self._ending = reader, ending

    def __getattr__(self, name: str) -> Any:
        if self._ending.is_set() and name != "close":
            raise Closed("the server ends")
        return getattr(self._reader, name)
