"""Delivery: sends what waits in the outbox, each alert to each of its outputs."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from archivebot.exceptions import Refused, Undelivered
from archivebot.watch.outbox import Outbox
from archivebot.watch.outputs import Output

_NOT_DUE = "not due yet, or another run is sending it"
_NAMELESS = "it has left the rules file: give an output this name to send them"


@dataclass(slots=True)
class Tally:
    """How many alerts an output took in a run, how many still wait, and why the last one was not taken."""

    sent: int = 0
    waiting: int = 0
    error: str = ""

    def record(self) -> dict[str, Any]:
        """Return the tally as a record."""
        return {"sent": self.sent, "waiting": self.waiting, "error": self.error or None}


def deliver(outbox: Outbox, outputs: Collection[Output], clock: Callable[[], datetime]) -> dict[str, Tally]:
    """Send what is due to each output, and return a tally for each output that has or had something waiting.

    An output that does not answer gets nothing more in this run: the rest is due at the next run. If it
    refuses an alert, the others are sent. One output that fails does not delay another output for longer than
    the limit of its time.
    """
    found: dict[str, Tally] = {}
    for output in outputs:
        tally = _show(outbox, output, clock) if output.shown else _send(outbox, output, clock)
        if tally.sent or tally.error:
            found[output.name] = tally
    names = {output.name for output in outputs}
    for name, numbers in outbox.unsent().items():
        tally = found.setdefault(name, Tally())
        tally.waiting = len(numbers)
        tally.error = tally.error or (_NOT_DUE if name in names else _NAMELESS)
    return found


def _send(outbox: Outbox, output: Output, clock: Callable[[], datetime]) -> Tally:
    tally = Tally()
    while waiting := outbox.claim(output.name, clock(), output.patience):
        try:
            output.send([waiting.alert])
        except Undelivered as error:
            tally.error = str(error)
            outbox.settle(output.name, [waiting.number], tally.error)
            if not isinstance(error, Refused):
                break
        else:
            outbox.settle(output.name, [waiting.number])
            tally.sent += 1
    return tally


def _show(outbox: Outbox, output: Output, clock: Callable[[], datetime]) -> Tally:
    """Bring the last alerts to an output that shows them all; nothing to do if it has all of them."""
    unsent = outbox.unsent().get(output.name, [])
    if not unsent or outbox.claim(output.name, clock(), output.patience) is None:
        return Tally()
    try:
        output.send([each.alert for each in outbox.last(output.name, output.shown)])
    except Undelivered as error:
        outbox.settle(output.name, unsent, str(error))
        return Tally(error=str(error))
    outbox.settle(output.name, unsent)
    return Tally(sent=len(unsent))
