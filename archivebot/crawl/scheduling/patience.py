"""How long a crawl waits for a frontier that is away."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import TypeVar

from archivebot.exceptions import StorageError

T = TypeVar("T")

logger = logging.getLogger(__name__)

# Seconds until a frontier that is away is asked again. A question may take seconds then, in which all else
# stands still: between two of them there is time for all else.
PAUSE = 1.0


class Patience:
    """Ask a frontier, and wait for it ``seconds`` if it is away; then it is asked no more.

    ``again`` is called when it is away, to come back after PAUSE, and ``over`` when patience ends.
    """

    def __init__(
        self, seconds: float, again: Callable[[], None], over: Callable[[StorageError], None]
    ) -> None:
        self.seconds = seconds
        self.is_over = False
        self._again, self._over = again, over
        self._since: float | None = None  # when the first question was asked that had no answer
        self._next = 0.0

    @property
    def is_waiting(self) -> bool:
        """Whether the frontier is away."""
        return self._since is not None

    def ask(self, question: Callable[[], T], *, proof: bool = False, last: bool = False) -> T | None:
        """Return the answer, None if the frontier is away.

        An answer that is a ``proof`` shows that it is back: on a full disk it can be read, and small changes
        may be written that fit where others were. The ``last`` question is asked without a pause.
        """
        clock = asyncio.get_running_loop()
        now = clock.time()
        if self.is_over or (self.is_waiting and now < self._next and not last):
            return None
        try:
            answer = question()
        except StorageError as error:
            if self._since is None:
                logger.warning("The frontier is away, the crawl waits for it: %s", error)
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
