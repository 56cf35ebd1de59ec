"""An output: a place where alerts are sent."""

from __future__ import annotations

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
