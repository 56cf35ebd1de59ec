"""The second signal ends a program, also one that is about to end by itself."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

# Its main thread ends at the second signal, and leaves no other thread a turn before that.
ENDING = """
import signal, sys
from archivebot import interrupt
interrupt.watch()
signal.alarm(30)  # if it is not told to end
seen = []
signal.signal(signal.SIGTERM, lambda *_: seen.append(0))
sys.setswitchinterval(60)
print("ready", flush=True)
while len(seen) < {signals}:
    pass
"""


@pytest.mark.parametrize(("signals", "code"), [(1, 0), (2, 128 + signal.SIGTERM)])
def test_a_signal_that_the_main_thread_acts_on_first_is_counted(signals: int, code: int) -> None:
    command = [sys.executable, "-c", ENDING.format(signals=signals)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as program:
        assert program.stdout is not None
        assert program.stdout.readline() == b"ready\n"
        for _ in range(signals):
            program.send_signal(signal.SIGTERM)
            time.sleep(0.2)
        assert program.wait(20) == code
