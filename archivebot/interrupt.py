"""The second SIGINT or SIGTERM: it ends a program at once, with the processes that it started."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from contextlib import suppress

ASKING = (signal.SIGINT, signal.SIGTERM)

# The processes that end with this one.
children: set[subprocess.Popen[bytes]] = set()


def watch() -> None:
    """Let the second signal from now on end this process, whatever it is waiting for.

    A handler in Python runs between two steps of the main thread, and an event loop later still: a call into
    SQLite or a blocked loop holds up both. Here a thread is woken, which needs neither. Outside of the
    main thread of a program nothing is watched: who started that has its signals.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    line, wake = os.pipe()
    os.set_blocking(wake, False)
    before = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    threading.Thread(target=_listen, args=(line, before), name="signals", daemon=True).start()


def _listen(line: int, before: int) -> None:
    """Count the signals that arrive, and pass them on to whoever was woken before."""
    asked = 0
    while numbers := os.read(line, 64):
        if before != -1:
            with suppress(OSError):
                os.write(before, numbers)
        for number in numbers:
            asked += number in ASKING
            if asked == 2:
                end_children()
                os._exit(128 + number)


def end_children() -> None:
    """Kill the processes that this one started, whatever they do."""
    for process in tuple(children):
        process.kill()
