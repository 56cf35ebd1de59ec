"""An output: a place where alerts are sent."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer
from typing import Protocol

from archivebot.watch.alert import Alert


class Output(Protocol):
    """A named place where alerts are sent, and the maximum number of seconds that it takes."""

    @property
    def name(self) -> str:
        """The name that rules call it by."""
        ...

    @property
    def patience(self) -> float:
        """Seconds after which sending an alert has ended, well or not."""
        ...

    @property
    def shown(self) -> int:
        """How many of the last alerts the output always shows together, 0 if each is sent on its own."""
        ...

    def send(self, alerts: list[Alert]) -> None:
        """Send an alert, or show the last alerts, newest first.

        Raises Undelivered if the receiver does not answer, and Refused if it refuses this alert.
        """
        ...


@contextmanager
def deadline(seconds: float, connection: Callable[[], socket.socket | None]) -> Iterator[None]:
    """Shut down a connection after some seconds: a timeout of the socket is only one of each read.

    A receiver that sends a byte now and then would hold a run for ever.
    """

    def end() -> None:
        line = connection()
        if line is not None:
            try:
                line.shutdown(socket.SHUT_RDWR)
            except OSError:  # it is closed
                return

    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
