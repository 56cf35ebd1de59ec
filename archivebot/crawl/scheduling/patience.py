"""The time that a crawl waits for an unavailable frontier."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TypeVar

from archivebot.exceptions import StorageError

T = TypeVar("T")

logger = logging.getLogger(__name__)

# Seconds until an unavailable frontier is retried. A retry may take seconds, in which all other work stands
# still; the pause leaves time for it.
PAUSE = 1.0


class Patience:
    """Calls a frontier, and waits up to ``seconds`` in total while it is unavailable.

    ``again`` is called if the frontier is unavailable, to retry after PAUSE, and ``over`` when time is up.
    """

    def __init__(
        self, seconds: float, again: Callable[[], None], over: Callable[[StorageError], None]
    ) -> None:
        self.seconds = seconds
        self.is_over = False
        self._again, self._over = again, over
        self._since: float | None = None  # the time of the first call without an answer
        self._next = 0.0

    @property
    def is_waiting(self) -> bool:
        """Whether the frontier is unavailable."""
        return self._since is not None

    def ask(self, question: Callable[[], T], *, proof: bool = False, last: bool = False) -> T | None:
        """Return the answer, or None if the frontier is unavailable.

        An answer to a ``proof`` shows that the frontier is available again. Other answers do not: on a full
        disk reads and small writes may still succeed. The ``last`` call is made without a pause.
        """
        clock = asyncio.get_running_loop()
        now = clock.time()
        if self.is_over or (self.is_waiting and now < self._next and not last):
            return None
        try:
            answer = question()
        except StorageError as error:
            if self._since is None:
                logger.warning("The frontier is unavailable, the crawl waits for it: %s", error)
                self._since = now
            self._next = clock.time() + PAUSE
            if clock.time() - self._since > self.seconds:
                self.is_over = True
                self._over(error)
            elif not last:
                self._again()
            return None
        if proof:
            self._since = None
        return answer

    async def insist(self, question: Callable[[], T], most: float) -> T:
        """Return the answer; raises StorageError if there is none within ``most`` seconds."""
        clock = asyncio.get_running_loop()
        until = clock.time() + min(self.seconds, most)
        while True:
            try:
                return question()
            except StorageError:
                if clock.time() > until:
                    raise
            await asyncio.sleep(PAUSE)
