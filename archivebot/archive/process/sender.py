"""Sends calls to a process while the sending process does other work."""

from __future__ import annotations

import socket
from contextlib import suppress
from queue import Queue
from threading import Thread

# Seconds for the thread to end once the socket is shut down.
LAST = 2.0


class Sender:
    """Sends data over a blocking socket without waiting.

    A socket takes 200 kB at once, and a page may have more. What is left is sent by a thread: while a page is
    stored nothing else could, and the process that reads pages would have nothing to do.
    """

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._left: Queue[memoryview | None] = Queue()
        self._thread: Thread | None = None

    @property
    def waits(self) -> bool:
        """Whether data is left that the socket has not taken."""
        return self._left.unfinished_tasks > 0

    def send(self, data: bytes) -> None:
        """Send data after all earlier data; if the other side has closed the socket, nothing is sent."""
        sent = 0
        if not self.waits:
            try:
                sent = self._line.send(data, socket.MSG_DONTWAIT)
            except BlockingIOError:
                pass
            except OSError:  # reading reports it
                return
        if sent == len(data):
            return
        self._left.put(memoryview(data)[sent:])
        if self._thread is None:
            self._thread = Thread(target=self._send_rest, name="archivebot-sender", daemon=True)
            self._thread.start()

    def close(self) -> None:
        """Close the socket, and drop what was not sent."""
        if self._thread:
            with suppress(OSError):
                self._line.shutdown(socket.SHUT_RDWR)  # the thread may be waiting for room
            self._left.put(None)
            self._thread.join(LAST)
        self._line.close()

    def _send_rest(self) -> None:
        while (data := self._left.get()) is not None:
            with suppress(OSError):  # reading reports it
                self._line.sendall(data)
            del data
            self._left.task_done()
