"""Ends a program and the processes that it started at the second SIGINT or SIGTERM."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import threading
from contextlib import suppress

ASKING = (signal.SIGINT, signal.SIGTERM)
INTERRUPTED = 128 + signal.SIGINT  # the exit code that a shell reports for a program ended by SIGINT

# Written to the thread that counts signals when the program ends by itself; no signal has this number.
OVER = b"\0"

# Maximum seconds that the end of a program waits for the thread.
LAST = 1.0

# The processes to be killed with this one.
children: set[subprocess.Popen[bytes]] = set()


def watch() -> None:
    """End this process at the second signal from now on, whatever it is waiting for.

    A signal handler in Python runs between two steps of the main thread, and a handler of an event loop even
    later: a call into SQLite or a blocked loop delays both. A separate thread needs neither. Outside the main
    thread nothing is watched, because the signals belong to the program that started the thread.
    """
    if threading.current_thread() is not threading.main_thread():
        return
    line, wake = os.pipe()
    os.set_blocking(wake, False)
    before = signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    thread = threading.Thread(target=_listen, args=(line, before), name="signals", daemon=True)
    thread.start()
    # The main thread may act on a second signal, and end, before the thread has a turn.
    atexit.register(_finish, wake, thread)


def _listen(line: int, before: int) -> None:
    """Count the signals that arrive, and pass them on to the previous wakeup descriptor."""
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
        if OVER in numbers:
            return


def _finish(wake: int, thread: threading.Thread) -> None:
    """Let the thread count the signals that have arrived."""
    with suppress(OSError):
        os.write(wake, OVER)
    thread.join(LAST)


def end_children() -> None:
    """Kill the processes that this one started."""
    for process in tuple(children):
        process.kill()
