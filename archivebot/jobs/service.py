"""A service: rounds of one command, until a signal asks for its end."""

from __future__ import annotations

import os
import select
import signal
import subprocess
from collections.abc import Callable, Sequence
from types import FrameType

from archivebot import interrupt


class Service:
    """Runs a command again and again, each time as a process of its own, and waits between the rounds.

    The first SIGINT or SIGTERM is passed on to the process of the round, which ends in order; the service
    ends with it. :func:`archivebot.interrupt.watch` ends both at the second signal. The process of a round
    has a process group of its own, so that a terminal does not send it the same signal once more.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self.command = command
        self.stopping = False
        self._round: subprocess.Popen[bytes] | None = None
        self._woken, self._wake = os.pipe()

    def run(self, pause: Callable[[int], float | None]) -> int:
        """Run rounds until a signal, or until ``pause`` returns None; return the exit code of the last.

        ``pause`` returns the seconds to wait after a round with an exit code.
        """
        before = {number: signal.signal(number, self._stop) for number in interrupt.ASKING}
        try:
            while True:
                code = self._once()
                wait = None if self.stopping else pause(code)
                if wait is None or select.select([self._woken], [], [], wait)[0]:
                    return code
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(self._woken)
            os.close(self._wake)

    def _once(self) -> int:
        self._round = subprocess.Popen(self.command, process_group=0, stdin=subprocess.DEVNULL)
        interrupt.children.add(self._round)
        try:
            if self.stopping:  # the signal came before the process was known
                self._round.terminate()
            return self._round.wait()
        finally:
            interrupt.children.discard(self._round)
            self._round = None

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self.stopping = True
        os.write(self._wake, b"\0")
        if self._round is not None:
            self._round.send_signal(number)
